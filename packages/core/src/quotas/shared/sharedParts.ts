import type { HomeUsageStore } from '@stowage/plugin-api';
import type { Leases } from '../../leases/createLeases.js';
import type { ProcessIdentity } from '../../leases/processIdentity.js';
import type { Log } from '../../log.js';
import type { Amount } from '../measureTree.js';

/** What the processes over one database need to count a home together. */
export interface SharedParts {
	store: HomeUsageStore;
	leases: Pick<Leases, 'acquire'>;
	identity: ProcessIdentity;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** A home that they count. */
export interface CountedHome {
	/** Its name in the database: the user's id, or `anonymous`. */
	key: string;
	/** The user whose unfinished uploads count; null for all visitors. */
	owner: string | null;
	/** What this process has reserved. */
	reserved: Readonly<Amount>;
	/** What lies in the home and its trash, by a walk. */
	walk(): Promise<Amount>;
	/**
	 * Does that at the first turn of any network for which this is called meanwhile: for all of them once, by the `work` of that one.
	 */
	atTurn(work: () => Promise<void>): Promise<void>;
}
