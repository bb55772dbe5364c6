import type { CopyStaging, FileCopyOptions, ItemRef } from '@stowage/plugin-api';
import {
	assertAllowed,
	baseName,
	copyDenial,
	copyToDenial,
	createFolderDenial,
	type Entry,
	parentPath,
	readDenial,
	type StoragePath,
	signedIn,
	type Viewer,
} from '@stowage/rules';
import { placeIn } from '../trees/Tree.js';
import type { FileParts } from './FileParts.js';
import { addItem, targetPath } from './placing/addItem.js';
import { namedCopy } from './placing/publishing.js';

/** Copies an item into the viewer's own tree, which the viewer may read, or `reader` where another one has to. */
export async function copy(
	parts: FileParts,
	viewer: Viewer,
	ref: ItemRef,
	toRef: ItemRef,
	{ onConflict, onReplaced, ...options }: FileCopyOptions = {},
	reader: Viewer = viewer,
): Promise<Entry> {
	const { trees, publicListing, names } = parts;
	assertAllowed(copyDenial(reader, ref));
	assertAllowed(readDenial(reader, ref, publicListing));
	const from = await trees.find(signedIn(reader), ref);
	// Only now is the owner of an item known that was named without one.
	const isSameHome = signedIn(reader).id === signedIn(viewer).id;
	assertAllowed(
		isSameHome
			? copyToDenial(viewer, { ...from.tree, path: from.path }, toRef)
			: createFolderDenial(viewer, { ...toRef, path: parentPath(toRef.path) }),
	);
	const tree = trees.own(viewer, toRef.area);
	const to = placeIn(tree, targetPath(ref.path, toRef.path));
	const grants = (await tree.space()).beginGrants();
	const staged = options.staged && (await namedCopy(names, options.staged));
	// Continues one that a call before this has begun.
	const isContinued = staged?.id !== undefined;
	const findPlaced = (path: StoragePath) =>
		tree.storage.findCopy(from.tree.storage, from.storagePath, path, staged as CopyStaging);
	const addition = {
		from,
		to,
		content: { kind: 'written' } as const,
		onConflict,
		onReplaced,
		...(isContinued ? { findPlaced } : {}),
	};
	try {
		return await addItem(parts, tree, addition, (path, naming, add) =>
			tree.storage.copyFrom(from.tree.storage, from.storagePath, path, {
				...options,
				...naming,
				staged,
				async beforeNaming(name) {
					await staged?.recordName(name, baseName(path));
					await options.beforeNaming?.(name);
					await naming.beforeNaming?.(name);
				},
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
