import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '@stowage/database';
import type { JobContext, JobKind, ReboundLink, StorageItem } from '@stowage/plugin-api';
import { Failure, homeRoot, isFailure, joinPath, parentPath, type StoragePath } from '@stowage/rules';
import { z } from 'zod';
import type { Config } from '../config/schema.js';
import { linksOf } from '../links/linksOf.js';
import { identityOf, locateLink } from '../links/locateLink.js';
import type { Log } from '../log.js';
import { HomeComparison } from '../trees/compareHomes.js';
import {
	beginTree,
	copiesFolder,
	copyAccess,
	copyContents,
	copyFolderTime,
	discardAcross,
	findTree,
	newTree,
	treeId,
} from '../trees/copyAcross.js';
import { ensureFolder } from '../trees/folders.js';
import { availableSpace, createSpaceGuard } from '../trees/freeSpace.js';
import type { Mount } from '../trees/Mounts.js';
import { prefixed, withoutPrefix, withPrefix } from '../trees/rootIds.js';
import type { Roots } from '../trees/roots/Roots.js';
import { digestOf, measureHome } from '../trees/walkHome.js';

export const homeMoveName = 'move-root';

/** The home is copied again and again while its user goes on working. Once a pass takes less than this, the next one runs with changes blocked. */
const quickMs = 5_000;
const maxPasses = 4;

/** The least time between two progress reports. */
const reportMs = 100;

/** The retry interval while the database is not available and it must be known whether the home has moved. */
const retryMs = 500;

export interface HomeMoveDependencies {
	roots: Roots;
	database: Pick<Database, 'homes' | 'links'>;
	config: Pick<Config, 'uploads'>;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

export const homeMoveInput = z.object({ rootId: z.string() });
type Input = z.infer<typeof homeMoveInput>;

const savedMove = z.object({
	/** `leaving` from when the home may be on its new root. */
	step: z.enum(['copying', 'leaving']),
	name: z.string(),
	sourceId: z.string(),
	runId: z.string(),
	/** The copy's id, which a sweep asks for. */
	mark: z.string().optional(),
	/** The id of the old tree, once it was set aside, which a sweep asks for. */
	aside: z.string().optional(),
	/** What the home contained before the move. */
	digest: z.string().optional(),
});
type SavedMove = z.infer<typeof savedMove>;

/** One run of a move. */
interface Move {
	job: JobContext<Input>;
	source: Mount;
	target: Mount;
	home: StoragePath;
	state: SavedMove;
	/** When the move was recorded, by the monotonic clock. */
	begunAt: number;
}

/**
 * Moves a home to another storage root. It is copied and compared while its user goes on working; then changes are blocked for as long as it takes to copy and compare what was changed
 * meanwhile, and from one transaction on it lies on the other root, with its links. Only then is the old tree removed. The next run continues wherever this one was interrupted.
 */
export function homeMoveKind(dependencies: HomeMoveDependencies): JobKind<Input> {
	const { roots, database, config, log, monotonic } = dependencies;
	const { homes, links } = database;

	/** The names of roots may change meanwhile, their ids do not. */
	const begin = async (job: JobContext<Input>): Promise<Move> => {
		const name = job.viewer.username;
		await roots.reload();
		const earlier = job.saved === undefined ? undefined : savedMove.parse(job.saved);
		const source = earlier === undefined ? await roots.ofHome(name) : roots.withId(earlier.sourceId);
		const state: SavedMove = earlier ?? {
			step: 'copying',
			name,
			sourceId: source.storage.rootId,
			runId: randomBytes(16).toString('hex'),
		};
		const target = roots.withId(job.input.rootId);
		return { job, source, target, home: homeRoot(state.name), state, begunAt: monotonic() };
	};

	/** Whether the home is on its new root; retried until the database answers. */
	const hasMoved = async ({ job, state, target }: Move): Promise<boolean> => {
		for (;;) {
			try {
				return (await homes.findWithMove(state.name)).rootId === target.storage.rootId;
			} catch (error) {
				if (!isFailure(error, 'unavailable') || job.signal.aborted) throw error;
				await wait(retryMs);
			}
		}
	};

	/** Leaves nothing at the target, however far an earlier run got. */
	const dropCopy = async ({ target, home, state }: Move): Promise<void> => {
		if (state.mark === undefined) return;
		const found = await findTree(target.storage, withoutPrefix(state.mark, target.idPrefix), home);
		if (found?.isDone) await target.storage.remove(home);
		else await discardAcross(target.storage, withoutPrefix(state.mark, target.idPrefix));
	};

	const abandon = async (move: Move): Promise<void> => {
		const { job, state } = move;
		// Another run does it now, and all of this is its own.
		if (!(await homes.setFrozen(state.runId, false))) return;
		if (job.signal.aborted && !job.isCancelled) return;
		try {
			await dropCopy(move);
		} catch (error) {
			log.warn(
				{ err: error, root: move.target.name },
				'the copy of a home could not be removed: a later sweep removes it',
			);
		}
		await homes.endMove(state.runId);
	};

	/** Removes the old tree, unless it was changed after all. */
	const removeOld = async (move: Move): Promise<void> => {
		const { source, target, state } = move;
		try {
			// Where there was no home, nothing was left.
			if (state.digest !== undefined) await removeOldTree(move);
		} catch (error) {
			if (isFailure(error, 'unavailable'))
				throw new Failure(
					'unavailable',
					`The home of ${state.name} lies on ${target.name} now. Its old files are still on ${source.name}: ${error.message}`,
				);
			throw error;
		}
		await homes.endMove(state.runId);
	};

	/** Compares the old tree once it has been set aside, so that a file which another program writes to its old path from then on is not removed with it. */
	async function removeOldTree(move: Move): Promise<void> {
		const { source, target, home, state } = move;
		const { storage, name } = source;
		const aside = await setAside(move);
		if (aside === undefined) return;
		const restore = () => storage.move(aside, home, { otherNames: [`${state.name} (old)`] });
		// It is too late to be cancelled.
		const { signal } = new AbortController();
		let isUnchanged = false;
		try {
			isUnchanged = (await digestOf(storage, aside, signal)) === state.digest;
		} catch (error) {
			if (isFailure(error, 'notFound')) return;
			// An item that can't be compared, such as a link, counts as a change.
			if (!isFailure(error, 'conflict')) {
				await restore().catch((cause) =>
					log.warn({ err: cause, root: name }, 'the old tree of a home could not be restored'),
				);
				throw error;
			}
		}
		if (isUnchanged) return storage.remove(aside);
		const kept = await restore();
		throw new Failure(
			'conflict',
			`The home of ${state.name} lies on ${target.name} now. Another program changed something in its old place, ${joinPath(parentPath(home), kept.name)} on ${name}, at the last moment, so that was kept: look at it and remove it.`,
		);
	}

	/** Moves the old tree out of its path; resolves to its place, or to undefined if it is gone. */
	async function setAside(move: Move): Promise<StoragePath | undefined> {
		const { job, source, home, state } = move;
		const { storage } = source;
		if (state.aside !== undefined) {
			const found = await findTree(storage, withoutPrefix(state.aside, source.idPrefix), home);
			if (found?.isDone === false) return found.folder;
		}
		const old = await statHome(move);
		if (old === undefined) return undefined;
		const folder = newTree();
		await ensureFolder(storage, copiesFolder);
		// Before the move, since a sweep asks for it.
		move.state = { ...state, aside: withPrefix(treeId(folder, old), source.idPrefix) };
		await job.checkpoint(move.state);
		await storage.move(home, folder);
		return folder;
	}

	return {
		name: homeMoveName,
		input: homeMoveInput,
		onRestart: 'resume',
		concurrency: 2,
		perUser: 1,
		async run(job) {
			const move = await begin(job);
			const result = { root: move.target.name };
			if (move.state.step === 'leaving' && (await hasMoved(move))) {
				await removeOld(move);
				return result;
			}
			try {
				move.state = { ...move.state, step: 'copying', runId: randomBytes(16).toString('hex') };
				await homes.beginMove({ name: move.state.name, jobId: job.id, runId: move.state.runId });
				move.begunAt = monotonic();
				job.signal.throwIfAborted();
				await copyAndSwitch(move, dependencies);
			} catch (error) {
				// The answer to the last statement may be all that was lost.
				if (move.state.step !== 'leaving' || !(await hasMoved(move))) {
					await abandon(move);
					throw error;
				}
			}
			await removeOld(move);
			return result;
		},
	};

	async function copyAndSwitch(move: Move, { roots }: HomeMoveDependencies): Promise<void> {
		const { job, source, target, home, state } = move;
		const { signal } = job;
		const isMade = (await statHome(move)) !== undefined;
		const folder = isMade ? await copyFolder(move) : undefined;
		const progress = reportProgress(move, isMade ? await measureHome(source.storage, home, signal) : { bytes: 0 });
		const pass = folder === undefined ? undefined : createPass(move, folder, progress);
		if (pass !== undefined) {
			for (let count = 1; ; count++) {
				const startedAt = monotonic();
				await pass.run('live');
				if (count === maxPasses || monotonic() - startedAt < quickMs) break;
			}
		}
		progress.step('finishing');
		await roots.homes.blockChanges(state.runId, move.begunAt, signal);
		const digest = await pass?.run('frozen');
		// Made by its user in the last moment.
		if (pass === undefined && (await statHome(move)) !== undefined)
			throw new Failure('conflict', 'The home was made just now. Please try again.');
		move.state = { ...move.state, step: 'leaving', digest };
		await job.checkpoint(move.state);
		if (folder !== undefined) {
			await target.storage.move(folder, home);
			await copyFolderTime(source.storage, home, target.storage, home);
		}
		const rebound = await reboundLinks(move);
		signal.throwIfAborted();
		if (!(await homes.switchRoot(move.state.runId, target.storage.rootId, rebound)))
			throw new Failure('conflict', 'Another process moves this home now.');
	}

	/** The current place of the home; undefined if it was never created. */
	async function statHome({ source, home }: Move): Promise<StorageItem | undefined> {
		try {
			return await source.storage.stat(home);
		} catch (error) {
			if (isFailure(error, 'notFound')) return undefined;
			throw error;
		}
	}

	/** The place of the growing copy: the one of an earlier run, if it still exists. */
	async function copyFolder(move: Move): Promise<StoragePath> {
		const { job, target, home, state } = move;
		if (state.mark !== undefined) {
			const found = await findTree(target.storage, withoutPrefix(state.mark, target.idPrefix), home);
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
			move.state = { ...move.state, mark: withPrefix(id, target.idPrefix) };
			await job.checkpoint(move.state);
		}
	}

	/** Copies the files that the copy lacks, and compares all. */
	function createPass(move: Move, folder: StoragePath, progress: Progress) {
		const { job, source, target, home } = move;
		const { signal } = job;
		const guard = createSpaceGuard(() => availableSpace(target.storage, config.uploads));
		const comparison = new HomeComparison(
			{ storage: source.storage, root: home },
			{ storage: target.storage, root: folder },
			signal,
			progress.add,
		);
		const copy = async () => {
			const grants = guard.beginGrants();
			try {
				const options = { signal, beforeBytes: grants.reserve, afterBytes: progress.add, keepsAccess: true };
				await copyContents(source.storage, home, target.storage, folder, options);
				await copyAccess(source.storage, home, target.storage, folder);
				await copyFolderTime(source.storage, home, target.storage, folder);
			} finally {
				grants.end();
			}
		};
		return {
			/** Resolves to the digest of the home. Throws if a home whose changes are blocked differs from its copy. */
			async run(mode: 'live' | 'frozen'): Promise<string> {
				progress.begin(mode === 'frozen' ? 'finishing' : 'copying');
				try {
					await copy();
				} catch (error) {
					// A file was written to while it was read: the next pass has it.
					if (mode === 'frozen' || !isFailure(error, 'conflict')) throw error;
				}
				if (mode === 'live') progress.step('comparing');
				const { isSame, digest } = await comparison.compare();
				if (mode === 'frozen' && !isSame)
					throw new Failure('conflict', 'Another program keeps changing files in the home. It stays where it was.');
				return digest;
			},
		};
	}

	/** The links of the user, bound to the copies of their items. */
	async function reboundLinks({ job, source, target, home }: Move): Promise<ReboundLink[]> {
		const rebound: ReboundLink[] = [];
		const before = {
			stat: async (path: StoragePath) => prefixed(await source.storage.stat(path), source.idPrefix),
			open: (path: StoragePath) => source.storage.open(path),
		};
		for await (const link of linksOf(links, { ownerId: job.viewer.id })) {
			const located = await locateLink(before, link);
			if (located === undefined) continue;
			const item = prefixed(await target.storage.stat(joinPath(home, located.path)), target.idPrefix);
			rebound.push({ id: link.id, expectedItemId: link.itemId, itemId: identityOf(item) });
		}
		return rebound;
	}

	function reportProgress({ job, target }: Move, { bytes }: { bytes: number }): Progress {
		let done = 0;
		let step = 'copying';
		let reportedAt = Number.NEGATIVE_INFINITY;
		const report = () => {
			reportedAt = monotonic();
			// Each byte is copied and compared. Bytes that are added meanwhile count as done, so the bar never goes back.
			const total = Math.max(2 * bytes, done);
			job.progress({ done, total, unit: 'bytes', detail: { step, root: target.name } });
		};
		let passed = 0;
		let most = 0;
		report();
		return {
			begin(next) {
				most = Math.max(most, passed);
				passed = 0;
				this.step(next);
			},
			step(next) {
				step = next;
				report();
			},
			add(count) {
				passed += count;
				// Another pass over the same bytes is no progress.
				done = Math.max(most, passed);
				if (monotonic() - reportedAt >= reportMs) report();
			},
		};
	}
}

interface Progress {
	/** A further pass begins. */
	begin(step: string): void;
	step(step: string): void;
	add: (bytes: number) => void;
}
