import { homeOf, type StaleMark } from '@stowage/database';
import { isWithin, parentPath, type StoragePath } from '@stowage/rules';

/** What is not known any more of a root. */
export interface RootMark extends StaleMark {
	rootId: string;
}

export const rowsOf = (path: StoragePath): StaleMark => ({ kind: 'rows', path });
export const treeAt = (path: StoragePath): StaleMark => ({ kind: 'tree', path });

/** The rows of the folder that an item is in. */
export const rowsAround = (path: StoragePath): StaleMark => rowsOf(parentPath(path));

/** Whether a mark says anything about a folder or what is below it. */
export function concerns({ kind, path }: StaleMark, folder: StoragePath): boolean {
	return isWithin(path, folder) || (kind === 'tree' && isWithin(folder, path));
}

/** Adds a mark, or the home that it is in. */
export function addCovering(covering: Map<string, RootMark>, { rootId, kind, path }: RootMark): void {
	const home = homeOf(path);
	const mark = home === undefined ? { kind, path } : treeAt(home);
	covering.set(`${rootId} ${mark.kind} ${mark.path}`, { rootId, ...mark });
}
