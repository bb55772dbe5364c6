import type { ItemRef, OpenFile, SmallFile } from '@stowage/plugin-api';
import { assertAllowed, type Entry, readDenial, type Viewer } from '@stowage/rules';
import { entryAt } from './entries.js';
import type { FileParts } from './FileParts.js';

/** The row of an item. */
export async function find(parts: FileParts, viewer: Viewer, ref: ItemRef): Promise<Entry> {
	const place = await readable(parts, viewer, ref);
	return entryAt(place, await place.tree.storage.stat(place.storagePath));
}

/** An opened file, with its row as it was opened. */
export async function open(parts: FileParts, viewer: Viewer, ref: ItemRef): Promise<{ entry: Entry; file: OpenFile }> {
	const place = await readable(parts, viewer, ref);
	const file = await place.tree.storage.open(place.storagePath);
	return { entry: entryAt(place, file.item), file };
}

/** Small files of a folder with their contents, as far as they need not be opened. */
export async function readSmallFiles(
	parts: FileParts,
	viewer: Viewer,
	folder: ItemRef,
	names: readonly string[],
	into: Buffer,
): Promise<readonly (SmallFile | undefined)[]> {
	const place = await readable(parts, viewer, folder);
	return place.tree.storage.readSmallFiles(place.storagePath, names, into);
}

function readable({ trees, publicListing }: FileParts, viewer: Viewer, ref: ItemRef) {
	assertAllowed(readDenial(viewer, ref, publicListing));
	return trees.find(viewer, ref);
}
