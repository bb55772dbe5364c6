import { isOfDatabase } from '@stowage/database';
import { Failure, isFailure, joinPath, parentPath, type StoragePath } from '@stowage/rules';
import { copiesFolder, findTree, newTree, treeId } from '../trees/across/copies.js';
import { removeUnchanged } from '../trees/across/removeUnchanged.js';
import { ensureFolder } from '../trees/storage/folders.js';
import { withoutPrefix, withPrefix } from '../trees/storage/rootIds.js';
import { type HomeMoveParts, type Move, statHome } from './HomeMove.js';

/** Removes the old tree, unless it was changed after all. */
export async function removeOld(parts: HomeMoveParts, move: Move): Promise<void> {
	const { source, target, state } = move;
	try {
		// Where there was no home, nothing was left.
		if (state.digest !== undefined) await removeOldTree(parts, move);
	} catch (error) {
		if (isFailure(error, 'unavailable') && !isOfDatabase(error))
			throw new Failure(
				'unavailable',
				`The home of ${state.name} lies on ${target.name} now. Its old files are still on ${source.name}: ${error.message}`,
			);
		throw error;
	}
}

async function removeOldTree({ log }: HomeMoveParts, move: Move): Promise<void> {
	const { source, target, home, state } = move;
	const { storage, name } = source;
	const away = await renameAway(move);
	if (away === undefined) return;
	const kept = await removeUnchanged({
		storage,
		path: home,
		away,
		digest: state.digest ?? '',
		onStuck: (cause) => log.warn({ err: cause, root: name }, 'the old tree of a home could not be restored'),
	});
	if (kept === undefined) return;
	throw new Failure(
		'conflict',
		`The home of ${state.name} lies on ${target.name} now. Another program changed something in its old place, ${joinPath(parentPath(home), kept)} on ${name}, at the last moment, so that was kept: look at it and remove it.`,
	);
}

/** Moves the old tree out of its path; resolves to its place, or to undefined if it is gone. */
async function renameAway(move: Move): Promise<StoragePath | undefined> {
	const { job, source, home, state } = move;
	const { storage } = source;
	if (state.renamedAway !== undefined) {
		const found = await findTree(storage, withoutPrefix(state.renamedAway, source.idPrefix), home);
		if (found?.isDone === false) return found.folder;
	}
	const old = await statHome(move);
	if (old === undefined) return undefined;
	const folder = newTree();
	await ensureFolder(storage, copiesFolder);
	// Before the move, since a sweep asks for it.
	move.state = { ...state, renamedAway: withPrefix(treeId(folder, old), source.idPrefix) };
	await job.checkpoint(move.state);
	await storage.move(home, folder);
	return folder;
}
