import type { StorageProvider } from '@stowage/plugin-api';
import {
	Failure,
	invalidNameMessage,
	isFailure,
	joinPath,
	normalizeName,
	parentPath,
	pathSegments,
	rootPath,
	type StoragePath,
} from '@stowage/rules';

/** Makes a folder with the parents it lacks. One that is there already is fine, a file in the way is `alreadyExists`. */
export async function ensureFolder(
	storage: StorageProvider,
	path: StoragePath,
	knownNames: readonly string[] = [],
): Promise<void> {
	let folder = rootPath;
	for (const segment of pathSegments(path)) {
		folder = joinPath(folder, segment);
		try {
			// What is there may have any name; what is made now is given its name.
			if (!knownNames.includes(segment) && normalizeName(segment) !== segment)
				throw new Failure('invalidName', invalidNameMessage);
			await storage.makeDirectory(folder);
		} catch (error) {
			if (!isFailure(error, 'alreadyExists') && !isFailure(error, 'invalidName')) throw error;
			if (!(await isFolder(storage, folder))) throw error;
		}
	}
}

async function isFolder(storage: StorageProvider, path: StoragePath): Promise<boolean> {
	try {
		return (await storage.stat(path)).type === 'directory';
	} catch (error) {
		if (isFailure(error, 'notFound')) return false;
		throw error;
	}
}

export function ensureParent(
	storage: StorageProvider,
	path: StoragePath,
	knownNames: readonly string[],
): Promise<void> {
	return ensureFolder(storage, parentPath(path), knownNames);
}
