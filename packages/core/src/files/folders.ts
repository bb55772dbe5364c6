import type { StorageProvider } from '@stowage/plugin-api';
import { isFailure, joinPath, parentPath, pathSegments, rootPath, type StoragePath } from '@stowage/rules';

/** Makes a folder with the parents it lacks. One that is there already is fine, a file in the way is `alreadyExists`. */
export async function ensureFolder(storage: StorageProvider, path: StoragePath): Promise<void> {
	let folder = rootPath;
	for (const segment of pathSegments(path)) {
		folder = joinPath(folder, segment);
		try {
			await storage.makeDirectory(folder);
		} catch (error) {
			if (!isFailure(error, 'alreadyExists')) throw error;
			if ((await storage.stat(folder)).type !== 'directory') throw error;
		}
	}
}

export function ensureParent(storage: StorageProvider, path: StoragePath): Promise<void> {
	return ensureFolder(storage, parentPath(path));
}
