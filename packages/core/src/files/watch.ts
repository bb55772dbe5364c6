import type { ItemRef, Watch } from '@stowage/plugin-api';
import { isFailure, parsePath, type StoragePath, type Viewer } from '@stowage/rules';
import type { FolderFeeds } from '../trees/feeds/FolderFeeds.js';
import { assertFolder } from '../trees/OwnTree.js';
import { notFound, type Place } from '../trees/Tree.js';
import type { FileParts } from './FileParts.js';
import { shownPlaces } from './list.js';

/** Calls `onChange` when the listing of the folder may have changed. */
export async function watch(parts: FileParts, viewer: Viewer, folder: ItemRef, onChange: () => void): Promise<Watch> {
	const { trees, feeds, publicListing } = parts;
	const places = await shownPlaces(parts, viewer, folder);
	if (folder.area === 'private') await trees.own(viewer, 'private').assertFolder(folder.path);
	else if (folder.path !== '') await assertAnyFolder(places);
	const treesAt = folder.area === 'public' && publicListing === 'everyone' ? parsePath('users') : undefined;
	return watchPlaces(feeds, () => shownPlaces(parts, viewer, folder), treesAt, onChange);
}

async function assertAnyFolder(places: readonly Place[]): Promise<void> {
	const found = places.map(({ tree, storagePath }) => assertFolder(tree.storage, storagePath));
	await Promise.any(found).catch((error: AggregateError) => {
		throw error.errors.find((each) => !isFailure(each, 'notFound')) ?? notFound();
	});
}

/**
 * Milliseconds. A page requests a folder and its changes at the same time: a change this shortly before may be missing
 * in the listing.
 */
const gapMs = 10_000;

/** Rows read to detect changes. In a larger folder only created, removed and renamed entries are detected. */
const checkedRows = 1000;

/**
 * Watches a folder in every place that shows it, also where it appears later. `findPlaces` is asked again when
 * `treesAt`, if given, has changed. `onChange` is called at once for a folder that has changed a moment ago.
 */
async function watchPlaces(
	feeds: FolderFeeds,
	findPlaces: () => Promise<readonly Place[]>,
	treesAt: StoragePath | undefined,
	onChange: () => void,
): Promise<Watch> {
	const watches = new Map<StoragePath, Watch>();
	let isClosed = false;
	const watchFolder = async (path: StoragePath, listener: () => void): Promise<void> => {
		if (isClosed || watches.has(path)) return;
		watches.set(path, { close: () => {} });
		const watch = await feeds.subscribe(path, listener);
		if (isClosed) watch.close();
		else watches.set(path, watch);
	};
	const watchAll = async (): Promise<void> => {
		await Promise.all((await findPlaces()).map(({ storagePath }) => watchFolder(storagePath, onChange)));
	};
	// Other changes beside the trees are not changes of this folder.
	const watchNew = async (): Promise<void> => {
		const before = watches.size;
		await watchAll();
		if (watches.size > before) onChange();
	};
	const close = () => {
		isClosed = true;
		for (const watch of watches.values()) watch.close();
		watches.clear();
	};
	try {
		const places = await findPlaces();
		if (treesAt !== undefined) await watchFolder(treesAt, () => void watchNew().catch(onChange));
		await watchAll();
		for (const place of places) if (await hasJustChanged(place)) onChange();
		return { close };
	} catch (error) {
		close();
		throw error;
	}
}

async function hasJustChanged({ tree: { storage }, storagePath }: Place): Promise<boolean> {
	const since = Date.now() - gapMs;
	try {
		if ((await storage.stat(storagePath)).mtime >= since) return true;
		let rows = 0;
		for await (const batch of storage.list(storagePath)) {
			if (batch.some(({ mtime }) => mtime >= since)) return true;
			rows += batch.length;
			if (rows >= checkedRows) break;
		}
	} catch (error) {
		if (!isFailure(error)) throw error;
	}
	return false;
}
