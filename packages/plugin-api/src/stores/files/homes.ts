import type { VersionedFile } from './versions.js';

/** The storage root of each home, by name; homes without a row are on the first one. */
export interface HomeStore {
	find(name: string): Promise<string | undefined>;
	/** Assigns a home to a root unless it has one, also with concurrent calls. Resolves to its root after that. */
	assign(name: string, rootId: string): Promise<string>;
	/** Assigns those homes to a root that have none. */
	assignEach(names: readonly string[], rootId: string): Promise<void>;
	set(name: string, rootId: string): Promise<void>;
	/** Removes the assignment of a home that no longer exists. Does nothing if it is on another root by now. */
	unassign(name: string, rootId: string): Promise<void>;
	/** Names of the homes that are assigned to a root, sorted. */
	list(rootId: string): Promise<string[]>;
	/** The root of a home, and its move to another one, if there is one. */
	findWithMove(name: string): Promise<{ rootId: string | undefined; move: HomeMove | undefined }>;
	/** All moves of jobs that have not ended. */
	listMoves(): Promise<HomeMove[]>;
	/**
	 * Registers this run of a job as the one that moves a home, not frozen: writes of earlier runs of the job have no effect from now on.
	 * Throws `conflict` while another job moves it.
	 */
	beginMove(move: Omit<HomeMove, 'isFrozen'>): Promise<void>;
	/** Blocks changes of the home, or permits them again. False if the run is no longer the one that moves it. */
	setFrozen(runId: string, isFrozen: boolean): Promise<boolean>;
	/**
	 * Assigns a frozen home to another root, permits changes again, and binds links and versions to the copies of their items, in one
	 * transaction. False, and nothing has changed, if the run no longer moves it.
	 */
	switchRoot(runId: string, rootId: string, rebound: Rebound): Promise<boolean>;
	/** Forgets a move; nothing happens to that of another run. */
	endMove(runId: string): Promise<void>;
	/** Records that a process has read the run's move, and whether all its changes of the home have ended. */
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
	/** The run of the job. */
	runId: string;
	/** Whether changes of the home are blocked. */
	isFrozen: boolean;
}

/** What belongs to items that get other ids by a move. */
export interface Rebound {
	links: readonly ReboundLink[];
	versions: readonly ReboundVersions[];
}

/** A file with versions, whose identity was `former`. */
export interface ReboundVersions extends VersionedFile {
	ownerId: string;
	former: string;
}

/** A link whose item gets another id by a move. It is only changed if it has the expected id. */
export interface ReboundLink {
	id: string;
	expectedItemId: string;
	itemId: string;
}
