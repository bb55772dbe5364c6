import type { StorageEntry } from '@stowage/plugin-api';
import { type Entry, isProtected, type StoragePath } from '@stowage/rules';
import type { Place } from './places.js';

/** The row of a thing that lies directly in `folder`. */
export function entryIn(folder: Place, { name, type, size, mtime }: StorageEntry, count?: number): Entry {
	const path = folder.path === '' ? name : `${folder.path}/${name}`;
	const entry: Entry = { name, path, type, size, mtime };
	if (folder.owner !== undefined) entry.owner = folder.owner;
	if (count !== undefined) entry.count = count;
	// The name was a segment of a listed folder, so it is a legal path.
	if (isProtected(folder.area, path as StoragePath)) entry.protected = true;
	return entry;
}
