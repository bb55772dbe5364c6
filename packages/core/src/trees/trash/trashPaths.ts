import { trashFolder } from '@stowage/plugin-api';
import { isWithin, joinPath, parsePath, type StoragePath } from '@stowage/rules';

/** Where an item of the trash is in the storage of its root. */
export function trashedPath(id: string): StoragePath {
	return joinPath(trashFolder, id);
}

/** Where deleted items are that no row knows yet: their names say what the rows will say. */
export const unrecordedFolder = joinPath(trashFolder, 'arriving');

/** A folder that no home has: names with a colon are not given. */
const trashedLinks = parsePath(':trash');

/**
 * The path, in the home, of links to an item while it is in the trash: they find nothing there, and are moved with it
 * when it is restored.
 */
export function trashedLinkPath(id: string): StoragePath {
	return joinPath(trashedLinks, id);
}

/** Bytes of long paths for which the reserve may be touched by what goes to the trash, which can be what makes room, or is put back. */
export const trashedBytes = 1024 * 1024;

/** Whether the path of a link says that its item is in the trash. */
export function isTrashedLink(path: StoragePath): boolean {
	return isWithin(path, trashedLinks);
}
