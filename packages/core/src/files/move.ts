import type { ConflictOptions, ItemRef, MoveOptions, StorageItem } from '@stowage/plugin-api';
import {
	assertAllowed,
	type Entry,
	joinPath,
	moveDenial,
	parentPath,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
import type { OwnTree } from '../trees/OwnTree.js';
import { placeIn } from '../trees/Tree.js';
import type { FileParts } from './FileParts.js';
import { addItem, targetPath } from './placing/addItem.js';
import { beforeNamingInOrder } from './placing/replaceItem.js';

/** Moves an item within its area, as one rename. */
export async function move(
	parts: FileParts,
	viewer: Viewer,
	ref: ItemRef,
	toPath: StoragePath,
	{ onConflict, onReplaced }: ConflictOptions = {},
): Promise<Entry> {
	assertAllowed(moveDenial(viewer, ref, { area: ref.area, path: toPath }));
	const tree = parts.trees.own(viewer, ref.area);
	const from = placeIn(tree, ref.path);
	const to = placeIn(tree, targetPath(ref.path, toPath));
	const content = { kind: 'moved', from: from.storagePath } as const;
	return addItem(parts, tree, { from, to, content, onConflict, onReplaced }, (path, options) =>
		moveItem(parts, tree, from.storagePath, path, options),
	);
}

/** Moves an item to a path of the storage. Links to it are updated. */
export async function moveItem(
	{ tracker }: FileParts,
	tree: OwnTree,
	from: StoragePath,
	to: StoragePath,
	options: MoveOptions = {},
): Promise<StorageItem> {
	const moved = await tracker.moving(tree.viewer, from, (before) =>
		tree.storage.moveFrom(tree.storage, from, to, {
			...options,
			beforeNaming: beforeNamingInOrder((name) => before(joinPath(parentPath(to), name)), options.beforeNaming),
		}),
	);
	tree.notifyChange(from);
	return moved;
}
