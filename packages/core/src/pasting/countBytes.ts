import { type Files, type Turn, type WalkedItem, Yielder } from '@stowage/plugin-api';
import { type Area, isFailure, type Viewer } from '@stowage/rules';
import type { PastedItem } from './pasteInput.js';

/** Entries. Counting stops there: the total would come too late to be of use. */
const maxEntries = 2_000_000;

/**
 * The bytes of the items with all below them, as far as the viewer may see them; undefined if there are too many
 * entries. Unreadable entries count as zero.
 */
export async function countBytes(
	files: Pick<Files, 'stat' | 'listWithStats'>,
	viewer: Viewer,
	area: Area,
	items: readonly PastedItem[],
	signal: AbortSignal,
	turn?: Turn,
): Promise<number | undefined> {
	const yielder = new Yielder(turn);
	let bytes = 0;
	let entries = 0;
	const count = (found: readonly WalkedItem[], folders: WalkedItem[]) => {
		entries += found.length;
		for (const item of found) {
			bytes += item.size;
			if (item.type === 'directory') folders.push(item);
		}
	};
	for (const item of items) {
		const folders: WalkedItem[] = [];
		count(await statItem(files, viewer, area, item), folders);
		for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
			const { path, owner } = folder;
			const batches = files.listWithStats(viewer, { area, path, ...(owner === undefined ? {} : { owner }) });
			for await (const batch of batches) {
				signal.throwIfAborted();
				if (yielder.shouldYield) await yielder.yield(signal);
				count(batch.items, folders);
				if (entries > maxEntries) return undefined;
			}
		}
		if (yielder.shouldYield) await yielder.yield(signal);
	}
	return bytes;
}

async function statItem(
	files: Pick<Files, 'stat'>,
	viewer: Viewer,
	area: Area,
	{ path, owner }: PastedItem,
): Promise<WalkedItem[]> {
	try {
		const found: WalkedItem[] = [];
		const chosen = [{ path, ...(owner === undefined ? {} : { owner }) }];
		for await (const each of files.stat(viewer, area, chosen)) found.push(each);
		return found;
	} catch (error) {
		// The copy reports this error.
		if (isFailure(error)) return [];
		throw error;
	}
}
