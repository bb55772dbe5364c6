/** An event that a process publishes for the pages connected to other processes. */
export interface EventRecord {
	process: string;
	/** Grows with each event of its process. */
	number: number;
	payload: string;
}

/** Events across processes, and which processes listen to them. Rows are added and never changed; ages are measured by the clock of the database. */
export interface EventStore {
	/** Adds events of a process, of which none was added before. They are seen together, and before all that it adds later. */
	add(process: string, events: readonly Pick<EventRecord, 'number' | 'payload'>[]): Promise<void>;
	/** Those of the last milliseconds, of all processes but one; those of each process in their order. */
	latest(ms: number, except: string): Promise<EventRecord[]>;
	/** Registers a process as a listener, or renews it. */
	listen(process: string, pollsFolders: boolean): Promise<void>;
	unlisten(process: string): Promise<void>;
	/** The processes, but one, that called `listen` in the last milliseconds; `pollsFolders` if they watch folders whose storage reports no changes. */
	listeners(ms: number, except: string): Promise<{ process: string; pollsFolders: boolean }[]>;
	/** Removes the events and the listeners that are older than these milliseconds. Resolves to how many. */
	sweep(ages: { eventsMs: number; listenersMs: number }): Promise<number>;
}
