import type { StorageProvider } from '@stowage/plugin-api';
import {
	Failure,
	invalidNameMessage,
	isFailure,
	joinPath,
	normalizeName,
	pathSegments,
	rootPath,
	type StoragePath,
} from '@stowage/rules';

/**
 * Makes a folder with the parents it lacks, or none of them. One that is there already is fine, a file in the way is `alreadyExists`. Names in `knownNames`
 * may be given though the rule for names forbids them: what is brought has them already. Resolves to those that were made, outermost first.
 */
export async function ensureFolder(
	storage: StorageProvider,
	path: StoragePath,
	knownNames: readonly string[] = [],
): Promise<StoragePath[]> {
	const made: StoragePath[] = [];
	let folder = rootPath;
	try {
		for (const segment of pathSegments(path)) {
			folder = joinPath(folder, segment);
			if (await makeUnlessThere(storage, folder, segment, knownNames)) made.push(folder);
		}
		return made;
	} catch (error) {
		await takeBackFolders(storage, made);
		throw error;
	}
}

async function makeUnlessThere(
	storage: StorageProvider,
	folder: StoragePath,
	name: string,
	knownNames: readonly string[],
): Promise<boolean> {
	try {
		// What is there may have any name; what is made now is given its name.
		if (!knownNames.includes(name) && normalizeName(name) !== name)
			throw new Failure('invalidName', invalidNameMessage);
		await storage.makeDirectory(folder);
		return true;
	} catch (error) {
		if (!isFailure(error, 'alreadyExists') && !isFailure(error, 'invalidName')) throw error;
		if (!(await isFolder(storage, folder))) throw error;
		return false;
	}
}

/** Removes folders that were made for something that did not come, unless somebody uses them by now. */
export async function takeBackFolders(storage: StorageProvider, folders: readonly StoragePath[]): Promise<void> {
	for (const folder of folders.toReversed()) {
		try {
			await storage.removeEmptyFolder(folder);
		} catch (error) {
			// Those above it hold this one. An empty folder that stays is no reason to hide why it was not needed.
			if (isFailure(error)) return;
			throw error;
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
