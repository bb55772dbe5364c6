import type { StorageItem } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import { beginTree, discardAcross, findTree, newTree, treeId } from '../trees/across/copies.js';
import { withoutPrefix, withPrefix } from '../trees/storage/rootIds.js';
import type { Move } from './HomeMove.js';

/** The place of the growing copy: the one of an earlier run, if it still exists. */
export async function copyFolder(move: Move): Promise<StoragePath> {
	const { job, target, home, state } = move;
	if (state.marker !== undefined) {
		const found = await findTree(target.storage, withoutPrefix(state.marker, target.idPrefix), home);
		if (found?.isDone === false) return found.folder;
		if (found?.isDone) {
			// It was published already, and the run was interrupted before the home was switched.
			const folder = newTree();
			await target.storage.move(home, folder);
			const item = await target.storage.stat(folder);
			await mark(folder, item);
			return folder;
		}
	}
	const folder = newTree();
	await beginTree(target.storage, folder, async (id) => saveMark(id));
	return folder;

	async function mark(at: StoragePath, item: StorageItem): Promise<void> {
		await saveMark(treeId(at, item));
	}
	async function saveMark(id: string): Promise<void> {
		move.state = { ...move.state, marker: withPrefix(id, target.idPrefix) };
		await job.checkpoint(move.state);
	}
}

/** Leaves nothing at the target, however far an earlier run got. */
export async function dropCopy({ target, home, state }: Move): Promise<void> {
	if (state.marker === undefined) return;
	const found = await findTree(target.storage, withoutPrefix(state.marker, target.idPrefix), home);
	if (found?.isDone) await target.storage.remove(home);
	else await discardAcross(target.storage, withoutPrefix(state.marker, target.idPrefix));
}
