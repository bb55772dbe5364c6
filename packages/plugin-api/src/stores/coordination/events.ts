/** What a process publishes for the pages that are connected to others. */
export interface EventRecord {
	process: string;
	/** Grows with each event of its process. */
	number: number;
	payload: string;
}

/** Events across processes, and who listens. Rows are added and never changed; ages are measured by the clock of the database. */
export interface EventStore {
	/** Adds events of a process, of which none was added before. They are seen together, and before all that it adds later. */
	add(process: string, events: readonly Pick<EventRecord, 'number' | 'payload'>[]): Promise<void>;
	/** Those of the last milliseconds, of all processes but one; those of each process in their order. */
	latest(ms: number, except: string): Promise<EventRecord[]>;
	/** Notes that a process listens, or goes on with it. */
	listen(process: string, pollsFolders: boolean): Promise<void>;
	unlisten(process: string): Promise<void>;
	/** Processes but one that said so in the last milliseconds; `pollsFolders` if they follow folders whose storage tells them of no changes. */
	listeners(ms: number, except: string): Promise<{ process: string; pollsFolders: boolean }[]>;
	/** Removes what is older than so many milliseconds. Resolves to how many. */
	sweep(ms: number): Promise<number>;
}
