import type { JobStatus } from '@stowage/contract';
import type { Viewer } from '@stowage/rules';
import type { z } from 'zod';

/** A signed-in user, who owns the job. */
export type JobOwner = Extract<Viewer, { kind: 'user' }>;

export type { JobStatus };

export interface JobProgress {
	/** How much is done of `total`. */
	done: number;
	total: number;
	unit: 'bytes' | 'items' | 'percent';
	/** Further progress of the kind, such as frames a second; small, and JSON. */
	detail?: Record<string, unknown>;
}

export interface JobHold {
	/** A sentence for people. */
	readonly reason: string;
	/** Before this time it does not begin by itself; null where nobody can tell. */
	readonly until: number | null;
}

/** A job as shown to its owner. Times are milliseconds since the epoch. */
export interface Job extends Omit<JobProgress, 'detail'> {
	readonly id: string;
	readonly kind: string;
	readonly status: JobStatus;
	readonly title: string;
	/** Units a second; null while it is unknown. */
	readonly speed: number | null;
	/** Seconds; null while it is unknown. */
	readonly timeLeft: number | null;
	/** Why it failed, for people; for a cancelled one, what it had done. */
	readonly error: string | null;
	readonly canRetry: boolean;
	/** Whether its user may cancel it: it has not ended, and the administrator has not ordered it. */
	readonly canCancel: boolean;
	/** The detail of its progress while it runs, its result in the end. */
	readonly detail: Record<string, unknown> | null;
	/** Why it waits although there may be a free place for it. */
	readonly hold: JobHold | null;
	readonly createdAt: number;
	readonly startTime: number | null;
	readonly endTime: number | null;
}

/** The context of a job's run. */
export interface JobContext<Input> {
	readonly id: string;
	readonly viewer: JobOwner;
	readonly input: Input;
	/** 1 for the first run since it was started or tried again; more after a restart, a lost lease or a place that was given back. */
	readonly attempt: number;
	/** The value of the last checkpoint, of this run or an earlier one; undefined without one. */
	readonly saved: unknown;
	/**
	 * Fires when the job is cancelled, when the server stops, when the job's lease was lost and when it gives back a place for short jobs.
	 * The run then ends soon, by throwing what the signal has as its reason or anything else; the runner decides what happens to the job.
	 * It may have fired before the run begins: a job that is cancelled while it waits, and has saved something, begins once more to clean
	 * up.
	 */
	readonly signal: AbortSignal;
	/** Whether the owner has cancelled it: then partial results are to be removed. Otherwise a further run may continue with them. */
	readonly isCancelled: boolean;
	/**
	 * Saves durably, as JSON, the state that a further run continues from. It waits while the database is away or full, also as the server
	 * stops, for as long as that waits for its jobs. Throws if another process runs the job now: nothing may be changed any more.
	 */
	checkpoint(value: unknown): Promise<void>;
	/**
	 * Does what changes nothing that others know of, such as to encode into a staged file of its own. It goes on where the job's lease ends
	 * meanwhile, as the database is away or full, and this resolves once the job is certainly this run's: that may take as long as the
	 * database does. Throws if another process runs the job now.
	 */
	privately<T>(work: () => Promise<T>): Promise<T>;
	/**
	 * Tells how long the whole work will take, in seconds, once the run knows that. Long work that has begun in a place for short jobs
	 * (`JobKind.short`) is queued again for an ordinary one: then `signal` fires, and this throws its reason. So it is called before the
	 * work, and what is to last is saved before it.
	 */
	expect(seconds: number): Promise<void>;
	/** Reports the progress. May be called often: updates of pages and of the database are throttled. */
	progress(progress: JobProgress): void;
}

/**
 * Further places, beside those of `concurrency`, for jobs that take at most so many seconds. A job counts as short until it is known to
 * be longer: by `JobOptions.expectedSeconds` when it starts, by `JobContext.expect` while it runs, or since it has had such a place for
 * twice as long while another job waits for one. Then it is queued again for an ordinary place (unless it has one), and loses what it has
 * not saved; one of a kind that fails `onRestart` is left where it is.
 */
export interface ShortJobs {
	readonly places: number;
	readonly seconds: number;
}

/** A kind of long work. A job survives its page, its session and the process. */
export interface JobKind<Input> {
	/** Such as `copy`. */
	readonly name: string;
	/** The schema of the input: it is stored as JSON and parsed again before each run. */
	readonly input: z.ZodType<Input>;
	/**
	 * What happens to a job whose process ended: `resume` runs it again with its checkpoint, `restart` without, `fail` ends it with a
	 * sentence. In each case an interruption of `run` at any point must do no harm.
	 */
	readonly onRestart: 'resume' | 'restart' | 'fail';
	/** How many run at once, over all processes. */
	readonly concurrency: number;
	/**
	 * The capability without which no run succeeds, except that of a cancelled job: a process that lacks it leaves the jobs to another one
	 * over the same database, as long as one has it, and they wait while it may be back in a moment. `lack` tells their owners why, as a
	 * sentence.
	 */
	readonly needs?: { readonly capability: string; readonly lack: string };
	/** The most waiting and running jobs of one user. */
	readonly perUser: number;
	/**
	 * The most jobs of one user that run in the places of `concurrency`, so that others need not wait for hours; `concurrency` by default.
	 * With it one of several places for short jobs is left to others as well. A network that has as many running gets a further one only
	 * while no other network waits.
	 */
	readonly runningPerUser?: number;
	/** Places for short jobs, so that none of them waits behind hours of work; none by default. */
	readonly short?: ShortJobs;
	/**
	 * Removes what runs have left that saved this, for a job that is cancelled while it waits after an unclean end: none begins to clean up,
	 * since that might end the process again. Also for one that is cancelled a second time before a run has begun to, and for
	 * one whose runs were ended too often with their processes. Some of it, or all, may
	 * be gone already.
	 */
	discard?(saved: unknown, owner: JobOwner): Promise<void>;
	/**
	 * Does the work. A Failure's message is shown to the owner. One of the kind `unavailable` with `retryAfter` is no fault of the job:
	 * unless the kind fails `onRestart`, it is queued again and waits, longer each time. Resolves to the result, as small JSON, for `detail`.
	 */
	run(job: JobContext<Input>): Promise<Record<string, unknown> | undefined>;
}

export interface JobOptions {
	/** How long the work will take, where that is known before it begins; see `JobKind.short`. */
	expectedSeconds?: number;
	/** The idempotency key of the request: a job of this owner and kind that was started with it is found in place of a second one. */
	key?: string | undefined;
	/** Who ordered it. The user sees a job of the administrator's, and can neither cancel nor retry it. @default 'user' */
	orderedBy?: 'user' | 'administrator';
}

/** Starts jobs of one kind. */
export interface JobStarter<Input> {
	/** Resolves when the job is durable. Throws `rateLimited` where the user has too many of this kind. */
	start(owner: JobOwner, input: Input, title: string, options?: JobOptions): Promise<Job>;
	/**
	 * The job that was started with an idempotency key, with its input as long as that is kept; undefined if none was. An input of more
	 * than `maxBytes` as JSON is not read: it throws `keyOfAnother`, so a short request never costs what a long one does.
	 */
	findByKey(
		owner: JobOwner,
		key: string,
		options?: { maxBytes?: number },
	): Promise<{ job: Job; input: Input | undefined } | undefined>;
	/**
	 * Takes from the owner's failed jobs of this kind what they have saved, if `isChosen` says so: one that is tried again begins anew.
	 * Resolves to what was taken, never of a job that is tried again by now.
	 */
	takeSaved(owner: JobOwner, isChosen: (saved: unknown) => boolean): Promise<unknown[]>;
	/** A job of this kind, with its input. Throws `notFound` for any other. */
	find(owner: JobOwner, id: string): Promise<{ job: Job; input: Input }>;
}

/** Long work that survives reload, sign-out and restart. */
export interface Jobs {
	/** Throws if the name is taken. Called while plugins start. */
	define<Input>(kind: JobKind<Input>): JobStarter<Input>;
	/** Throws `notFound` for an id that is not the owner's. */
	find(owner: JobOwner, id: string): Promise<Job>;
	/** The newest first. */
	list(owner: JobOwner): Promise<Job[]>;
	/**
	 * Cancels a job, and resolves once that is durable; the `signal` of a run in any process fires within seconds. Does nothing to one that
	 * has ended. Throws `forbidden` for one that the administrator has ordered, otherwise as `find`.
	 */
	cancel(owner: JobOwner, id: string): Promise<void>;
	/** Queues a failed or cancelled one again. Throws `conflict` for any other state, otherwise as `cancel` and `start`. */
	retry(owner: JobOwner, id: string): Promise<Job>;
	/** Resolves when it has ended, at once if it has, or to undefined after this many milliseconds. */
	waitForEnd(owner: JobOwner, id: string, waitMs: number): Promise<Job | undefined>;
}
