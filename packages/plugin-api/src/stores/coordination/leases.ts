/** Names one holding of a lease: no other one of this name ever has the same epoch. */
export interface LeaseKey {
	/** What it is for: at most 191 characters. */
	readonly name: string;
	/** The process: at most 191 characters. */
	readonly holder: string;
	/** For fencing: it grows with each taking, also after the lease was forgotten meanwhile. */
	readonly epoch: number;
}

/** A lease that somebody holds. */
export interface HeldLease extends LeaseKey {
	/** Whether somebody has asked for it since it was taken. */
	readonly isAsked: boolean;
}

/** A lease that was taken right now. */
export interface TakenLease extends LeaseKey {
	/** Whoever had it before has neither renewed it nor given it back: they may be stopped in the middle of what they do. */
	readonly hasLapsed: boolean;
}

/**
 * Leases, shared by all processes: each is somebody's for a span that they renew. They are measured by the clock of the database; of an SQLite file, whose processes
 * share a machine, by that machine's. One that ends later than its span from now, and a minute, was taken while the clock was wrong: it has expired too.
 */
export interface LeaseStore {
	/**
	 * Takes it for so many milliseconds, an hour at most. Nothing as long as somebody holds it, the same process too, unless that is the holding `gone`, whose process the caller
	 * knows to have ended.
	 */
	take(name: string, holder: string, ms: number, gone?: LeaseKey): Promise<TakenLease | undefined>;
	/** Who holds it. Nothing for one that has expired or was released. */
	find(name: string): Promise<HeldLease | undefined>;
	/** From now on for so long; one that has expired too if nobody has taken it meanwhile. `asked` says that somebody has asked for it. */
	renew(lease: LeaseKey, ms: number): Promise<'kept' | 'asked' | 'lost'>;
	/** Nothing happens if it is somebody else's by now. */
	release(lease: LeaseKey): Promise<void>;
	/** Takes it from whoever holds it, who finds it lost, and gives it to nobody. */
	revoke(name: string): Promise<void>;
	/** Asks whoever holds it to give it up. Resolves to whether somebody does. */
	ask(name: string): Promise<boolean>;
	/** Forgets those that ended long ago; resolves to how many. */
	sweep(): Promise<number>;
}
