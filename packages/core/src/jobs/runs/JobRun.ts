import type { JobContext, JobOwner, JobRecord, JobRunKey, JobStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { jobLimits } from '../jobLimits.js';
import { RunLease, type RunLeaseParts } from './RunLease.js';
import { RunProgress } from './RunProgress.js';
import { isForNow } from './retryForNow.js';

interface StartedRun {
	key: JobRunKey;
	record: JobRecord;
	owner: JobOwner;
	/** Of whom asked for it. */
	network: string;
	attempt: number;
	place: JobPlace;
	/** Whether no other suspect is tried meanwhile. */
	isOnTrial: boolean;
}

/** Where a job runs: one for short jobs is given back by a run that takes longer. */
export interface JobPlace {
	/** Unique among all processes. */
	slot: string;
	/** The seconds that a run in it may take, twice for one that nobody has estimated; undefined in a place for all. */
	shortSeconds?: number;
}

interface Dependencies extends Pick<RunLeaseParts, 'monotonic' | 'wait'> {
	store: Pick<JobStore, 'checkpoint' | 'renew' | 'setLong' | 'endTrial'>;
	/** Fires when a stopping server waits for its runs no longer. */
	giveUp: AbortSignal;
	/** From how many seconds on a job counts as long; infinite for a kind without places for short jobs. */
	longAfterSeconds: number;
	/** Called for a detail that is too large to be stored. */
	onTooLarge(): void;
}

/** A job while this process runs it: its lease, its end and how far it is. */
export class JobRun {
	readonly key: JobRunKey;
	readonly owner: JobOwner;
	/** The network that asked for it. */
	readonly network: string;
	/** The number of this run, from 1. */
	readonly attempt: number;
	readonly place: JobPlace;
	readonly #claimed: JobRecord;
	readonly #parts: Dependencies;
	readonly #ending = new AbortController();
	/** Aborted once checkpoints are given up: when the run is revoked, or the server has stopped waiting for it. */
	readonly #savingEnded: AbortSignal;
	readonly #revoking = new AbortController();
	readonly #lease: RunLease;
	readonly #progress: RunProgress;
	#isCancelled = false;
	#hasYielded = false;
	/** How much of what it does now is for itself alone. */
	#privateWork = 0;
	readonly #claimedAt: number;
	/** When it was told first that it is to end for good here. */
	#revokedAt = Number.POSITIVE_INFINITY;
	#isOnTrial: boolean;

	/** `claimedAt` is the time before the claim was sent. */
	constructor(begun: StartedRun, claimedAt: number, parts: Dependencies) {
		this.key = begun.key;
		this.owner = begun.owner;
		this.network = begun.network;
		this.attempt = begun.attempt;
		this.place = begun.place;
		this.#claimed = begun.record;
		this.#parts = parts;
		this.#isOnTrial = begun.isOnTrial;
		this.#claimedAt = claimedAt;
		this.#savingEnded = AbortSignal.any([this.#revoking.signal, parts.giveUp]);
		this.#lease = new RunLease(begun.key, claimedAt, {
			...{ store: parts.store, monotonic: parts.monotonic, wait: parts.wait },
			savingEnded: this.#savingEnded,
		});
		this.#progress = new RunProgress(parts.monotonic, parts.onTooLarge);
	}

	get signal(): AbortSignal {
		return this.#ending.signal;
	}

	get isCancelled(): boolean {
		return this.#isCancelled;
	}

	/** Whether it is to be queued again, for a place for long work. */
	get hasYielded(): boolean {
		return this.#hasYielded;
	}

	/** Whether no other suspect is tried meanwhile. */
	get isOnTrial(): boolean {
		return this.#isOnTrial;
	}

	/** The job with how far it is right now. */
	get record(): JobRecord {
		return { ...this.#claimed, ...this.#progress.record };
	}

	/** Whether it has progressed since the last call. */
	takeChangedProgress(): boolean {
		const hasProgress = !this.#progress.isPublished;
		this.#progress.isPublished = true;
		return hasProgress;
	}

	contextOf<Input>(input: Input, saved: unknown): JobContext<Input> {
		const run = this;
		return {
			id: this.key.id,
			viewer: this.owner,
			input,
			attempt: this.attempt,
			saved,
			signal: this.signal,
			get isCancelled() {
				return run.#isCancelled;
			},
			checkpoint: (value) => this.#checkpoint(value),
			privately: (work) => this.#privately(work),
			expect: (seconds) => this.#expect(seconds),
			progress: (progress) => this.#progress.report(progress),
		};
	}

	/** Called when its owner cancels it. */
	cancel(): void {
		this.#isCancelled = true;
		this.#revoke('It was cancelled.');
	}

	/** Called when the server stops. */
	stop(): void {
		this.#ending.abort(new Failure('unavailable', 'The server is stopping.'));
	}

	/** Called when a place for short jobs is needed for another one. */
	yield(): void {
		this.#hasYielded = true;
		this.#revoke('It waits for a place for long work.');
	}

	/** Whether it has had a place for short jobs for twice as long as those take. */
	isOverdue(): boolean {
		const { shortSeconds } = this.place;
		return shortSeconds !== undefined && this.#parts.monotonic() - this.#claimedAt >= 2000 * shortSeconds;
	}

	/**
	 * Whether it was cancelled or gives back its place, and will soon have ended. One that was told so for long may hang, as on a share of a
	 * network that is gone.
	 */
	isLeaving(): boolean {
		const isTold = this.#hasYielded || this.#isCancelled;
		return isTold && this.#parts.monotonic() - this.#revokedAt < jobLimits.leavingMs;
	}

	/** Called when another process runs it, or may. */
	lose(): void {
		this.#lease.lose();
		this.#revoke('Another process runs this job now.');
	}

	#revoke(reason: string): void {
		this.#revokedAt = Math.min(this.#revokedAt, this.#parts.monotonic());
		this.#ending.abort(new Failure('conflict', reason));
		this.#revoking.abort();
	}

	/**
	 * Aborts the run if its lease could not be renewed in time: another process may hold it by now. What it does for itself alone goes on
	 * until the database says so.
	 */
	loseIfExpired(): void {
		if (this.#privateWork === 0 && this.#lease.isExpired) this.lose();
	}

	/** Ends its trial if that has lasted for long enough. Throws the database's errors. */
	async endTrial(): Promise<void> {
		if (!this.#isOnTrial || this.#lease.isLost) return;
		if (this.#parts.monotonic() - this.#claimedAt < jobLimits.trialMs) return;
		// Others wait for it, so an error is followed by another attempt.
		await this.#parts.store.endTrial(this.key);
		this.#isOnTrial = false;
	}

	/** Renews its lease if that is due, or if there is progress to publish to other processes. Throws the database's errors. */
	async renew(): Promise<void> {
		const progress = this.#progress.isStored ? undefined : this.#progress.record;
		if (this.#lease.isLost || (progress === undefined && !this.#lease.isDue)) return;
		this.#progress.isStored = true;
		try {
			await this.#lease.renew(progress);
			if (this.#lease.isLost) this.lose();
		} catch (error) {
			this.#progress.isStored = progress === undefined;
			throw error;
		}
	}

	async #privately<T>(work: () => Promise<T>): Promise<T> {
		// As the server stops, what was done before may still be saved.
		if (this.#savingEnded.aborted) throw this.signal.reason;
		this.#privateWork++;
		try {
			try {
				return await work();
			} finally {
				// What follows may be for others.
				await this.#lease.hold();
				this.#throwIfLost();
			}
		} finally {
			this.#privateWork--;
		}
	}

	/** Throws if another process has the job. */
	#throwIfLost(): void {
		if (!this.#lease.isLost) return;
		this.lose();
		throw this.signal.reason;
	}

	async #expect(seconds: number): Promise<void> {
		this.signal.throwIfAborted();
		if (!(seconds > this.#parts.longAfterSeconds)) return;
		if (this.place.shortSeconds !== undefined) {
			this.yield();
			throw this.signal.reason;
		}
		try {
			if (!(await this.#parts.store.setLong(this.key))) this.lose();
		} catch (error) {
			// It only counts for the order of the queue.
			if (!isForNow(error)) throw error;
		}
		this.signal.throwIfAborted();
	}

	async #checkpoint(value: unknown): Promise<void> {
		const saved = JSON.stringify(value ?? null);
		if (Buffer.byteLength(saved) > jobLimits.savedBytes)
			throw new Failure('tooLarge', 'This job has too much to remember.');
		await this.#lease.checkpoint(saved);
		this.#throwIfLost();
	}
}
