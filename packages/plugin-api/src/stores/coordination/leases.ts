/** Identifies one holding of a lease: no other one of this name ever has the same epoch. */
export interface LeaseKey {
	/** The name of the lease: at most 191 characters. */
	readonly name: string;
	/** The process: at most 191 characters. */
	readonly holder: string;
	/** A number for fencing: it grows each time the lease is taken, also after it was forgotten meanwhile. */
	readonly epoch: number;
}

/** A held lease. */
export interface HeldLease extends LeaseKey {
	/** Whether another holder has requested it since it was taken. */
	readonly isRequested: boolean;
}

/** A lease that was taken right now. */
export interface AcquiredLease extends LeaseKey {
	/** The previous holder has neither renewed nor released it: it may be suspended in the middle of its work. */
	readonly hasLapsed: boolean;
}

/**
 * Leases, shared by all processes: each has one holder for a span, who renews it. They are measured by the clock of the database; of an
 * SQLite file, whose processes share a machine, by that machine's. One that ends later than its span from now, and a minute, was taken
 * while the clock was wrong: it has expired too.
 */
export interface LeaseStore {
	/**
	 * Acquires it for this many milliseconds, an hour at most. Undefined while it is held, also by the same process, unless it is the
	 * holding `ended`, whose process the caller knows to have ended.
	 */
	acquire(name: string, holder: string, ms: number, ended?: LeaseKey): Promise<AcquiredLease | undefined>;
	/** The holder. Undefined for a lease that has expired or was released. */
	find(name: string): Promise<HeldLease | undefined>;
	/**
	 * Extends it to this many milliseconds from now; also an expired one, if no other process has taken it meanwhile. `requested`: another
	 * holder has requested its release.
	 */
	renew(lease: LeaseKey, ms: number): Promise<'kept' | 'requested' | 'lost'>;
	/** Does nothing if another holder has it by now. */
	release(lease: LeaseKey): Promise<void>;
	/** Ends the lease of any holder, who finds it lost. It is free then. */
	revoke(name: string): Promise<void>;
	/** Requests that the holder releases it. Resolves to whether there is a holder. */
	requestRelease(name: string): Promise<boolean>;
	/** Forgets those that ended long ago; resolves to how many. */
	sweep(): Promise<number>;
}
