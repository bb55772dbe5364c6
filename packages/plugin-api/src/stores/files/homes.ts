/** On which storage root a home lies, by its name; homes without a row lie on the first one. */
export interface HomeStore {
	find(name: string): Promise<string | undefined>;
	/** Assigns a home to a root unless it has one, also when two ask at once. Resolves to the root that it has then. */
	place(name: string, rootId: string): Promise<string>;
	set(name: string, rootId: string): Promise<void>;
	/** Takes a home that is no more off a root. Nothing happens to one that lies on another root by now. */
	forget(name: string, rootId: string): Promise<void>;
	/** Names of the homes that are known to lie on a root, sorted. */
	list(rootId: string): Promise<string[]>;
	/** The root of a home, and its move to another one, if there is one. */
	look(name: string): Promise<{ rootId: string | undefined; move: HomeMove | undefined }>;
	/** All moves of jobs that have not ended. */
	moves(): Promise<HomeMove[]>;
	/** Registers this run of a job as the one that moves a home, thawed: earlier runs of the job can change nothing from now on. Throws `conflict` while another job moves it. */
	beginMove(move: Omit<HomeMove, 'isFrozen'>): Promise<void>;
	/** Blocks changes of the home, or permits them again. False if the run is no longer the one that moves it. */
	freeze(runId: string, isFrozen: boolean): Promise<boolean>;
	/**
	 * Assigns a frozen home to another root, permits changes again, and binds links to the copies of their items, in one transaction. False, and nothing has changed, if
	 * the run is no longer the one that moves it.
	 */
	switchRoot(runId: string, rootId: string, links: readonly ReboundLink[]): Promise<boolean>;
	/** Forgets a move; nothing happens to that of another run. */
	endMove(runId: string): Promise<void>;
	/** A process has seen the run's move, and has ended all changes of the home or not. */
	acknowledge(runId: string, holder: string, hasStopped: boolean): Promise<void>;
	/** The processes that have. `isSilent` if their last `acknowledge` is longer ago. */
	acknowledgements(
		runId: string,
		silentMs: number,
	): Promise<{ holder: string; hasStopped: boolean; isSilent: boolean }[]>;
}

/** A home that is being moved to another root. */
export interface HomeMove {
	name: string;
	jobId: string;
	/** One run of the job. */
	runId: string;
	/** Whether changes of the home are blocked. */
	isFrozen: boolean;
}

/** A link whose item is another one after a move. It is left alone unless it has the id that was seen. */
export interface ReboundLink {
	id: string;
	seenItemId: string;
	itemId: string;
}
