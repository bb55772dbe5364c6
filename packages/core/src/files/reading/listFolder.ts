import type { StorageEntry, StorageProvider } from '@stowage/plugin-api';
import { type Entry, isFailure, isProtected, joinPath, type Owner, type StoragePath } from '@stowage/rules';
import { notThere, type Place } from '../places.js';

/** Folders that are counted together, and shown once they are. */
const folderConcurrency = 64;

/** The rows of one folder in batches, folders with the number of visible children. Throws `notFound` before the first batch. */
export async function* listPlace(storage: StorageProvider, place: Place): AsyncGenerator<Entry[]> {
	for await (const batch of storage.list(place.at)) {
		const files: Entry[] = [];
		const folders: Found[] = [];
		for (const item of batch) {
			if (item.type === 'directory') folders.push({ folder: place, item });
			else files.push(entryIn(place, item));
		}
		if (files.length > 0) yield files;
		for (let at = 0; at < folders.length; at += folderConcurrency) {
			yield await countedRows(storage, folders.slice(at, at + folderConcurrency));
		}
	}
}

/**
 * The union of a folder over the trees that have it, each row with its own owner. Throws `notFound` if none has it, before the first batch. `onMissing` is called for
 * each tree whose disk is away; if all are, throws `unavailable`.
 */
export async function* listMerged(
	storage: StorageProvider,
	places: readonly Place[],
	onMissing: (owner: Owner) => void = () => {},
): AsyncGenerator<Entry[]> {
	// The public area itself always exists, even while no user has published anything.
	let isAnyThere = places.some((place) => place.path === '');
	const away: unknown[] = [];
	for (const place of places) {
		try {
			yield* listPlace(storage, place);
			isAnyThere = true;
		} catch (error) {
			if (isFailure(error, 'unavailable')) {
				away.push(error);
				onMissing(place.owner ?? null);
			} else if (!isFailure(error, 'notFound')) throw error;
		}
	}
	if (away.length === places.length || (away.length > 0 && !isAnyThere)) throw away[0];
	if (!isAnyThere) throw notThere();
}

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
	if (folder.owner !== undefined) entry.owner = folder.owner;
	if (count !== undefined) entry.count = count;
	// The name was a segment of a listed folder, so it is a legal path.
	if (isProtected(folder.area, path as StoragePath)) entry.protected = true;
	if (item.unreadable) entry.unreadable = true;
	return entry;
}

/** The row of one item; for a folder with the number of visible children. */
export async function countedRow(storage: StorageProvider, folder: Place, item: StorageEntry): Promise<Entry> {
	return entryIn(folder, item, item.type === 'directory' ? await countChildren(storage, folder, item.name) : undefined);
}

/**
 * The rows of many, in their order, without folders that went away meanwhile. Throws the signal's reason once it is fired. The package p-limit would make a promise
 * for each of a hundred thousand files, which need none.
 */
export async function countedRows(
	storage: StorageProvider,
	found: readonly Found[],
	signal?: AbortSignal,
): Promise<Entry[]> {
	const rows: (Entry | undefined)[] = [];
	let next = 0;
	const countNext = async (): Promise<void> => {
		while (next < found.length) {
			const at = next++;
			const { folder, item } = found[at] as Found;
			if (item.type === 'file') {
				rows[at] = entryIn(folder, item);
				continue;
			}
			signal?.throwIfAborted();
			const count = await countChildren(storage, folder, item.name);
			rows[at] = count === undefined ? undefined : entryIn(folder, item, count);
		}
	};
	await Promise.all(Array.from({ length: countConcurrency }, countNext));
	return rows.filter((row) => row !== undefined);
}

/** Undefined for a folder that was removed meanwhile; 0 for one that may not be read. */
async function countChildren(storage: StorageProvider, folder: Place, name: string): Promise<number | undefined> {
	try {
		return await storage.count(joinPath(folder.at, name));
	} catch (error) {
		if (isFailure(error, 'notFound')) return undefined;
		if (isFailure(error, 'forbidden')) return 0;
		throw error;
	}
}
