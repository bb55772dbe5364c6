/** Items that are looked up together. */
const lookedUpAtOnce = 16;

/** The items that are there, several of which are looked up at once. */
export async function filterInBatches<T>(all: readonly T[], isThere: (each: T) => Promise<boolean>): Promise<T[]> {
	const there: T[] = [];
	for (const part of batches(all, lookedUpAtOnce)) {
		const found = await Promise.all(part.map(isThere));
		there.push(...part.filter((_, n) => found[n]));
	}
	return there;
}

/** The items in batches of at most so many. */
export function* batches<T>(all: readonly T[], size: number): Generator<T[]> {
	for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}
