/** Bytes and entries; either may be negative where it is a difference. */
export interface UsageAmount {
	readonly bytes: number;
	readonly entries: number;
}

/** What one process has done to a home since its row was made; no other process writes it but for its number. */
export interface UsageRow {
	/** What it has published there and reserved, or more. */
	readonly added: UsageAmount;
	/** What it has published there, or less. */
	readonly published: UsageAmount;
	/** What it has removed there, or less. */
	readonly removed: UsageAmount;
}

export interface ProcessUsage extends UsageRow {
	readonly process: string;
	/** Not written for so long that its process has ended, or has nothing under way. */
	readonly isOld: boolean;
}

/** A home as all processes count it, read at one moment. */
export interface UsageState {
	/** Grows with each measurement; 0 before the first. */
	readonly number: number;
	/** What was measured, as far as no row accounts for it. */
	readonly base: UsageAmount;
	/** Milliseconds since the measurement began. */
	readonly ageMs: number;
	/** Whether nothing was published or removed meanwhile: else the sum may be too high. */
	readonly isExact: boolean;
	/** `added` without `removed`, of all other processes. */
	readonly others: UsageAmount;
	/** What they have reserved of that, or taken in advance. */
	readonly unpublished: UsageAmount;
	/** The unfinished uploads that count for the owner. */
	readonly held: UsageAmount;
}

/**
 * What homes contain, counted by several processes. The sum of the last measurement and of all rows, and of unfinished
 * uploads, is never less than what is there and what is reserved, and a process that writes its row before it reads
 * the sum sees, or is seen by, each other one that does.
 */
export interface HomeUsageStore {
	/** Makes the process's row anew; resolves to its number. */
	begin(home: string, process: string, added: UsageAmount): Promise<number>;
	/** Changes the process's row if it still has this number; resolves to whether it had. */
	save(home: string, process: string, number: number, row: UsageRow): Promise<boolean>;
	/** The process's row, if it is there. */
	find(home: string, process: string): Promise<(UsageRow & { number: number }) | undefined>;
	/** The owner is the user whose unfinished uploads count, or null for all visitors. */
	state(home: string, owner: string | null, process: string): Promise<UsageState>;
	/** The rows of all processes. */
	rows(home: string, oldMs: number): Promise<ProcessUsage[]>;
	/**
	 * Saves what a walk has found that began when the rows were `before` and has taken `tookMs`. The rows of `gone`
	 * processes, which had ended before that, are removed; all others get the next number.
	 */
	measured(
		home: string,
		found: UsageAmount,
		before: readonly ProcessUsage[],
		gone: ReadonlySet<string>,
		tookMs: number,
	): Promise<void>;
	/** Something of unknown size has left the home: the sum may be too high. */
	doubt(home: string): Promise<void>;
	/** Forgets homes that were not measured for so long; they are measured again when they are used. */
	sweep(unusedMs: number): Promise<void>;
}
