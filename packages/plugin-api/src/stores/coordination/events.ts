/** An event that a process publishes for the pages connected to other processes. */
export interface EventRecord {
	process: string;
	/** Grows with each event of its process. */
	number: number;
	payload: string;
}

/**
 * Events across processes, and which processes listen to them. Rows are added and never changed; ages are measured by the clock of the
 * database.
 */
export interface EventStore {
	/** Adds the next events of a process. They become visible together, and before all that it adds later. */
	add(process: string, events: readonly Pick<EventRecord, 'number' | 'payload'>[]): Promise<void>;
	/** The events of the last milliseconds, of all processes except one; those of each process in their order. */
	latest(ms: number, except: string): Promise<EventRecord[]>;
	/** Registers a process as a listener, or renews it. */
	listen(process: string, pollsFolders: boolean): Promise<void>;
	unlisten(process: string): Promise<void>;
	/**
	 * The processes, except one, that called `listen` in the last milliseconds; `pollsFolders` if they watch folders whose storage reports
	 * no changes.
	 */
	listeners(ms: number, except: string): Promise<{ process: string; pollsFolders: boolean }[]>;
	/** Removes the events and the listeners that are older than these milliseconds. Resolves to how many. */
	sweep(ages: { eventsMs: number; listenersMs: number }): Promise<number>;
}
