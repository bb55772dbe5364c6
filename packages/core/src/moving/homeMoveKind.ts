import { randomBytes } from 'node:crypto';
import { isOfDatabase } from '@stowage/database';
import { assertUnmounted, type JobKind, type ReboundVersions } from '@stowage/plugin-api';
import { Failure, isFailure, joinPath, rootPath } from '@stowage/rules';
import { copyFolderTime } from '../trees/across/copyContents.js';
import { measureHome } from '../trees/across/walkHome.js';
import { copiedFiles } from '../trees/trash/versions/rebindVersions.js';
import { createPass, reportProgress } from './copyPass.js';
import {
	assertAtSource,
	beginMove,
	type HomeMoveInput,
	type HomeMoveParts,
	hasMoved,
	homeMoveInput,
	type Move,
	statHome,
} from './HomeMove.js';
import { copyFolder, dropCopy } from './homeCopy.js';
import { removeOld } from './oldTree.js';
import { reboundLinks } from './reboundLinks.js';

export const homeMoveName = 'move-root';

/**
 * The home is copied again and again while its user goes on working. Once a pass takes less than this, the next one
 * runs with changes blocked.
 */
const quickMs = 5_000;
const maxPasses = 4;

/** A disk that is away once the home has moved is looked for again after so long. */
const awaySeconds = 60;

/**
 * Moves a home to another storage root. It is copied and compared while its user goes on working; then changes are
 * blocked for as long as it takes to copy and compare what was changed meanwhile, and from one transaction on it lies
 * on the other root, with its links. Only then is the old tree removed, and what is in the trash follows. The next run
 * continues wherever this one was interrupted.
 */
export function homeMoveKind(parts: HomeMoveParts): JobKind<HomeMoveInput> {
	const { database, monotonic } = parts;
	return {
		name: homeMoveName,
		input: homeMoveInput,
		onRestart: 'resume',
		concurrency: 2,
		perUser: 1,
		async run(job) {
			const move = await beginMove(parts, job);
			const result = { root: move.target.name };
			if (move.state.step === 'switching' && (await hasMoved(parts, move))) {
				await finish(parts, move);
				return result;
			}
			await assertAtSource(parts, move);
			try {
				move.state = { ...move.state, step: 'copying', runId: randomBytes(16).toString('hex') };
				await database.homes.beginMove({ name: move.state.name, jobId: job.id, runId: move.state.runId });
				move.begunAt = monotonic();
				job.signal.throwIfAborted();
				await copyAndSwitch(parts, move);
			} catch (error) {
				// The answer to the last statement may be all that was lost.
				const isOver = move.state.step === 'switching' && (await hasMoved(parts, move));
				if (!isOver && !(await abandon(parts, move))) throw error;
			}
			await finish(parts, move);
			return result;
		},
	};
}

async function copyAndSwitch(parts: HomeMoveParts, move: Move): Promise<void> {
	const { roots, database, monotonic } = parts;
	const { job, source, target, home, state } = move;
	const { signal } = job;
	await completeVersionMoves(parts, move);
	const isMade = (await statHome(move)) !== undefined;
	const folder = isMade ? await copyFolder(move) : undefined;
	const progress = reportProgress(parts, move, isMade ? (await measureHome(source.storage, home, signal)).bytes : 0);
	const pass = folder === undefined ? undefined : createPass(parts, move, folder, progress);
	if (pass !== undefined) {
		for (let count = 1; ; count++) {
			const startedAt = monotonic();
			const { isWhole } = await pass.run('live');
			// One that was broken off is quick as well, and says nothing of the next one.
			if (count === maxPasses || (isWhole && monotonic() - startedAt < quickMs)) break;
		}
	}
	progress.step('finishing');
	await roots.homes.moves.blockChanges(state.runId, move.begunAt, signal);
	// What was mounted meanwhile would be emptied with the old tree.
	await assertUnmounted(source.storage, home);
	const digest = (await pass?.run('frozen'))?.digest;
	// Made by its user in the last moment.
	if (pass === undefined && (await statHome(move)) !== undefined)
		throw new Failure('conflict', 'The home was made just now. Please try again.');
	move.state = { ...move.state, step: 'switching', digest };
	await job.checkpoint(move.state);
	if (folder !== undefined) {
		await target.storage.move(folder, home);
		await copyFolderTime(source.storage, home, target.storage, home);
	}
	const rebound = { links: await reboundLinks(parts, move), versions: await reboundVersions(parts, move) };
	signal.throwIfAborted();
	if (!(await database.homes.switchRoot(move.state.runId, target.storage.rootId, rebound)))
		throw new Failure('conflict', 'Another process moves this home now.');
}

/** A move of files with versions that can't be completed would fail this one once all is copied. One that goes on ends by then. */
async function completeVersionMoves({ versionPaths }: HomeMoveParts, { job }: Move): Promise<void> {
	try {
		await versionPaths.completeAll(job.viewer.id);
	} catch (error) {
		if (!isFailure(error, 'locked')) throw error;
	}
}

/** The files of the user that have versions, with their copies. Those in the trash follow with what is there. */
async function reboundVersions(
	{ database, versionPaths }: HomeMoveParts,
	{ job, source, target, home }: Move,
): Promise<ReboundVersions[]> {
	// By paths that are wrong none would be found.
	await versionPaths.completeAll(job.viewer.id);
	return copiedFiles(database.versions, job.viewer.id, rootPath, (path) => joinPath(home, path), source, target);
}

/**
 * Removes the old tree, and then lets what is in the trash follow: until then it is restored from where it is. The home has moved by now
 * and no other move to this root can be ordered, so that what is away is waited for.
 */
async function finish(parts: HomeMoveParts, move: Move): Promise<void> {
	// Every process polls for as long as a home is recorded as moving, and what is still to follow may have to be waited for.
	await parts.database.homes.endMove(move.state.runId);
	try {
		await removeOld(parts, move);
		await moveTrash(parts, move);
	} catch (error) {
		// After an outage of the database each job goes on by itself.
		if (!isFailure(error, 'unavailable') || isOfDatabase(error)) throw error;
		throw new Failure('unavailable', error.message, { cause: error, retryAfter: awaySeconds });
	}
}

async function moveTrash({ trashBin }: HomeMoveParts, { job, state, target }: Move): Promise<void> {
	try {
		await trashBin.moveAllTo(job.viewer.id, target, job.signal);
	} catch (error) {
		if (!isFailure(error, 'unavailable') || isOfDatabase(error)) throw error;
		const message = `The home of ${state.name} lies on ${target.name} now. Not all of its trash has followed: ${error.message}`;
		throw new Failure('unavailable', message, { cause: error });
	}
}

/** Resolves to whether the home has moved after all: then nothing was undone. */
async function abandon(parts: HomeMoveParts, move: Move): Promise<boolean> {
	const { database, log } = parts;
	const { homes } = database;
	const { job, state } = move;
	// Another run does it now, and all of this is its own.
	if (!(await homes.setFrozen(state.runId, false))) return false;
	// The switch may have been on its way as it was asked for. It changes the same row, so it is done by now or never will be.
	if (state.step === 'switching' && (await hasMoved(parts, move))) return true;
	if (job.signal.aborted && !job.isCancelled) return false;
	try {
		await dropCopy(move);
	} catch (error) {
		log.warn(
			{ err: error, root: move.target.name },
			'the copy of a home could not be removed: a later sweep removes it',
		);
	}
	await homes.endMove(state.runId);
	return false;
}
