import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@stowage/core';

/** Pauses between attempts grow to the longest. */
const firstPauseMs = 500;
const longestPauseMs = 10_000;

/** How often the log says that the start still waits. */
const logEveryMs = 10 * 60_000;

/**
 * The wait of a start for what is not available, such as a database server or the disk of the data folder after a machine has booted: it
 * lasts as long as that does. `onWaiting` is told the reason before each pause.
 */
export class StartWait {
	readonly #log: Log;
	readonly #onWaiting: (reason: string) => void;
	#pauseMs = firstPauseMs;
	#beganAt: number | undefined;
	#logged = { what: '', at: 0 };

	constructor(log: Log, onWaiting: (reason: string) => void) {
		this.#log = log;
		this.#onWaiting = onWaiting;
	}

	/** Resolves when the start is to be tried again. */
	readonly pause = async (what: string, error: Error): Promise<void> => {
		const now = performance.now();
		this.#beganAt ??= now;
		this.#onWaiting(`Waiting for the ${what}${reasonOf(error)}`);
		if (this.#logged.what !== what || now - this.#logged.at >= logEveryMs) {
			this.#logged = { what, at: now };
			this.#log.warn({ err: error }, `the ${what} is not available: the start waits for it`);
		}
		await delay(this.#pauseMs);
		this.#pauseMs = Math.min(longestPauseMs, this.#pauseMs * 2);
	};

	/** Called once nothing is lacking. */
	end(): void {
		if (this.#beganAt === undefined) return;
		const seconds = Math.round((performance.now() - this.#beganAt) / 1000);
		this.#log.info({ seconds }, `the ${this.#logged.what} is available, and the start goes on`);
	}
}

/** What the driver or the system said, on one line. */
function reasonOf({ cause }: Error): string {
	if (!(cause instanceof Error)) return '';
	const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
	return ` (${code.replaceAll(/[^\w.-]/g, ' ')})`;
}
