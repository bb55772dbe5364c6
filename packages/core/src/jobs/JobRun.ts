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

/** How long a checkpoint waits before it tries again, while the database is away. */
const retryMs = 500;

interface Begun {
	key: JobRunKey;
	record: JobRecord;
	owner: JobOwner;
	attempt: number;
}

interface Dependencies {
	store: Pick<JobStore, 'checkpoint' | 'renew'>;
	/** Milliseconds of a clock that nobody sets. */
	monotonic(): number;
	/** Resolves after so long, or sooner if the signal fires. */
	wait(ms: number, signal: AbortSignal): Promise<void>;
	/** Hears of a detail that is too large to be kept. */
	onTooLarge(): void;
}

/** A job while this process runs it: its lease, its end and how far it is. */
export class JobRun {
	readonly key: JobRunKey;
	readonly #begun: Begun;
	readonly #parts: Dependencies;
	readonly #ending = new AbortController();
	#isCancelled = false;
	#hasLost = false;
	/** By the clock that nobody sets; counted from before the renewal was asked, so that it never ends later than the database says. */
	#leaseEnd: number;
	#renewedAt: number;
	#progress: JobProgressRecord | undefined;
	#meter: SpeedMeter | undefined;
	#isPublished = true;
	#isStored = true;

	/** `claimedAt` is when the claim was asked. */
	constructor(begun: Begun, claimedAt: number, parts: Dependencies) {
		this.key = begun.key;
		this.#begun = begun;
		this.#parts = parts;
		this.#renewedAt = claimedAt;
		this.#leaseEnd = claimedAt + jobLimits.leaseMs;
	}

	get signal(): AbortSignal {
		return this.#ending.signal;
	}

	get isCancelled(): boolean {
		return this.#isCancelled;
	}

	get owner(): JobOwner {
		return this.#begun.owner;
	}

	/** The job with how far it is right now. */
	get record(): JobRecord {
		return { ...this.#begun.record, ...this.#progress };
	}

	/** Whether it has come further since this was asked the last time. */
	takeProgress(): boolean {
		const hasProgress = !this.#isPublished;
		this.#isPublished = true;
		return hasProgress;
	}

	contextOf<Input>(input: Input, saved: unknown): JobContext<Input> {
		const run = this;
		const { owner, attempt, key } = this.#begun;
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
			progress: (progress) => this.#note(progress),
		};
	}

	/** Its owner wants the end. */
	cancel(): void {
		this.#isCancelled = true;
		this.#ending.abort(new Failure('conflict', 'It was cancelled.'));
	}

	/** The server stops. */
	stop(): void {
		this.#ending.abort(new Failure('unavailable', 'The server is stopping.'));
	}

	/** Another process runs it, or may. */
	lose(): void {
		this.#hasLost = true;
		this.#ending.abort(new Failure('conflict', 'Another process runs this job now.'));
	}

	/** Ends it once its lease could not be renewed in time: somebody else may hold it by now. */
	loseIfExpired(): void {
		if (this.#parts.monotonic() >= this.#leaseEnd) this.lose();
	}

	/** Renews its lease where that is due, or there is news for other processes. Throws what the database throws. */
	async renew(): Promise<void> {
		const askedAt = this.#parts.monotonic();
		const progress = this.#isStored ? undefined : this.#progress;
		if (this.#hasLost || (progress === undefined && askedAt - this.#renewedAt < jobLimits.renewMs)) return;
		this.#isStored = true;
		try {
			this.#hold(await this.#parts.store.renew(this.key, jobLimits.leaseMs, progress), askedAt);
		} catch (error) {
			this.#isStored = progress === undefined;
			throw error;
		}
	}

	#hold(isHeld: boolean, askedAt: number): void {
		if (!isHeld) this.lose();
		this.#renewedAt = Math.max(this.#renewedAt, askedAt);
		this.#leaseEnd = this.#renewedAt + jobLimits.leaseMs;
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
				this.#hold(await store.checkpoint(this.key, jobLimits.leaseMs, saved), askedAt);
				if (this.#hasLost) throw this.signal.reason;
				return;
			} catch (error) {
				// A database that is away for a moment ends no work of hours; if it stays away the lease runs out.
				if (!isFailure(error, 'unavailable') || this.signal.aborted) throw error;
				await wait(retryMs, this.signal);
			}
		}
	}

	#note({ done, total, unit, detail }: JobProgress): void {
		const text = detail === undefined ? null : JSON.stringify(detail);
		const isTooLarge = text !== null && Buffer.byteLength(text) > jobLimits.detailBytes;
		if (isTooLarge) this.#parts.onTooLarge();
		const now = this.#parts.monotonic();
		if (this.#progress !== undefined && this.#progress.unit !== unit) this.#meter = undefined;
		if (this.#meter === undefined || now - this.#meter.at >= sampleMs)
			this.#meter = measureSpeed(this.#meter, now, positive(done));
		const speed = bytesPerSecond(this.#meter) ?? null;
		const left = Math.max(0, positive(total) - positive(done));
		this.#progress = {
			done: positive(done),
			total: positive(total),
			unit,
			speed,
			timeLeft: speed === null || speed <= 0 || positive(total) === 0 ? null : left / speed,
			detail: isTooLarge ? null : text,
		};
		this.#isPublished = false;
		this.#isStored = false;
	}
}

function positive(value: number): number {
	return Number.isFinite(value) && value > 0 ? value : 0;
}
