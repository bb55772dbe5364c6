import type { NamingOptions, StorageItem } from '@stowage/plugin-api';
import { candidateNames, Failure, isFailure, joinPath, type StoragePath } from '@stowage/rules';

/**
 * Runs `place`, which gives an item the wished name in a folder or, where that is taken, the first free one of
 * `otherNames`. There is no check before: another process could take the name between the check and the write. The
 * first `skipped` names are known to be taken.
 */
export async function withFreeName(
	folder: StoragePath,
	name: string,
	type: 'file' | 'directory',
	place: (path: StoragePath, options: NamingOptions) => Promise<StorageItem>,
	skipped = 0,
): Promise<StorageItem> {
	const tooMany = (cause?: unknown) =>
		new Failure('alreadyExists', `There are too many files named ${name} already.`, { cause });
	const [first] = candidateNames(name, type, skipped);
	if (first === undefined) throw tooMany();
	try {
		const otherNames = { [Symbol.iterator]: () => candidateNames(name, type, skipped + 1) };
		return await place(joinPath(folder, first), { otherNames });
	} catch (error) {
		throw isFailure(error, 'alreadyExists') ? tooMany(error) : error;
	}
}

/** How many names were tried for files of one form: those before are taken, mostly by the form itself. */
export class TriedNames {
	readonly #counts = new Map<string, number>();

	count(name: string): number {
		return this.#counts.get(name) ?? 0;
	}

	/** Records which name a file got instead of the wished one. */
	record(wished: string, name: string): void {
		let count = this.count(wished);
		for (const candidate of candidateNames(wished, 'file', count)) {
			count++;
			if (candidate === name) break;
		}
		this.#counts.set(wished, count);
	}
}
