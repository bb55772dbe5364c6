import type { Job, JobKind, JobStatus } from '../../services/jobs.js';

/** A job as its row has it, without what only its run needs. Times are milliseconds since the epoch. */
export interface JobRecord extends Omit<Job, 'canRetry' | 'detail'> {
	readonly userId: string;
	/** JSON. */
	readonly detail: string | null;
	/** Whether there is still what it was started with. */
	readonly hasInput: boolean;
}

/** Names one run of a job. What a run writes is written only as long as the job is still this run's. */
export interface JobRunKey {
	readonly id: string;
	/** The process. */
	readonly holder: string;
	/** Another one for each run. */
	readonly epoch: number;
}

/** A job that some process runs, or ran when it ended. */
export interface HeldJob extends JobRunKey {
	readonly kind: string;
	readonly userId: string;
	/** Of two jobs that run, no two are in the same. */
	readonly slot: string;
	readonly onRestart: JobKind<unknown>['onRestart'];
	readonly isCancelRequested: boolean;
	/** Nobody has renewed its lease in time: whoever held it may no longer be there. */
	readonly isExpired: boolean;
	/** How often its run was cut off since it last came further. */
	readonly interruptions: number;
}

export interface NewJob {
	id: string;
	kind: string;
	userId: string;
	title: string;
	/** JSON. */
	input: string;
	onRestart: JobKind<unknown>['onRestart'];
}

/** What one user may have. */
export interface JobBounds {
	/** Of this kind, waiting and running. */
	jobs: number;
	/** Bytes of inputs and of what was saved, of all kinds. */
	bytes: number;
}

export interface JobEnd {
	status: Extract<JobStatus, 'completed' | 'failed' | 'cancelled'>;
	error: string | null;
	/** JSON; left out, the last one stays. */
	detail?: string | null;
}

export type JobProgressRecord = Pick<JobRecord, 'done' | 'total' | 'unit' | 'speed' | 'timeLeft' | 'detail'>;

/**
 * Jobs, shared by all processes. Leases are measured by the clock of the database; of an SQLite file, whose processes share a machine, by that machine's. What is
 * written for a run resolves to whether the job was still its own; if not, nothing has changed.
 */
export interface JobStore {
	/**
	 * Queues a job behind those of the user's that wait, and so that users take turns (round robin). Throws `rateLimited` if the user has too many of the kind or keeps
	 * too much, `notFound` for a user who is gone or disabled, and `alreadyExists` for a known id.
	 */
	add(job: NewJob, most: JobBounds): Promise<void>;
	/** Queues one that failed or was cancelled again; false if it is another. What it saved stays if its kind resumes. Throws as `add` does. */
	retry(id: string, most: JobBounds): Promise<boolean>;
	find(id: string): Promise<JobRecord | undefined>;
	/** What it was started with, as long as that is kept. */
	input(id: string): Promise<string | undefined>;
	/** Whether what one that has not ended saved holds this text, which has only letters, digits and `-`: so that nobody drops what a job goes on with. */
	isSaved(text: string): Promise<boolean>;
	/** Those that have not ended and the latest `mostEnded` that have, of one user or of all, the newest first. */
	list(mostEnded: number, userId?: string): Promise<JobRecord[]>;
	/** How many there are of each kind and status. */
	counts(): Promise<{ kind: string; status: JobRecord['status']; count: number }[]>;
	/** All that are held. A lease that ends later than `leaseMs` from now, and a minute, was given while the clock was wrong: it has expired too. */
	held(leaseMs: number): Promise<HeldJob[]>;
	/** The next job of the kind that waits and belongs to none of these users, first those that wait only to drop what they had made. */
	next(
		kind: string,
		except?: readonly string[],
	): Promise<{ id: string; userId: string; epoch: number; isCancelRequested: boolean } | undefined>;
	/**
	 * Takes a job that waits, of which `epoch` was seen. Nothing if somebody was first, or the slot is taken: then nothing has changed.
	 */
	claim(
		run: JobRunKey,
		slot: string,
		leaseMs: number,
	): Promise<{ input: string; saved: string | null; attempt: number; record: JobRecord } | undefined>;
	/** Renews the lease, and saves the progress. */
	renew(run: JobRunKey, leaseMs: number, progress?: JobProgressRecord): Promise<boolean>;
	/** Saves from where a further run goes on, and renews the lease. */
	checkpoint(run: JobRunKey, leaseMs: number, saved: string): Promise<boolean>;
	/** Frees its slot. Of one that completed what was saved is dropped. */
	end(run: JobRunKey, end: JobEnd, when?: JobTakeover): Promise<boolean>;
	/** Back to where it waited, with what it saved if its kind resumes. Of one whose end is asked for this is as if it were cancelled there. */
	requeue(run: JobRunKey, when?: JobTakeover): Promise<boolean>;
	/**
	 * Cancels one that waits, and asks for the end of one that runs; of another nothing changes. One that waits and has saved something begins once more, to drop
	 * what it had made, unless it is cancelled again.
	 */
	cancel(id: string): Promise<void>;
	/** Those in which anything has changed in so many milliseconds, the latest 1,000 at most. */
	changed(sinceMs: number): Promise<JobRecord[]>;
	/** Forgets those that ended before the time, and of each user those beyond the latest that ended; resolves to how many. */
	sweep(endedBefore: number, mostEnded: number): Promise<number>;
}

/** Says that somebody else than its holder writes for a run, and that the lease has to have expired. */
export interface JobTakeover {
	leaseMs: number;
}
