import { type Area, Failure, joinChecked, joinPath, type Owner, parentPath, type StoragePath } from '@stowage/rules';
import type { HomeStorage } from './storage/HomeStorage.js';

/** What is read of a tree, by paths of the storage, unless the tree has others. */
export type TreeStorage = Pick<
	HomeStorage,
	'mount' | 'list' | 'count' | 'listWithStats' | 'stat' | 'open' | 'readSmallFiles' | 'localPath'
>;

/** One owner's files in one area, or what a share shows. Whose they are and where they lie is settled once for a request. */
export interface Tree {
	readonly area: Area | 'share';
	/** Whose public tree it is: `null` is the administrator's. Undefined in the private area. */
	readonly owner: Owner | undefined;
	/** Where it begins in the storage. */
	readonly root: StoragePath;
	/** The files of the home that it is in, by their paths in the storage. */
	readonly storage: TreeStorage;
	/** Whether its paths are none of the storage, so that no index knows them. */
	readonly isVirtual?: boolean;
}

/** The tree of an area. */
export interface AreaTree extends Tree {
	readonly area: Area;
	readonly storage: HomeStorage;
}

/** Where an item of a tree lies. */
export interface Place {
	readonly tree: Tree;
	/** Relative to the tree, as its area shows it. */
	readonly path: StoragePath;
	readonly storagePath: StoragePath;
}

/** Where an item of an area lies. */
export interface AreaPlace extends Place {
	readonly tree: AreaTree;
}

/** The error for missing items and for those that the viewer may not see; one message, so that nobody can tell them apart. */
export const notFound = (cause?: unknown) => new Failure('notFound', 'There is no such file or folder.', { cause });

export function placeIn<T extends Tree>(tree: T, path: StoragePath): Place & { readonly tree: T } {
	return { tree, path, storagePath: joinChecked(tree.root, path) };
}

/** The place of an item directly in a folder, whose name is one that the storage has. */
export function childOf({ tree, path, storagePath }: Place, name: string): Place {
	return { tree, path: joinPath(path, name), storagePath: joinPath(storagePath, name) };
}

/** The folder of an item. Throws `notFound` for the tree itself, which is no item. */
export function folderOf({ tree, path, storagePath }: Place): Place {
	if (path === '') throw notFound();
	return { tree, path: parentPath(path), storagePath: parentPath(storagePath) };
}
