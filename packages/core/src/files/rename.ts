import type { ItemRef } from '@stowage/plugin-api';
import {
	assertAllowed,
	baseName,
	type Entry,
	joinPath,
	normalizeName,
	renameDenial,
	type Viewer,
} from '@stowage/rules';
import { folderOf, placeIn } from '../trees/Tree.js';
import { countedRow } from './entries.js';
import type { FileParts } from './FileParts.js';
import { moveItem } from './move.js';

/** Gives an item another name in its folder. The name that it has already changes nothing and is a success, if there is such an item. */
export async function rename(parts: FileParts, viewer: Viewer, ref: ItemRef, newName: string): Promise<Entry> {
	assertAllowed(renameDenial(viewer, ref));
	const tree = parts.trees.own(viewer, ref.area);
	const from = placeIn(tree, ref.path);
	const isSame = newName === baseName(ref.path);
	const name = isSame ? newName : normalizeName(newName);
	if (name === baseName(ref.path)) {
		const item = await tree.storage.stat(from.storagePath);
		return countedRow(folderOf(from), item);
	}
	const folder = folderOf(from);
	const renamed = await moveItem(parts, tree, from.storagePath, joinPath(folder.storagePath, name));
	return countedRow(folder, renamed);
}
