import type { Job, JobKind, JobStatus } from '../../services/jobs.js';

/** A job's row, without the fields that only its run needs. Times are milliseconds since the epoch. */
export interface JobRecord extends Omit<Job, 'canRetry' | 'canCancel' | 'hold' | 'detail'> {
	readonly userId: string;
	/** JSON. */
	readonly detail: string | null;
	/** Whether the administrator has ordered it. */
	readonly isOrdered: boolean;
	/** Whether its input is still stored. */
	readonly hasInput: boolean;
}

/** Identifies one run of a job. Writes of a run take effect only while the job belongs to this run. */
export interface JobRunKey {
	readonly id: string;
	/** The process. */
	readonly holder: string;
	/** Increased by each claim. */
	readonly epoch: number;
}

/** A job that some process runs, or ran when it ended. */
export interface HeldJob extends JobRunKey {
	readonly kind: string;
	readonly userId: string;
	/** As in `NewJob`. */
	readonly network: string;
	/** The place in which it runs: no two running jobs have the same. */
	readonly slot: string;
	readonly onRestart: JobKind<unknown>['onRestart'];
	readonly isCancelRequested: boolean;
	/** The lease was not renewed in time: its process may have ended. */
	readonly isExpired: boolean;
	/** How often its run was interrupted since its last checkpoint. */
	readonly interruptions: number;
	readonly isOrdered: boolean;
	/** No other one like this is begun before it has run for a while: it was interrupted, or one of the same user and kind was. */
	readonly isOnTrial: boolean;
	/** Milliseconds from its claim to the last renewal. */
	readonly ranMs: number;
}

/** A job that ran when its process ended without giving it back, and may be what ended it. */
export interface JobInterruption {
	/** The process. */
	readonly holder: string;
	readonly jobId: string;
	readonly userId: string;
	readonly kind: string;
	readonly isOrdered: boolean;
	readonly wasTrial: boolean;
	/** Whether the job has passed its trial since, or is completed, so that it is not suspected of that end any more. */
	readonly hasPassed: boolean;
	/** Whether the job has ended since, or is forgotten. */
	readonly hasEnded: boolean;
	/** By the clock of the database. */
	readonly at: number;
}

/** Whose interruptions; all that are named must agree. */
export type InterruptionChoice = Partial<Pick<JobInterruption, 'holder' | 'userId' | 'kind'>>;

export interface NewJob {
	id: string;
	kind: string;
	userId: string;
	/** Of whom asked for it: jobs compete with those of their network first. 64 characters at most. */
	network: string;
	title: string;
	/** JSON. */
	input: string;
	onRestart: JobKind<unknown>['onRestart'];
	/** Whether it is known to take longer than the short jobs of its kind. */
	isLong: boolean;
	/** Whether the administrator has ordered it. */
	isOrdered: boolean;
}

/** Which waiting jobs of a kind a place is for. */
export interface JobChoice {
	/** Jobs of these users are passed over. */
	except?: readonly string[];
	/** These are passed over, too. */
	exceptJobs?: readonly string[];
	/** Jobs of these networks are passed over, too, but for those that only have to clean up. */
	exceptNetworks?: readonly string[];
	/** The network that had its turn last: of those that wait the next one by name comes first, and this one last. */
	after?: string;
	/** Only jobs of this user, of whatever network. */
	userId?: string;
	/** Only those known to be long, or only the others. */
	isLong?: boolean;
}

/**
 * Why a run gives its job back: its process stops, the job waits for a place for long work, or its process has ended without giving it
 * back.
 */
export type JobReturn = 'released' | 'yielded' | 'interrupted';

/** The limits of one user. */
export interface JobLimits {
	/** The most jobs of one kind, waiting and running. */
	jobs: number;
	/** Bytes of inputs and checkpoints, of all kinds. */
	bytes: number;
}

export interface JobEnd {
	status: Extract<JobStatus, 'completed' | 'failed' | 'cancelled'>;
	error: string | null;
	/** JSON; if left out, the last one stays. */
	detail?: string | null;
}

export type JobProgressRecord = Pick<JobRecord, 'done' | 'total' | 'unit' | 'speed' | 'timeLeft' | 'detail'>;

/**
 * Jobs, shared by all processes. Leases are measured by the clock of the database; of an SQLite file, whose processes share a machine, by
 * that machine's. What is written for a run resolves to whether the job was still its own; if not, nothing has changed.
 */
export interface JobStore {
	/**
	 * Queues a job behind the user's waiting jobs; the users of a network are served round robin. Throws `rateLimited` if the user has too
	 * many of the kind or keeps too much, `notFound` for a user who is gone or disabled, and `alreadyExists` for a known id.
	 */
	add(job: NewJob, limits: JobLimits): Promise<void>;
	/**
	 * Queues a failed or cancelled one again, as if it had not begun before; false if it is in another state. Its checkpoint stays if its
	 * kind resumes. Throws as `add` does.
	 */
	retry(id: string, limits: JobLimits): Promise<boolean>;
	find(id: string): Promise<JobRecord | undefined>;
	/** The input of a job, while it is kept and unless it has more bytes than `maxBytes`. */
	input(id: string, maxBytes?: number): Promise<string | undefined>;
	/** The last checkpoint of a job. */
	checkpointOf(id: string): Promise<string | undefined>;
	/** The checkpoints of a user's failed jobs of a kind, from which they would go on if they were tried again. */
	failedCheckpoints(kind: string, userId: string): Promise<{ id: string; saved: string }[]>;
	/** Removes the checkpoint of a failed job. False if that has none, or is tried again by now. */
	forgetCheckpoint(id: string): Promise<boolean>;
	/**
	 * Whether the checkpoint of a job that has not ended contains this text, which has only letters, digits and `-`: so that a sweep does
	 * not remove what the job continues with.
	 */
	isInCheckpoint(text: string): Promise<boolean>;
	/** Jobs that have not ended and the latest `maxEnded` ended ones, of one user or of all, the newest first. */
	list(maxEnded: number, userId?: string): Promise<JobRecord[]>;
	/** How many there are of each kind and status. */
	counts(): Promise<{ kind: string; status: JobRecord['status']; count: number }[]>;
	/**
	 * All that are held. A lease that ends later than `leaseMs` from now, and a minute, was given while the clock was wrong: it has expired
	 * too.
	 */
	listHeld(leaseMs: number): Promise<HeldJob[]>;
	/** The kinds of which jobs wait. */
	waitingKinds(): Promise<ReadonlySet<string>>;
	/**
	 * The next waiting job of the kind, first those that only have to clean up. Networks are served round robin where the caller says which
	 * one was the last, and in each its users. Long jobs have a queue of their own, in which they are too. What a program of a former version
	 * has added has no network, and gets one of its user's own.
	 */
	next(
		kind: string,
		choice?: JobChoice,
	): Promise<{ id: string; userId: string; network: string; epoch: number; isCancelRequested: boolean } | undefined>;
	/**
	 * Takes a waiting job with this `epoch`. Undefined, and nothing has changed, if another process was first, the slot is taken, or
	 * another job is on trial and this is to be.
	 */
	claim(
		run: JobRunKey,
		slot: string,
		leaseMs: number,
		trial?: 'trial',
	): Promise<{ input: string; saved: string | null; attempt: number; record: JobRecord } | undefined>;
	/** Renews the lease, and saves the progress. */
	renew(run: JobRunKey, leaseMs: number, progress?: JobProgressRecord): Promise<boolean>;
	/** Saves the checkpoint that a further run continues from, and renews the lease. */
	checkpoint(run: JobRunKey, leaseMs: number, saved: string): Promise<boolean>;
	/** Ends the trial of a run, which goes on: the job's interruptions have passed. */
	endTrial(run: JobRunKey): Promise<boolean>;
	/** The job is known to be long from now on. */
	setLong(run: JobRunKey): Promise<boolean>;
	/**
	 * Frees its slot. The checkpoint of a completed job is removed. The interruptions of one that is completed in its own process have
	 * passed, of one that has failed or is cancelled there only after its trial.
	 */
	end(run: JobRunKey, end: JobEnd, takeover?: JobTakeover): Promise<boolean>;
	/**
	 * Puts it back into the queue, with its checkpoint if its kind resumes: one that has `yielded` as a long one, behind the user's other
	 * long ones. A job whose cancellation was requested is cancelled instead. Only an interruption is counted as such.
	 */
	requeue(run: JobRunKey, reason: JobReturn, takeover?: JobTakeover): Promise<boolean>;
	/**
	 * Cancels a waiting one, and requests the end of a running one; does nothing to others. A waiting one with a checkpoint begins once
	 * more, to remove its partial results, unless it is cancelled again. Resolves to whether that changed anything.
	 */
	cancel(id: string): Promise<boolean>;
	/** All that are remembered, the latest first, and the time of the database. */
	listInterruptions(): Promise<{ interruptions: JobInterruption[]; now: number }>;
	/** Forgets interruptions; resolves to how many. */
	forgetInterruptions(choice: InterruptionChoice): Promise<number>;
	/** The jobs that have changed in these milliseconds, the latest 1,000 at most. */
	listChanged(sinceMs: number): Promise<JobRecord[]>;
	/**
	 * Forgets jobs that ended and interruptions that happened before the time, and of each user those beyond the latest that ended;
	 * resolves to how many.
	 */
	sweep(endedBefore: number, maxEnded: number): Promise<number>;
}

/** Allows another process than its holder to write on behalf of a run. */
export interface JobTakeover {
	/** If given, the lease must have expired; leases have this length. */
	leaseMs?: number;
	/** Whether an interruption by the end of its process is recorded. */
	isRecorded: boolean;
}
