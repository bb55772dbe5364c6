import { truncateToBytes } from '@stowage/rules';

const dayMs = 24 * 60 * 60_000;

/** Bounds and times of jobs. */
export const jobLimits = {
	/** A process whose jobs were not renewed for so long is taken for dead, and they are taken over. */
	leaseMs: 10_000,
	renewMs: 3_000,
	/** How often the database is asked for what other processes want and do. */
	pollMs: 1_000,
	/** Least time between two events of one job. */
	spacingMs: 500,
	/** How far back a look at the changes goes: what is committed late is seen too. */
	changesMs: 5_000,
	/** How long a job that is being ended may take while the server stops. */
	drainMs: 10_000,
	/** A job that was cut off so often without a checkpoint between may be what ends the process. */
	interruptions: 10,
	inputBytes: 8 * 1024 * 1024,
	savedBytes: 1024 * 1024,
	detailBytes: 16 * 1024,
	titleBytes: 1000,
	errorBytes: 4000,
	/** Of one user: inputs and what was saved. */
	userBytes: 32 * 1024 * 1024,
	/** For so long an ended one is kept. */
	keptMs: 7 * dayMs,
	/** So many of one user's that ended are kept. */
	keptEnded: 200,
} as const;

/** Cut with an ellipsis, and without what a database takes for the end of a text. */
export function shortened(text: string, bytes: number): string {
	const plain = text.replaceAll('\0', '');
	const cut = truncateToBytes(plain, bytes);
	return cut === plain ? plain : `${truncateToBytes(plain, bytes - 3)}…`;
}
