import type { ConflictOptions, MoveOptions, StorageItem } from '@stowage/plugin-api';
import {
	baseName,
	type Entry,
	joinPath,
	normalizeName,
	parentPath,
	pathSegments,
	type StoragePath,
} from '@stowage/rules';
import { plus } from '../../quotas/amounts.js';
import type { Reservation } from '../../quotas/Reservation.js';
import type { OwnTree } from '../../trees/OwnTree.js';
import { ensureFolder, removeCreatedFolders, retryOnRemovedItems } from '../../trees/storage/folders.js';
import { folderOf, type Place } from '../../trees/Tree.js';
import { countedRow } from '../entries.js';
import type { FileParts } from '../FileParts.js';
import { type PlacedItem, placeItem } from './placeItem.js';

interface Addition extends ConflictOptions, Pick<PlacedItem, 'content' | 'findPlaced'> {
	from: Place;
	to: Place;
}

/**
 * Moves or copies an item to the wished place in a tree by `commit`, which also counts what it adds. The parents are created only once
 * the source is known to exist, and removed again if it fails.
 */
export async function addItem(
	parts: FileParts,
	tree: OwnTree,
	{ from, to, ...naming }: Addition,
	commit: (path: StoragePath, options: MoveOptions, add: Reservation['add']) => Promise<StorageItem>,
): Promise<Entry> {
	const folder = parentPath(to.storagePath);
	const toFolder = folderOf(to);
	const source = () => from.tree.storage.stat(from.storagePath);
	const item = await retryOnRemovedItems(source, ({ type, id }) =>
		tree.quota.adding(async ({ add }) => {
			await tree.create();
			const made = await ensureFolder(tree.storage, folder, pathSegments(from.path));
			try {
				await add({ bytes: 0, entries: made.length });
				const placed = { ...naming, folder: toFolder, name: baseName(to.storagePath), type, id, assertThere: source };
				const adding = countingOnce(add);
				return await placeItem(parts, tree, placed, (path, options) => commit(path, options, adding()));
			} catch (error) {
				await removeCreatedFolders(tree.storage, made);
				throw error;
			}
		}),
	);
	tree.notifyChange(to.storagePath);
	return countedRow(toFolder, item);
}

/** Wraps `add` for the attempts of one call: what an earlier attempt has counted is not counted again. */
function countingOnce(add: Reservation['add']): () => Reservation['add'] {
	let counted = { bytes: 0, entries: 0 };
	return () => {
		let own = { bytes: 0, entries: 0 };
		return async (amount) => {
			own = plus(own, amount);
			const before = counted;
			counted = { bytes: Math.max(own.bytes, before.bytes), entries: Math.max(own.entries, before.entries) };
			await add({ bytes: counted.bytes - before.bytes, entries: counted.entries - before.entries });
		};
	};
}

/** The name at the end of a path from a client is validated, unless the item has it already. */
export function targetPath(from: StoragePath, to: StoragePath): StoragePath {
	return baseName(from) === baseName(to) ? to : joinPath(parentPath(to), normalizeName(baseName(to)));
}
