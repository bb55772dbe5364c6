import { isFailure } from '@stowage/rules';
import { NetworkFailure } from '../client/client.js';
import { UploadNetworkFailure, UploadRefusal } from './uploadFailures.js';
import type { UploadListener, UploadWait } from './uploads.js';

export interface Timing {
	now: () => number;
	/** Ends early when the network comes back; rejects when the signal is fired. */
	sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** How long a lost connection is waited for. */
const lostMilliseconds = 5 * 60_000;
/** A laptop that slept for the night has not waited for the night. */
const longestAttempt = 60_000;
const networkDelays = [500, 1000, 2000, 4000, 5000];
/** Some ten seconds together. */
const faultDelays = [1500, 3000, 5500];

/**
 * Decides after each failed attempt whether another one makes sense, and waits until then. One for each upload: what it
 * has waited counts together until bytes have moved.
 */
export class Patience {
	#lost = 0;
	#lostSince: number | undefined;
	#losses = 0;
	#faults = 0;
	#signIns = 0;

	constructor(
		private readonly listener: UploadListener,
		private readonly signal: AbortSignal,
		private readonly timing: Timing,
	) {}

	/** The server has answered. */
	goesOn(): void {
		this.#lostSince = undefined;
		this.listener.onWait(undefined);
	}

	/** Bytes have moved: whatever comes next is a new trouble. */
	progressed(): void {
		this.goesOn();
		this.#lost = 0;
		this.#losses = 0;
		this.#faults = 0;
		this.#signIns = 0;
	}

	/** Throws `error` when no further attempt makes sense. */
	async wait(error: unknown): Promise<void> {
		this.signal.throwIfAborted();
		if (isFailure(error, 'notSignedIn')) return this.#waitForSession(error);
		if (isLost(error)) return this.#waitForConnection('connection', new UploadNetworkFailure(error));
		if (isFailure(error, 'locked')) return this.#waitForConnection('server', error);
		if (isFault(error)) return this.#waitForServer(error);
		throw error;
	}

	async #waitForSession(error: unknown): Promise<void> {
		// A session that is there and not accepted would be asked for forever.
		if (++this.#signIns > 3) throw error;
		try {
			await this.listener.signedIn(this.signal);
		} catch (fault) {
			if (!isLost(fault)) throw fault;
			await this.#waitForConnection('connection', fault);
		}
	}

	async #waitForConnection(reason: UploadWait, error: unknown): Promise<void> {
		const now = this.timing.now();
		this.#lost += Math.min(now - (this.#lostSince ?? now), longestAttempt);
		this.#lostSince = now;
		if (this.#lost >= lostMilliseconds) throw error;
		this.listener.onWait(reason);
		const delay = networkDelays[Math.min(this.#losses++, networkDelays.length - 1)] ?? 0;
		await this.timing.sleep(delay, this.signal);
	}

	async #waitForServer(error: UploadRefusal): Promise<void> {
		const delay = faultDelays[this.#faults++];
		if (delay === undefined) throw error;
		this.listener.onWait('server');
		const asked = error.retryAfter === undefined ? delay : error.retryAfter * 1000;
		await this.timing.sleep(Math.min(asked, lostMilliseconds), this.signal);
	}
}

function isLost(error: unknown): boolean {
	// 408: the server has ended a request that stood still.
	return error instanceof NetworkFailure || (error instanceof UploadRefusal && error.httpStatus === 408);
}

function isFault(error: unknown): error is UploadRefusal {
	return error instanceof UploadRefusal && (error.httpStatus >= 500 || error.httpStatus === 429);
}

export const browserTiming: Timing = {
	now: () => Date.now(),
	sleep: (milliseconds, signal) =>
		new Promise((resolve, reject) => {
			const end = () => {
				clearTimeout(timer);
				removeEventListener('online', wake);
				signal.removeEventListener('abort', abort);
			};
			const wake = () => {
				end();
				resolve();
			};
			const abort = () => {
				end();
				reject(signal.reason);
			};
			const timer = setTimeout(wake, milliseconds);
			addEventListener('online', wake);
			if (signal.aborted) abort();
			else signal.addEventListener('abort', abort);
		}),
};
