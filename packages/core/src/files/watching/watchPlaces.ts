import type { StorageProvider, Watch } from '@stowage/plugin-api';
import { isFailure, type StoragePath } from '@stowage/rules';
import type { Place } from '../places.js';
import type { FolderFeeds } from './FolderFeeds.js';

/** Milliseconds. A page requests a folder and its changes at the same time: a change this shortly before may be missing in the listing. */
const gapMs = 10_000;

/** Rows read to detect changes. In a larger folder only created, removed and renamed entries are detected. */
const checkedRows = 1000;

/**
 * Watches a folder in every place that shows it, also where it appears later. `findPlaces` is asked again when `treesAt`, if given, has changed. `onChange`
 * is called at once for a folder that has changed a moment ago.
 */
export async function watchPlaces(
	storage: StorageProvider,
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
		await Promise.all((await findPlaces()).map(({ at }) => watchFolder(at, onChange)));
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
		for (const { at } of places) if (await hasJustChanged(storage, at)) onChange();
		return { close };
	} catch (error) {
		close();
		throw error;
	}
}

async function hasJustChanged(storage: StorageProvider, path: StoragePath): Promise<boolean> {
	const since = Date.now() - gapMs;
	try {
		if ((await storage.stat(path)).mtime >= since) return true;
		let rows = 0;
		for await (const batch of storage.list(path)) {
			if (batch.some(({ mtime }) => mtime >= since)) return true;
			rows += batch.length;
			if (rows >= checkedRows) break;
		}
	} catch (error) {
		if (!isFailure(error)) throw error;
	}
	return false;
}
