import { Yielder } from '@stowage/plugin-api';
import { isFailure, PathSet, parentPath, type Viewer } from '@stowage/rules';
import { enterFolder } from '../members/enterFolder.js';
import type { SharedFolders } from '../members/SharedFolders.js';
import type { PasteInput } from './pasteInput.js';

/**
 * Throws the signal's reason, and unless the viewer may change the shared folder that a paste goes into, and one of those that a move
 * takes from.
 */
export async function assertMayChange(
	sharedFolders: Pick<SharedFolders, 'forMany'>,
	viewer: Viewer,
	kind: 'copy' | 'move',
	{ from, to, directory, items }: PasteInput,
	signal?: AbortSignal,
): Promise<void> {
	const folders = sharedFolders.forMany();
	if (to === 'shared') await enterFolder(folders, viewer, { path: directory }, 'edit');
	if (kind !== 'move' || from !== 'shared') return;
	let first: unknown;
	const yielder = new Yielder();
	for (const path of new PathSet(items.map((item) => parentPath(item.path)))) {
		// What is known of the folders is awaited at once, and gives nobody else a turn.
		if (yielder.shouldYield) await yielder.yield(signal);
		try {
			await enterFolder(folders, viewer, { path }, 'edit');
			return;
		} catch (error) {
			if (!isFailure(error)) throw error;
			first ??= error;
		}
	}
	throw first;
}
