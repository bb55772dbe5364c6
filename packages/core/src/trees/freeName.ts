import type { NamingOptions, StorageItem } from '@stowage/plugin-api';
import { candidateNames, Failure, isFailure, joinPath, type StoragePath, type TriedNames } from '@stowage/rules';

/**
 * Runs `place`, which gives an item the wished name in a folder or, where that is taken, the first free one of
 * `otherNames`. There is no check before: another process could take the name between the check and the write. Names
 * that were `tried` for other items of the folder are left out, and those of this one recorded.
 */
export async function withFreeName(
	folder: StoragePath,
	name: string,
	type: 'file' | 'directory',
	place: (path: StoragePath, options: NamingOptions) => Promise<StorageItem>,
	tried?: TriedNames,
): Promise<StorageItem> {
	const tooMany = (cause?: unknown) =>
		new Failure('alreadyExists', `There are too many files named ${name} already.`, { cause });
	const candidates = () => tried?.candidates(name, type) ?? candidateNames(name, type);
	const [first] = candidates();
	if (first === undefined) throw tooMany();
	try {
		const otherNames = { [Symbol.iterator]: () => withoutFirst(candidates()) };
		const item = await place(joinPath(folder, first), { otherNames });
		tried?.record(name, type, item.name);
		return item;
	} catch (error) {
		throw isFailure(error, 'alreadyExists') ? tooMany(error) : error;
	}
}

function withoutFirst<T>(names: Generator<T, void>): Generator<T, void> {
	names.next();
	return names;
}
