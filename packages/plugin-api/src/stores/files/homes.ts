/** On which storage root a home lies, by its name; homes of which nothing is known lie on the first one. */
export interface HomeStore {
	find(name: string): Promise<string | undefined>;
	/** Notes where a home shall lie unless that is known, also when two ask at once. Resolves to where it does. */
	place(name: string, rootId: string): Promise<string>;
	set(name: string, rootId: string): Promise<void>;
	/** Names of the homes that are known to lie on a root, sorted. */
	list(rootId: string): Promise<string[]>;
	/** Where a home lies, and its move if it is on its way to another root. */
	look(name: string): Promise<{ rootId: string | undefined; move: HomeMove | undefined }>;
	/** All that are on their way, by jobs that have not ended. */
	moves(): Promise<HomeMove[]>;
	/** Notes that this run of a job moves a home, thawed: earlier runs of the job can change nothing from now on. Throws `conflict` while another job moves it. */
	beginMove(move: Omit<HomeMove, 'isFrozen'>): Promise<void>;
	/** From now on nobody may change the home, or everybody again. False where the run is no longer the one that moves it. */
	freeze(runId: string, isFrozen: boolean): Promise<boolean>;
	/**
	 * Notes in one transaction that a frozen home lies elsewhere from now on, thaws it, and binds links to the items that theirs have become. False, and nothing has changed, where
	 * the run is no longer the one that moves it.
	 */
	switchRoot(runId: string, rootId: string, links: readonly ReboundLink[]): Promise<boolean>;
	/** Forgets a move; nothing happens to that of another run. */
	endMove(runId: string): Promise<void>;
	/** A process knows of the run's move, and has ended all changes of the home or not. */
	acknowledge(runId: string, holder: string, hasStopped: boolean): Promise<void>;
	/** Which processes do. `isSilent` of those that have not said so for longer. */
	acknowledgements(
		runId: string,
		silentMs: number,
	): Promise<{ holder: string; hasStopped: boolean; isSilent: boolean }[]>;
}

/** A home on its way to another root. */
export interface HomeMove {
	name: string;
	jobId: string;
	/** One run of the job. */
	runId: string;
	/** Whether nobody may change the home right now. */
	isFrozen: boolean;
}

/** A link whose item is another one after a move. It is left alone unless it has the id that was seen. */
export interface ReboundLink {
	id: string;
	seenItemId: string;
	itemId: string;
}
