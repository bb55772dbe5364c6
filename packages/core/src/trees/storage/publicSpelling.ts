import type { StorageProvider } from '@stowage/plugin-api';
import {
	anonymousOwner,
	Failure,
	foldedName,
	pathSegments,
	publicFolderName,
	publicRoot,
	type StoragePath,
	undefinedIf,
} from '@stowage/rules';
import { homesFolder } from './Mounts.js';

const foldedPublic = foldedName(publicFolderName);

/** Whether a path leads to or through an item of a home that is named like its public tree, and not exactly so. */
export function isLikePublic(path: StoragePath): boolean {
	const [first, home, name] = pathSegments(path);
	if (name === undefined || name === publicFolderName || first !== homesFolder || home === anonymousOwner) return false;
	return foldedName(name) === foldedPublic;
}

/**
 * Throws `notFound` for a path that leads into the public tree of a home by another name than `Public`, as `public` does on a disk that
 * ignores case: to the rules it would be private. Where that is a folder of its own, it is one like any.
 */
export async function assertNotPublic(storage: Pick<StorageProvider, 'stat'>, path: StoragePath): Promise<void> {
	// No other path costs a stat.
	if (!isLikePublic(path)) return;
	const [, home = '', name] = pathSegments(path);
	const named = await undefinedIf(storage.stat(`${homesFolder}/${home}/${name}` as StoragePath), 'notFound');
	if (named === undefined) return;
	const shared = await undefinedIf(storage.stat(publicRoot(home)), 'notFound');
	if (named.id === shared?.id) throw new Failure('notFound', `No such file or folder: ${name}`);
}
