import { forEachConcurrently, type StorageEntry, type StorageItem } from '@stowage/plugin-api';
import { type Entry, isFailure, isProtected, joinPath, type StoragePath, undefinedIf } from '@stowage/rules';
import { folderOf, type Place } from '../trees/Tree.js';

/** Folders whose children are counted concurrently. */
const countConcurrency = 16;

/** An item directly in a folder. */
export interface Found {
	folder: Place;
	item: StorageEntry;
}

/** The row of an item directly in `folder`. */
export function entryIn(folder: Place, item: StorageEntry, count?: number): Entry {
	const { name, type, size, mtime } = item;
	const path = folder.path === '' ? name : `${folder.path}/${name}`;
	const entry: Entry = { name, path, type, size, mtime };
	if (folder.tree.owner !== undefined) entry.owner = folder.tree.owner;
	if (count !== undefined) entry.count = count;
	// The name was a segment of a listed folder, so it is a legal path.
	if (folder.tree.area !== 'share' && isProtected(folder.tree.area, path as StoragePath)) entry.protected = true;
	if (item.unreadable) entry.unreadable = true;
	return entry;
}

/** The row of the item at a place. Throws `notFound` for a tree, which is no item. */
export function entryAt(place: Place, item: StorageItem): Entry {
	return entryIn(folderOf(place), item);
}

/** The row of one item; for a folder with the number of visible children. */
export async function countedRow(folder: Place, item: StorageEntry): Promise<Entry> {
	return entryIn(folder, item, item.type === 'directory' ? await countChildren(folder, item) : undefined);
}

/** The rows of many, in their order, without folders that went away meanwhile. Throws the signal's reason once it is fired. */
export async function countedRows(found: readonly Found[], signal?: AbortSignal): Promise<Entry[]> {
	const rows: (Entry | undefined)[] = [];
	/** A hundred thousand files need no promise each, and get their rows on the way. */
	function* folders(): Generator<number> {
		for (const [at, { folder, item }] of found.entries()) {
			if (item.type === 'file') rows[at] = entryIn(folder, item);
			else yield at;
		}
	}
	await forEachConcurrently(countConcurrency, folders(), async (at) => {
		const { folder, item } = found[at] as Found;
		signal?.throwIfAborted();
		const count = await countChildren(folder, item);
		rows[at] = count === undefined ? undefined : entryIn(folder, item, count);
	});
	return rows.filter((row) => row !== undefined);
}

/** The number of visible children; undefined for a folder that was removed meanwhile, 0 for one that may not, or can't, be read. */
async function countChildren(
	{ tree, storagePath }: Place,
	{ name, unreadable }: StorageEntry,
): Promise<number | undefined> {
	if (unreadable) return 0;
	try {
		return await undefinedIf(tree.storage.count(joinPath(storagePath, name)), 'notFound');
	} catch (error) {
		if (isFailure(error, 'forbidden') || isFailure(error, 'unavailable')) return 0;
		throw error;
	}
}
