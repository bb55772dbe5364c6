import type { CopyStaging, FileCopyOptions, ItemRef } from '@stowage/plugin-api';
import {
	assertAllowed,
	baseName,
	copyDenial,
	copyToDenial,
	type Entry,
	readDenial,
	type StoragePath,
	signedIn,
	type Viewer,
} from '@stowage/rules';
import { placeIn } from '../trees/Tree.js';
import { addItem, targetPath } from './addItem.js';
import type { FileParts } from './FileParts.js';
import { namedCopy } from './publishing.js';

/** Copies an item that the viewer may read into their own tree. */
export async function copy(
	parts: FileParts,
	viewer: Viewer,
	ref: ItemRef,
	toRef: ItemRef,
	{ onConflict, onReplaced, ...options }: FileCopyOptions = {},
): Promise<Entry> {
	const { trees, publicListing, names } = parts;
	assertAllowed(copyDenial(viewer, ref));
	assertAllowed(readDenial(viewer, ref, publicListing));
	const from = await trees.find(signedIn(viewer), ref);
	// Only now is the owner of an item known that was named without one.
	assertAllowed(copyToDenial(viewer, { ...from.tree, path: from.path }, toRef));
	const tree = trees.own(viewer, toRef.area);
	const to = placeIn(tree, targetPath(ref.path, toRef.path));
	const grants = (await tree.space()).beginGrants();
	const staged = options.staged && (await namedCopy(names, options.staged));
	// Continues one that a call before this has begun.
	const isContinued = staged?.id !== undefined;
	const findPlaced = (path: StoragePath) =>
		tree.storage.findCopy(from.tree.storage, from.storagePath, path, staged as CopyStaging);
	const addition = { from, to, onConflict, onReplaced, ...(isContinued ? { findPlaced } : {}) };
	try {
		return await addItem(parts, tree, addition, (path, naming, add) =>
			tree.storage.copyFrom(from.tree.storage, from.storagePath, path, {
				...options,
				...naming,
				staged,
				beforeNaming: staged && ((name) => staged.recordName(name, baseName(path))),
				async beforeItem(item) {
					await add({ bytes: item.size, entries: 1 });
					await options.beforeItem?.(item);
				},
				beforeBytes: grants.reserve,
			}),
		);
	} finally {
		grants.end();
	}
}
