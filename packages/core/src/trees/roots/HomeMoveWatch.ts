import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '@stowage/database';
import type { HomeMove } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Log } from '../../log.js';

export interface HomeMoveWatchParts {
	homes: Pick<Database['homes'], 'acknowledge' | 'acknowledgements' | 'findWithMove' | 'listMoves' | 'setFrozen'>;
	log: Log;
	/** The identity of this process, and whether another one has certainly ended. */
	identity: { readonly name: string; hasEnded(name: string): Promise<boolean> };
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** How often each process reads the list of roots, and with it the moves of homes. */
	reloadMs: number;
}

/** How long a process may cache the root of a home, unless it knows that the home is being moved. */
export const homeCacheMs = 1000;

/** How often a process polls for moves of homes. */
const pollMs = 200;

/** A process that has not acknowledged moves for this long counts as dead. */
const acknowledgementTimeoutMs = 10_000;

/**
 * The homes that are being moved, by the database. A home that moves is frozen at its end, in every process, until it
 * lies on its new root.
 */
export class HomeMoveWatch {
	readonly #parts: HomeMoveWatchParts;
	/** Called with each home that is being moved, at each poll. */
	readonly #onMoving: (username: string) => void;
	/** Moves by the name of the home, as of the last poll or look-up in this process. */
	#moves: ReadonlyMap<string, HomeMove> = new Map();
	/** The number of changes of each home under way in this process. */
	readonly #changes = new Map<string, number>();
	/** Grows with each poll: a look-up of a home that began before may have an older result. */
	#polls = 0;
	#timer: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(parts: HomeMoveWatchParts, onMoving: (username: string) => void) {
		this.#parts = parts;
		this.#onMoving = onMoving;
	}

	get polls(): number {
		return this.#polls;
	}

	/** Runs `change` of a home, after `look`, which finds out whether it is being moved. Throws `locked` while it is frozen. */
	async changing<T>(username: string, look: () => unknown, change: () => Promise<T>): Promise<T> {
		// Counted before the check: a change that is not counted yet sees that the home is frozen.
		this.#changes.set(username, (this.#changes.get(username) ?? 0) + 1);
		try {
			await look();
			this.assertUnfrozen(username);
			return await change();
		} finally {
			const left = (this.#changes.get(username) ?? 1) - 1;
			if (left === 0) this.#changes.delete(username);
			else this.#changes.set(username, left);
		}
	}

	/** Throws `locked` while the home is frozen. */
	assertUnfrozen(username: string): void {
		if (!this.#moves.get(username)?.isFrozen) return;
		throw homeIsMoving();
	}

	/**
	 * Blocks changes of the home that this run of a job moves, and resolves once all changes of it have ended, in every
	 * process. `begunAt` is when the move was recorded, by the monotonic clock: processes poll for it a little later.
	 * Throws `conflict` if another run moves it by now.
	 */
	async blockChanges(runId: string, begunAt: number, signal: AbortSignal): Promise<void> {
		const { monotonic, identity, homes, reloadMs } = this.#parts;
		await wait(Math.max(0, begunAt + reloadMs + pollMs - monotonic()), undefined, { signal });
		if (!(await homes.setFrozen(runId, true))) throw new Failure('conflict', 'Another process moves this home now.');
		const blockedAt = monotonic();
		for (;;) {
			signal.throwIfAborted();
			await this.poll();
			const processes = await homes.acknowledgements(runId, acknowledgementTimeoutMs);
			const alive = await Promise.all(
				processes.map(async ({ holder, hasStopped, isSilent }) => {
					if (hasStopped || isSilent) return false;
					return holder === identity.name || !(await identity.hasEnded(holder));
				}),
			);
			// A process without an acknowledgement may use a cached root for a moment.
			if (!alive.includes(true) && monotonic() - blockedAt > homeCacheMs) return;
			await wait(pollMs, undefined, { signal });
		}
	}

	/** Reads which homes are being moved, and acknowledges them: also that their changes have ended where they are frozen. */
	async poll(): Promise<void> {
		const { homes, identity } = this.#parts;
		const moves = await homes.listMoves();
		if (this.#isClosed) return;
		this.#polls++;
		this.#moves = new Map(moves.map((move) => [move.name, move]));
		const acknowledged = moves.map(({ name, runId, isFrozen }) => {
			this.#onMoving(name);
			return homes.acknowledge(runId, identity.name, isFrozen && !this.#changes.has(name));
		});
		await Promise.all(acknowledged);
		clearTimeout(this.#timer);
		if (moves.length > 0) this.#timer = setTimeout(() => void this.#pollAgain(), pollMs).unref();
	}

	/** Records what a look-up of a home that began after this many polls found out. */
	record(username: string, move: HomeMove | undefined, polls: number): void {
		if (polls !== this.#polls || (move === undefined && !this.#moves.has(username))) return;
		const moves = new Map(this.#moves);
		if (move === undefined) moves.delete(username);
		else moves.set(username, move);
		this.#moves = moves;
	}

	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#timer);
	}

	async #pollAgain(): Promise<void> {
		try {
			await this.poll();
		} catch (error) {
			// The next reload tries again.
			this.#parts.log.warn({ err: error }, 'the moves of homes could not be read from the database');
		}
	}
}

/** The refusal of a change of a home that is being moved: it succeeds once the home lies on its new root. */
export function homeIsMoving(): Failure {
	return new Failure('locked', 'These files are being moved to another disk. Please try again in a moment.', {
		retryAfter: 2,
	});
}
