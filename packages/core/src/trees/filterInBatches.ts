import { batchesOf } from '@stowage/rules';

/** Items that are looked up together. */
const lookedUpAtOnce = 16;

/** The items that are there, several of which are looked up at once. */
export async function filterInBatches<T>(all: readonly T[], isThere: (each: T) => Promise<boolean>): Promise<T[]> {
	const there: T[] = [];
	for (const part of batchesOf(all, lookedUpAtOnce)) {
		const found = await Promise.all(part.map(isThere));
		there.push(...part.filter((_, n) => found[n]));
	}
	return there;
}
