import { truncateToBytes } from '@stowage/rules';

const dayMs = 24 * 60 * 60_000;

/** Bounds and times of jobs. */
export const jobLimits = {
	/** A process whose jobs were not renewed for this long counts as dead, and its jobs are taken over. */
	leaseMs: 10_000,
	renewMs: 3_000,
	/** Less than what is left of a lease before it is renewed: a clock that is set by less ends none. */
	jumpMs: 5_000,
	/** How often the database is polled for the changes and requests of other processes. */
	pollMs: 1_000,
	/** Least time between two events of one job. */
	spacingMs: 500,
	/** How far back a poll reads changes, so that those committed late are included. */
	changesMs: 5_000,
	/** How long a job that is being ended may take while the server stops. */
	drainMs: 10_000,
	/** How long a run that was told to end counts as one that does. */
	leavingMs: 30_000,
	/** A job that was interrupted this often without a checkpoint between may be what crashes the process. */
	interruptions: 10,
	/** A job that had begun shortly before this many unclean ends may be their cause, even with checkpoints between. */
	uncleanEnds: 3,
	/** How often a job is begun at most, while the database leaves its runs, or something else that they need is away. */
	attempts: 20,
	/** The longest pause before such a job begins again; each one is longer than the last. */
	pauseMs: 10 * 60_000,
	/** How long a job that was interrupted, or one like it, runs before another such job begins. */
	trialMs: 60_000,
	/** How long a process serves before it runs the first interrupted job. */
	settleMs: 2_000,
	inputBytes: 8 * 1024 * 1024,
	savedBytes: 1024 * 1024,
	detailBytes: 16 * 1024,
	titleBytes: 1000,
	errorBytes: 4000,
	/** Bytes of inputs and checkpoints of one user. */
	userBytes: 32 * 1024 * 1024,
	/** Milliseconds for which an ended job is kept. */
	keptMs: 7 * dayMs,
	/** Ended jobs of one user that are kept. */
	keptEnded: 200,
} as const;

/** Truncated with an ellipsis, and without NUL characters, which end a text for some databases. */
export function shortened(text: string, bytes: number): string {
	const plain = text.replaceAll('\0', '');
	const cut = truncateToBytes(plain, bytes);
	return cut === plain ? plain : `${truncateToBytes(plain, bytes - 3)}…`;
}
