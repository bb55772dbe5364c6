/** What a live process says of itself. */
export interface ProcessFacts {
	/** Its name, unique among all processes: at most 191 characters. */
	readonly name: string;
	/** The machine, by the setting `node`. */
	readonly node: string;
	readonly version: string;
	/** Milliseconds by which its own clock is ahead of its database's. */
	readonly clockOffset: number;
	/** A digest of the value of each setting that users notice. */
	readonly settings: Readonly<Record<string, string>>;
	/** The capabilities of its plugins that it has now, by their names in `GET /api/capabilities`. */
	readonly capabilities: readonly string[];
	/** A digest of the list of storage roots that it read last: at most 64 characters. Empty for a version that doesn't say. */
	readonly roots: string;
}

export interface LiveProcess extends ProcessFacts {
	/**
	 * How long ago it was seen, by the clock of the database that is asked. Below zero where the database that it uses
	 * is ahead of this one.
	 */
	readonly ageMs: number;
}

/**
 * The processes over one database server, and what they agree on. A file of SQLite has none: its machine knows which processes live, and
 * they share a data folder.
 */
export interface ProcessStore {
	/** Says that this process lives. */
	beat(facts: ProcessFacts): Promise<void>;
	/** Processes seen within the last `ms` milliseconds by the clock of the database, also those whose database's clock is ahead. */
	live(ms: number): Promise<LiveProcess[]>;
	/** Records that a process has ended. */
	remove(name: string): Promise<void>;
	/** Removes those that were not seen for this many milliseconds. */
	sweep(ms: number): Promise<void>;
	/** Records the value unless there is one; resolves to the one that is recorded. */
	agree(name: string, value: string): Promise<string>;
	/** Replaces an agreed value. */
	replaceAgreed(name: string, value: string): Promise<void>;
	/**
	 * Compares the clock of this machine with the database's: the milliseconds by which this one is ahead, and the most that this may be
	 * wrong by. What the stores write, and what `now` of the database says, is corrected by it from then on.
	 */
	compareClock(): Promise<{ offset: number; uncertainty: number }>;
}
