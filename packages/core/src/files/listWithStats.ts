import type { ItemRef, StorageItem, WalkBatch, WalkedItem } from '@stowage/plugin-api';
import { type Area, assertAllowed, isFailure, readDenial, type Viewer } from '@stowage/rules';
import { childOf, notFound, type Place, type Tree } from '../trees/Tree.js';
import type { FileParts } from './FileParts.js';

/** Stats of several items of an area, one after another. */
export async function* stat(
	{ trees, publicListing }: FileParts,
	viewer: Viewer,
	area: Area,
	items: Iterable<Omit<ItemRef, 'area'>>,
	signal?: AbortSignal,
): AsyncGenerator<WalkedItem> {
	let visible: Promise<Tree[]> | undefined;
	const readVisible = () => {
		visible ??= trees.visible(viewer, area);
		return visible;
	};
	for (const { path, owner } of items) {
		signal?.throwIfAborted();
		const ref: ItemRef = { area, path, ...(owner === undefined ? {} : { owner }) };
		assertAllowed(readDenial(viewer, ref, publicListing));
		if (path === '') throw notFound();
		const found = await trees.find(viewer, ref, readVisible);
		yield walkedItem(found, await found.tree.storage.stat(found.storagePath));
	}
}

/** The direct contents of a folder. A folder that may not be read is left out; one that was removed meanwhile is empty. */
export async function* listWithStats(
	{ trees, publicListing }: FileParts,
	viewer: Viewer,
	ref: ItemRef,
): AsyncGenerator<WalkBatch> {
	assertAllowed(readDenial(viewer, ref, publicListing));
	const folder = await trees.find(viewer, ref);
	try {
		for await (const { items, skipped } of folder.tree.storage.listWithStats(folder.storagePath)) {
			yield { items: items.map((item) => walkedItem(childOf(folder, item.name), item)), skipped };
		}
	} catch (error) {
		if (isFailure(error, 'forbidden')) yield { items: [], skipped: 1 };
		else if (!isFailure(error, 'notFound')) throw error;
	}
}

function walkedItem({ path, tree }: Place, { name, type, size, mtime, id, version }: StorageItem): WalkedItem {
	const item: WalkedItem = { name, type, size, mtime, id, version, path };
	if (tree.owner !== undefined) item.owner = tree.owner;
	return item;
}
