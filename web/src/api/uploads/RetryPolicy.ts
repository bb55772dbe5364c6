import { isFailure } from '@stowage/rules';
import { NetworkFailure } from '../client/client.js';
import type { UploadListener, UploadWait } from './upload.js';
import { UploadNetworkFailure, UploadRefusal } from './uploadFailures.js';

export interface Timing {
	now: () => number;
	/** Ends early when the network is available again; rejects when the signal is aborted. */
	sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** An upload fails after this long without a connection. */
const maxOfflineMs = 5 * 60_000;
/** One attempt counts for no more than this, so that the night in which a laptop slept does not count as offline. */
const maxAttemptMs = 60_000;
const connectionDelays = [500, 1000, 2000, 4000, 5000];
/** Some ten seconds in all. */
const serverErrorDelays = [1500, 3000, 5500];
const maxSignIns = 3;

/** Decides after each failed attempt of one upload whether to retry, and waits until then. Its counts begin anew once bytes were sent. */
export class RetryPolicy {
	#offlineMs = 0;
	#offlineSince: number | undefined;
	#connectionFailures = 0;
	#serverErrors = 0;
	#signIns = 0;

	constructor(
		private readonly listener: UploadListener,
		private readonly signal: AbortSignal,
		private readonly timing: Timing,
	) {}

	/** The server has responded, whatever the response. */
	onResponse(): void {
		this.#offlineSince = undefined;
		this.listener.onWait(undefined);
	}

	/** The upload made progress: later failures are counted from zero. */
	onProgress(): void {
		this.onResponse();
		this.#offlineMs = 0;
		this.#connectionFailures = 0;
		this.#serverErrors = 0;
		this.#signIns = 0;
	}

	/** Returns when the next attempt is due. Throws `error` if there is to be none. */
	async waitToRetry(error: unknown): Promise<void> {
		this.signal.throwIfAborted();
		if (isFailure(error, 'notSignedIn')) return this.#waitForSignIn(error);
		if (isConnectionFailure(error)) return this.#waitForConnection('connection', new UploadNetworkFailure(error));
		if (isFailure(error, 'locked')) return this.#waitForConnection('server', error);
		if (isServerError(error)) return this.#waitForServer(error);
		throw error;
	}

	/**
	 * Returns once the upload's user is signed in, or the next attempt is due since that could not be asked. Resolves to
	 * whether it had to wait for either.
	 */
	async waitForUser(): Promise<boolean> {
		try {
			return await this.listener.waitForSignIn(this.signal);
		} catch (failure) {
			if (!isConnectionFailure(failure)) throw failure;
			await this.#waitForConnection('connection', failure);
			return true;
		}
	}

	async #waitForSignIn(error: unknown): Promise<void> {
		// A session that exists and is refused all the same would be retried for ever.
		if (++this.#signIns > maxSignIns) throw error;
		await this.waitForUser();
	}

	async #waitForConnection(reason: UploadWait, error: unknown): Promise<void> {
		const now = this.timing.now();
		this.#offlineMs += Math.min(now - (this.#offlineSince ?? now), maxAttemptMs);
		this.#offlineSince = now;
		if (this.#offlineMs >= maxOfflineMs) throw error;
		this.listener.onWait(reason);
		const delay = connectionDelays[Math.min(this.#connectionFailures++, connectionDelays.length - 1)] ?? 0;
		await this.timing.sleep(delay, this.signal);
	}

	async #waitForServer(error: UploadRefusal): Promise<void> {
		const delay = serverErrorDelays[this.#serverErrors++];
		if (delay === undefined) throw error;
		this.listener.onWait(waitAfter(error));
		const requested = error.retryAfter === undefined ? delay : error.retryAfter * 1000;
		await this.timing.sleep(Math.min(requested, maxOfflineMs), this.signal);
	}
}

function isConnectionFailure(error: unknown): boolean {
	// 408: the server has ended a request that made no progress.
	return error instanceof NetworkFailure || (error instanceof UploadRefusal && error.httpStatus === 408);
}

/** A server that has no room, or has had enough from here, is ready: what is to be done about it is another thing. */
function waitAfter({ cause }: UploadRefusal): UploadWait {
	if (isFailure(cause, 'storageFull')) return 'space';
	return isFailure(cause, 'rateLimited') ? 'limit' : 'server';
}

function isServerError(error: unknown): error is UploadRefusal {
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
