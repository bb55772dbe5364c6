import type { ItemRef, PublishOptions, PublishRequest, StorageItem } from '@stowage/plugin-api';
import { assertAllowed, type Entry, joinPath, uploadDenial, type Viewer } from '@stowage/rules';
import type { OwnTree } from '../trees/OwnTree.js';
import { type Place, placeIn } from '../trees/Tree.js';
import { entryIn } from './entries.js';
import type { FileParts } from './FileParts.js';
import { assertPlaceable } from './placing/placeItem.js';
import { findPublishedFile, publishAll, publishFileOnce } from './placing/publishing.js';

/** Refuses a folder, and a file in it, as `publish` would, before any byte arrives. */
export async function assertUpload(
	{ trees }: FileParts,
	viewer: Viewer,
	folder: ItemRef,
	file?: Pick<PublishRequest, 'name' | 'onConflict'>,
): Promise<void> {
	assertAllowed(uploadDenial(viewer, folder));
	const tree = trees.own(viewer, folder.area);
	await tree.assertFolder(folder.path);
	if (file !== undefined) await assertPlaceable(tree, placeIn(tree, folder.path), file);
}

/** Publishes all or none. */
export async function publish(
	parts: FileParts,
	viewer: Viewer,
	ref: ItemRef,
	requests: readonly PublishRequest[],
	options?: PublishOptions,
): Promise<Entry[]> {
	const { tree, folder } = await folderToPublishIn(parts, viewer, ref);
	const staged = requests.map((request) => request.staged);
	const all = () => publishAll(parts, tree, folder, requests, options);
	const items = await tree.quota.publishing(staged, all);
	return items.map((item) => notifyAndGetEntry(tree, folder, item));
}

/** Publishes one file, however often it is asked. */
export async function publishOnce(
	parts: FileParts,
	viewer: Viewer,
	ref: ItemRef,
	request: PublishRequest,
): Promise<Entry> {
	const { tree, folder } = await folderToPublishIn(parts, viewer, ref);
	const once = async () => [await publishFileOnce(parts, tree, folder, request)];
	const [item] = (await tree.quota.publishing([request.staged], once)) as [StorageItem];
	return notifyAndGetEntry(tree, folder, item);
}

/** The row of a published staged file, as long as it lies there. */
export async function findPublished(
	{ trees, names }: FileParts,
	viewer: Viewer,
	ref: ItemRef,
	stagedId: string,
	name: string,
): Promise<Entry | undefined> {
	const folder = placeIn(trees.own(viewer, ref.area), ref.path);
	const item = await findPublishedFile(folder.tree.storage, names, folder.storagePath, stagedId, name);
	return item && entryIn(folder, item);
}

async function folderToPublishIn(
	parts: FileParts,
	viewer: Viewer,
	ref: ItemRef,
): Promise<{ tree: OwnTree; folder: Place }> {
	const tree = parts.trees.own(viewer, ref.area);
	await tree.assertExists();
	await assertUpload(parts, viewer, ref);
	return { tree, folder: placeIn(tree, ref.path) };
}

/** Notifies the watchers of the folder of a published file, and returns its row. */
function notifyAndGetEntry(tree: OwnTree, folder: Place, item: StorageItem): Entry {
	tree.notifyChange(joinPath(folder.storagePath, item.name));
	return entryIn(folder, item);
}
