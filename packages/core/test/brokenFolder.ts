import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, isWithin, type StoragePath } from '@stowage/rules';

/**
 * Makes the disk answer EIO, as Stowage understands it, for what `isBroken` says of the paths of a storage, until the returned function
 * is called.
 */
export function breakFolders(storage: StorageProvider, isBroken: (path: StoragePath) => boolean): () => void {
	const { list, stat, count } = storage;
	const check = (path: StoragePath) => {
		if (isBroken(path)) throw new Failure('unavailable', 'The storage does not answer as it should.');
	};
	Object.assign(storage, {
		async *list(path: StoragePath) {
			check(path);
			yield* list.call(storage, path);
		},
		async stat(path: StoragePath) {
			check(path);
			return await stat.call(storage, path);
		},
		async count(path: StoragePath) {
			check(path);
			return await count.call(storage, path);
		},
	});
	return () => Object.assign(storage, { list, stat, count });
}

/** All below a folder, as on a disk of its own that is away. */
export const below = (folder: string) => (path: StoragePath) => isWithin(path, folder as StoragePath);
