import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@stowage/core';

/** Pauses between attempts grow to the longest. */
const firstPauseMs = 500;
const longestPauseMs = 10_000;

/** How often the log says that the start still waits. */
const logEveryMs = 10 * 60_000;

/**
 * The wait of a start for a database server that is not available, as after the machines of both have booted: it lasts as long as that does.
 * `onWaiting` is told the reason before each pause.
 */
export class DatabaseWait {
	readonly #log: Log;
	readonly #onWaiting: (reason: string) => void;
	#pauseMs = firstPauseMs;
	#beganAt: number | undefined;
	#loggedAt = Number.NEGATIVE_INFINITY;

	constructor(log: Log, onWaiting: (reason: string) => void) {
		this.#log = log;
		this.#onWaiting = onWaiting;
	}

	/** Resolves when the database is to be opened again. */
	readonly pause = async (error: Error): Promise<void> => {
		const now = performance.now();
		this.#beganAt ??= now;
		this.#onWaiting(`Waiting for the database${reasonOf(error)}`);
		if (now - this.#loggedAt >= logEveryMs) {
			this.#loggedAt = now;
			this.#log.warn({ err: error }, 'the database is not available: the start waits for it');
		}
		await delay(this.#pauseMs);
		this.#pauseMs = Math.min(longestPauseMs, this.#pauseMs * 2);
	};

	/** Called once the database is open. */
	end(): void {
		if (this.#beganAt === undefined) return;
		const seconds = Math.round((performance.now() - this.#beganAt) / 1000);
		this.#log.info({ seconds }, 'the database is available, and the start goes on');
	}
}

/** What the driver or the system said, on one line. */
function reasonOf({ cause }: Error): string {
	if (!(cause instanceof Error)) return '';
	const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
	return ` (${code.replaceAll(/[^\w.-]/g, ' ')})`;
}
