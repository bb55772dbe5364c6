import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '@stowage/database';
import type { HomeMove, RootRecord, StorageProvider } from '@stowage/plugin-api';
import { Failure, homeRoot, undefinedIf } from '@stowage/rules';
import type { Log } from '../../log.js';
import type { Mount } from '../Mounts.js';

/** The roots that homes lie on. */
interface KnownRoots {
	readonly first: Mount;
	readonly default: Mount;
	all(): readonly Mount[];
	readonly records: readonly RootRecord[];
	mountOf(rootId: string | undefined): Mount | undefined;
	record(name: string): RootRecord;
	reload(): Promise<void>;
}

interface Dependencies {
	roots: KnownRoots;
	homes: Database['homes'];
	log: Log;
	/** The identity of this process, and whether another one has certainly ended. */
	identity: { readonly name: string; hasEnded(name: string): Promise<boolean> };
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** How often each process reads the list of roots, and with it the moves of homes. */
	reloadMs: number;
}

/** How long a process may cache the root of a home, unless it knows that the home is being moved. */
const homeCacheMs = 1000;

const maxHomesCached = 10_000;

/** How often a process polls for moves of homes. */
const movePollMs = 200;

/** A process that has not acknowledged moves for this long counts as dead. */
const acknowledgementTimeoutMs = 10_000;

/** On which root each home lies, by the database. A home that moves is frozen at its end, in every process, until it lies on its new root. */
export class HomeMounts {
	readonly #dependencies: Dependencies;
	readonly #cached = new Map<string, { mount: Mount; until: number }>();
	/** Homes that are being moved, as far as is known here. */
	#moves: ReadonlyMap<string, HomeMove> = new Map();
	/** The number of changes of each home under way in this process. */
	readonly #changes = new Map<string, number>();
	/** Grows with each poll of moves: a look-up of a home that began before may have an older result. */
	#movePolls = 0;
	#moveTimer: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	of(username: string): Mount | Promise<Mount> {
		const { roots, monotonic } = this.#dependencies;
		if (roots.all().length === 1 && roots.records.length === 1) return roots.first;
		const known = this.#cached.get(username);
		if (known !== undefined && known.until > monotonic()) return known.mount;
		return this.#find(username);
	}

	async changing<T>(username: string, work: () => Promise<T>): Promise<T> {
		// Counted before the check: a change that is not counted yet sees that the home is frozen.
		this.#changes.set(username, (this.#changes.get(username) ?? 0) + 1);
		try {
			await this.of(username);
			this.assertChangeable(username);
			return await work();
		} finally {
			const left = (this.#changes.get(username) ?? 1) - 1;
			if (left === 0) this.#changes.delete(username);
			else this.#changes.set(username, left);
		}
	}

	assertChangeable(username: string): void {
		if (!this.#moves.get(username)?.isFrozen) return;
		throw new Failure('locked', 'These files are being moved to another disk. Please try again in a moment.', {
			retryAfter: 2,
		});
	}

	async assertNotMoving(username: string): Promise<void> {
		const { move } = await this.#dependencies.homes.findWithMove(username);
		if (move === undefined) return;
		throw new Failure(
			'conflict',
			`The home of ${username} is on its way to another root. Wait until it is there, or end that: stowage job cancel ${move.jobId}`,
		);
	}

	/**
	 * Blocks changes of the home that this run of a job moves, and resolves once all changes of it have ended, in every process. `begunAt` is when the move was recorded, by
	 * the monotonic clock: processes poll for it a little later. Throws `conflict` if another run moves it by now.
	 */
	async blockChanges(runId: string, begunAt: number, signal: AbortSignal): Promise<void> {
		const { monotonic, identity, homes, reloadMs } = this.#dependencies;
		await wait(Math.max(0, begunAt + reloadMs + movePollMs - monotonic()), undefined, { signal });
		if (!(await homes.setFrozen(runId, true))) throw new Failure('conflict', 'Another process moves this home now.');
		const blockedAt = monotonic();
		for (;;) {
			signal.throwIfAborted();
			await this.pollMoves();
			const processes = await homes.acknowledgements(runId, acknowledgementTimeoutMs);
			const alive = await Promise.all(
				processes.map(async ({ holder, hasStopped, isSilent }) => {
					if (hasStopped || isSilent) return false;
					return holder === identity.name || !(await identity.hasEnded(holder));
				}),
			);
			// A process without an acknowledgement may use a cached root for a moment.
			if (!alive.includes(true) && monotonic() - blockedAt > homeCacheMs) return;
			await wait(movePollMs, undefined, { signal });
		}
	}

	async assign(username: string): Promise<void> {
		const { roots, homes } = this.#dependencies;
		if (roots.all().length === 1) return;
		if ((await homes.find(username)) !== undefined) return;
		const isOnFirst = await hasHome(roots.first.storage, username);
		await homes.assign(username, (isOnFirst ? roots.first : roots.default).storage.rootId);
		this.#cached.delete(username);
	}

	async assignOfRename(username: string, newName: string): Promise<void> {
		const { roots, homes } = this.#dependencies;
		const known = await homes.find(username);
		if (known !== undefined) await homes.set(newName, known);
		else if (await hasHome(roots.first.storage, username)) await homes.set(newName, roots.first.storage.rootId);
		this.#cached.delete(newName);
	}

	/** Records on which root a new home shall be created. Throws `notFound` for an unknown root and `alreadyExists` if the home is elsewhere. */
	async assignTo(username: string, name: string): Promise<void> {
		const { roots, homes } = this.#dependencies;
		const { rootId } = roots.record(name);
		const isOnFirst = rootId !== roots.first.storage.rootId && (await hasHome(roots.first.storage, username));
		if (isOnFirst || (await homes.assign(username, rootId)) !== rootId) {
			throw new Failure('alreadyExists', `There is a home of ${username} on another root.`);
		}
		this.#cached.delete(username);
	}

	/** Reads which homes are being moved, and acknowledges them: also that their changes have ended where they are frozen. */
	async pollMoves(): Promise<void> {
		const { homes, identity } = this.#dependencies;
		const moves = await homes.listMoves();
		if (this.#isClosed) return;
		this.#movePolls++;
		this.#moves = new Map(moves.map((move) => [move.name, move]));
		const acknowledged = moves.map(({ name, runId, isFrozen }) => {
			this.#cached.delete(name);
			return homes.acknowledge(runId, identity.name, isFrozen && !this.#changes.has(name));
		});
		await Promise.all(acknowledged);
		clearTimeout(this.#moveTimer);
		if (moves.length > 0) this.#moveTimer = setTimeout(() => void this.#pollMovesAgain(), movePollMs).unref();
	}

	/** A root was removed. */
	clearCache(): void {
		this.#cached.clear();
	}

	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#moveTimer);
	}

	async #pollMovesAgain(): Promise<void> {
		try {
			await this.pollMoves();
		} catch (error) {
			// The next reload tries again.
			this.#dependencies.log.warn({ err: error }, 'the moves of homes could not be read from the database');
		}
	}

	async #find(username: string): Promise<Mount> {
		const { roots, homes, monotonic } = this.#dependencies;
		const polls = this.#movePolls;
		const { rootId, move } = await homes.findWithMove(username);
		if (polls === this.#movePolls) this.#setMove(username, move);
		let mount = rootId === undefined ? roots.first : roots.mountOf(rootId);
		if (mount === undefined) {
			await roots.reload();
			mount = roots.mountOf(rootId);
		}
		if (mount === undefined) throw new Failure('unavailable', 'The disk of these files is not known to this server.');
		this.#cached.delete(username);
		// While it is being moved each call queries it.
		if (move !== undefined || polls !== this.#movePolls) return mount;
		this.#cached.set(username, { mount, until: monotonic() + homeCacheMs });
		if (this.#cached.size > maxHomesCached) this.#cached.delete(this.#cached.keys().next().value as string);
		return mount;
	}

	#setMove(username: string, move: HomeMove | undefined): void {
		if (move === undefined && !this.#moves.has(username)) return;
		const moves = new Map(this.#moves);
		if (move === undefined) moves.delete(username);
		else moves.set(username, move);
		this.#moves = moves;
	}
}

/** Whether there is a home of that name on a root. */
export async function hasHome(storage: StorageProvider, username: string): Promise<boolean> {
	return (await undefinedIf(storage.stat(homeRoot(username)), 'notFound')) !== undefined;
}
