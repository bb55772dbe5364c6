import type { JobProgressRecord, JobRunKey, JobStore } from '@stowage/plugin-api';
import { jobLimits } from '../jobLimits.js';
import { retryForNow } from './retryForNow.js';

/** How long a write waits before a retry, while the database is not available. */
const retryMs = 500;

export interface RunLeaseParts {
	store: Pick<JobStore, 'checkpoint' | 'renew'>;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** Resolves after this many milliseconds, or sooner if the signal fires. */
	wait(ms: number, signal: AbortSignal): Promise<void>;
	/** Aborted once nothing is saved any more. */
	savingEnded: AbortSignal;
}

/** The lease of a run, by which no other process runs its job. */
export class RunLease {
	readonly #key: JobRunKey;
	readonly #parts: RunLeaseParts;
	#isLost = false;
	/** Its end by the monotonic clock, counted from before the renewal was requested, so that it is never later than in the database. */
	#end: number;
	#renewedAt: number;

	/** `claimedAt` is the time before the claim was sent. */
	constructor(key: JobRunKey, claimedAt: number, parts: RunLeaseParts) {
		this.#key = key;
		this.#parts = parts;
		this.#renewedAt = claimedAt;
		this.#end = claimedAt + jobLimits.leaseMs;
	}

	/** Whether another process runs the job, or may. */
	get isLost(): boolean {
		return this.#isLost;
	}

	get isExpired(): boolean {
		return this.#parts.monotonic() >= this.#end;
	}

	get isDue(): boolean {
		return this.#parts.monotonic() - this.#renewedAt >= jobLimits.renewMs;
	}

	lose(): void {
		this.#isLost = true;
	}

	/** Throws the database's errors. */
	async renew(progress?: JobProgressRecord): Promise<void> {
		const requestedAt = this.#parts.monotonic();
		this.#set(await this.#parts.store.renew(this.#key, jobLimits.leaseMs, progress), requestedAt);
	}

	/** Renews it if it may have ended, however long that takes. */
	hold(): Promise<void> {
		return this.#retried(async () => {
			if (!this.#isLost && this.isExpired) await this.renew();
		});
	}

	/** A short outage of the database does not end hours of work; during a long one the lease expires, but for private work. */
	checkpoint(saved: string): Promise<void> {
		return this.#retried(async () => {
			if (this.#isLost) return;
			const requestedAt = this.#parts.monotonic();
			this.#set(await this.#parts.store.checkpoint(this.#key, jobLimits.leaseMs, saved), requestedAt);
		});
	}

	#retried(attempt: () => Promise<void>): Promise<void> {
		const { wait, savingEnded } = this.#parts;
		return retryForNow(attempt, savingEnded, () => wait(retryMs, savingEnded));
	}

	#set(isHeld: boolean, requestedAt: number): void {
		if (!isHeld) this.#isLost = true;
		this.#renewedAt = Math.max(this.#renewedAt, requestedAt);
		this.#end = this.#renewedAt + jobLimits.leaseMs;
	}
}
