import type {
	JobContext,
	JobOwner,
	JobProgress,
	JobProgressRecord,
	JobRecord,
	JobRunKey,
	JobStore,
} from '@stowage/plugin-api';
import { bytesPerSecond, Failure, isFailure, measureSpeed, type SpeedMeter } from '@stowage/rules';
import { jobLimits } from './jobLimits.js';

/** Least time between two samples of the speed. */
const sampleMs = 250;

/** Beyond these seconds, a month, a time that is left is no estimate: the work stands still. */
const maxTimeLeft = 30 * 24 * 60 * 60;

/** How long a checkpoint waits before a retry, while the database is not available. */
const retryMs = 500;

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

interface Dependencies {
	store: Pick<JobStore, 'checkpoint' | 'renew' | 'setLong' | 'endTrial'>;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** Resolves after this many milliseconds, or sooner if the signal fires. */
	wait(ms: number, signal: AbortSignal): Promise<void>;
	/** Fires when a stopping server waits for its runs no longer. */
	giveUp: AbortSignal;
	/** From how many seconds on a job counts as long; infinite for a kind without places for short jobs. */
	longAfterSeconds: number;
	/** Called with the size of a detail that is too large to be stored. */
	onTooLarge(): void;
}

/** A job while this process runs it: its lease, its end and how far it is. */
export class JobRun {
	readonly key: JobRunKey;
	readonly #started: StartedRun;
	readonly #parts: Dependencies;
	readonly #ending = new AbortController();
	/** Aborted once checkpoints are given up: when the run is revoked, or the server has stopped waiting for it. */
	readonly #savingEnded: AbortSignal;
	readonly #revoking = new AbortController();
	#isCancelled = false;
	#hasLost = false;
	#hasYielded = false;
	/** How much of what it does now is for itself alone. */
	#privateWork = 0;
	readonly #claimedAt: number;
	/** When it was told first that it is to end for good here. */
	#revokedAt = Number.POSITIVE_INFINITY;
	#isOnTrial: boolean;
	/** Its end by the monotonic clock, counted from before the renewal was requested, so that it is never later than in the database. */
	#leaseEnd: number;
	#renewedAt: number;
	#progress: JobProgressRecord | undefined;
	#meter: SpeedMeter | undefined;
	#isPublished = true;
	#isStored = true;

	/** `claimedAt` is the time before the claim was sent. */
	constructor(begun: StartedRun, claimedAt: number, parts: Dependencies) {
		this.key = begun.key;
		this.#started = begun;
		this.#parts = parts;
		this.#isOnTrial = begun.isOnTrial;
		this.#claimedAt = claimedAt;
		this.#renewedAt = claimedAt;
		this.#leaseEnd = claimedAt + jobLimits.leaseMs;
		this.#savingEnded = AbortSignal.any([this.#revoking.signal, parts.giveUp]);
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

	/** The number of this run, from 1. */
	get attempt(): number {
		return this.#started.attempt;
	}

	get place(): JobPlace {
		return this.#started.place;
	}

	/** Whether no other suspect is tried meanwhile. */
	get isOnTrial(): boolean {
		return this.#isOnTrial;
	}

	get owner(): JobOwner {
		return this.#started.owner;
	}

	/** The network that asked for it. */
	get network(): string {
		return this.#started.network;
	}

	/** The job with how far it is right now. */
	get record(): JobRecord {
		return { ...this.#started.record, ...this.#progress };
	}

	/** Whether it has progressed since the last call. */
	takeChangedProgress(): boolean {
		const hasProgress = !this.#isPublished;
		this.#isPublished = true;
		return hasProgress;
	}

	contextOf<Input>(input: Input, saved: unknown): JobContext<Input> {
		const run = this;
		const { owner, attempt, key } = this.#started;
		return {
			id: key.id,
			viewer: owner,
			input,
			attempt,
			saved,
			signal: this.signal,
			get isCancelled() {
				return run.#isCancelled;
			},
			checkpoint: (value) => this.#checkpoint(value),
			privately: (work) => this.#privately(work),
			expect: (seconds) => this.#expect(seconds),
			progress: (progress) => this.#setProgress(progress),
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
		this.#hasLost = true;
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
		if (this.#privateWork === 0 && this.#isExpired()) this.lose();
	}

	#isExpired(): boolean {
		return this.#parts.monotonic() >= this.#leaseEnd;
	}

	/** Ends its trial if that has lasted for long enough. Throws the database's errors. */
	async endTrial(): Promise<void> {
		if (!this.#isOnTrial || this.#hasLost) return;
		if (this.#parts.monotonic() - this.#claimedAt < jobLimits.trialMs) return;
		// Others wait for it, so an error is followed by another attempt.
		await this.#parts.store.endTrial(this.key);
		this.#isOnTrial = false;
	}

	/** Renews its lease if that is due, or if there is progress to publish to other processes. Throws the database's errors. */
	async renew(): Promise<void> {
		const requestedAt = this.#parts.monotonic();
		const progress = this.#isStored ? undefined : this.#progress;
		if (this.#hasLost || (progress === undefined && requestedAt - this.#renewedAt < jobLimits.renewMs)) return;
		this.#isStored = true;
		try {
			this.#setLease(await this.#parts.store.renew(this.key, jobLimits.leaseMs, progress), requestedAt);
		} catch (error) {
			this.#isStored = progress === undefined;
			throw error;
		}
	}

	#setLease(isHeld: boolean, requestedAt: number): void {
		if (!isHeld) this.lose();
		this.#renewedAt = Math.max(this.#renewedAt, requestedAt);
		this.#leaseEnd = this.#renewedAt + jobLimits.leaseMs;
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
				await this.#hold();
			}
		} finally {
			this.#privateWork--;
		}
	}

	/** Renews the lease if it may have ended meanwhile, however long that takes. Throws if another process has the job. */
	async #hold(): Promise<void> {
		const { monotonic, store, wait } = this.#parts;
		while (!this.#hasLost && this.#isExpired()) {
			const requestedAt = monotonic();
			try {
				this.#setLease(await store.renew(this.key, jobLimits.leaseMs), requestedAt);
			} catch (error) {
				if (!isForNow(error) || this.#savingEnded.aborted) throw error;
				await wait(retryMs, this.#savingEnded);
			}
		}
		if (this.#hasLost) throw this.signal.reason;
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
		const { monotonic, store, wait } = this.#parts;
		for (;;) {
			if (this.#hasLost) throw this.signal.reason;
			const askedAt = monotonic();
			try {
				this.#setLease(await store.checkpoint(this.key, jobLimits.leaseMs, saved), askedAt);
				if (this.#hasLost) throw this.signal.reason;
				return;
			} catch (error) {
				// A short outage of the database does not end hours of work; during a long one the lease expires, but for private work.
				if (!isForNow(error) || this.#savingEnded.aborted) throw error;
				await wait(retryMs, this.#savingEnded);
			}
		}
	}

	#setProgress({ done, total, unit, detail }: JobProgress): void {
		const text = detail === undefined ? null : JSON.stringify(detail);
		const isTooLarge = text !== null && Buffer.byteLength(text) > jobLimits.detailBytes;
		if (isTooLarge) this.#parts.onTooLarge();
		const now = this.#parts.monotonic();
		if (this.#progress !== undefined && this.#progress.unit !== unit) this.#meter = undefined;
		if (this.#meter === undefined || now - this.#meter.at >= sampleMs)
			this.#meter = measureSpeed(this.#meter, now, positive(done));
		const speed = bytesPerSecond(this.#meter) ?? null;
		const left = Math.max(0, positive(total) - positive(done));
		const timeLeft = speed === null || speed <= 0 || positive(total) === 0 ? Number.POSITIVE_INFINITY : left / speed;
		this.#progress = {
			done: positive(done),
			total: positive(total),
			unit,
			speed,
			timeLeft: timeLeft > maxTimeLeft ? null : timeLeft,
			detail: isTooLarge ? null : text,
		};
		this.#isPublished = false;
		this.#isStored = false;
	}
}

/** Whether the database is away or full: for now nobody can write there, neither this run nor who would take its job. */
function isForNow(error: unknown): boolean {
	return isFailure(error, 'unavailable') || isFailure(error, 'storageFull');
}

function positive(value: number): number {
	return Number.isFinite(value) && value > 0 ? value : 0;
}
