import { isFailure, parsePath, pathSegments, type StoragePath, type Viewer } from '@stowage/rules';
import type { Files, ItemRef, WalkedItem } from './files.js';

/**
 * The item with this id, wherever in its area it is by now: it is looked for in the folder `near` first, then in all of the area, in that
 * of shared folders within the same one. Undefined if the viewer has it no more.
 */
export async function findById(
	files: Pick<Files, 'listWithStats'>,
	viewer: Viewer,
	near: ItemRef,
	id: string,
	signal?: AbortSignal,
): Promise<WalkedItem | undefined> {
	const [top = ''] = near.area === 'shared' ? pathSegments(near.path) : [];
	const folders = [parsePath(top)];
	const beside = await look(near.path, []);
	if (beside !== undefined) return beside;
	for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
		signal?.throwIfAborted();
		const found = await look(path, folders);
		if (found !== undefined) return found;
	}
	return undefined;

	async function look(path: StoragePath, inner: StoragePath[]): Promise<WalkedItem | undefined> {
		try {
			for await (const { items } of files.listWithStats(viewer, { ...near, path })) {
				for (const item of items) {
					if (item.id === id) return item;
					if (item.type === 'directory') inner.push(item.path);
				}
			}
		} catch (error) {
			// Of a folder that is away by now.
			if (!isFailure(error, 'notFound')) throw error;
		}
		return undefined;
	}
}

/** An item with its id, or undefined if it is not there. */
export async function statIfPresent(
	files: Pick<Files, 'stat'>,
	viewer: Viewer,
	ref: ItemRef,
): Promise<WalkedItem | undefined> {
	try {
		for await (const item of files.stat(viewer, ref.area, [ref])) return item;
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	return undefined;
}
