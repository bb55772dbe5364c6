import type { SecondFactorStore } from './accounts/secondFactors.js';
import type { SessionStore } from './accounts/sessions.js';
import type { UserStore } from './accounts/users.js';
import type { EventStore } from './coordination/events.js';
import type { JobStore } from './coordination/jobs.js';
import type { KeyValueStore } from './coordination/keyValues.js';
import type { LeaseStore } from './coordination/leases.js';
import type { CounterStore } from './coordination/limits.js';
import type { ProcessStore } from './coordination/processes.js';
import type { HomeStore } from './files/homes.js';
import type { HomeUsageStore } from './files/homeUsage.js';
import type { IdempotencyStore } from './files/idempotency.js';
import type { LinkStore } from './files/links.js';
import type { MemberStore } from './files/members.js';
import type { PublishedNameStore } from './files/publishedNames.js';
import type { RootStore } from './files/roots.js';
import type { ShareStore } from './files/shares.js';
import type { ShareUseStore } from './files/shareUses.js';
import type { TicketStore } from './files/tickets.js';
import type { TrashStore } from './files/trash.js';
import type { UploadStore } from './files/uploads.js';
import type { VersionStore } from './files/versions.js';

/** The stores of one database. A change is durable when its promise resolves. */
export interface Stores {
	readonly users: UserStore;
	readonly secondFactors: SecondFactorStore;
	readonly sessions: SessionStore;
	readonly roots: RootStore;
	readonly homes: HomeStore;
	readonly homeUsage: HomeUsageStore;
	readonly limits: CounterStore;
	readonly links: LinkStore;
	readonly members: MemberStore;
	readonly shares: ShareStore;
	readonly shareUses: ShareUseStore;
	readonly uploads: UploadStore;
	readonly idempotency: IdempotencyStore;
	readonly publishedNames: PublishedNameStore;
	readonly tickets: TicketStore;
	readonly trash: TrashStore;
	readonly versions: VersionStore;
	readonly jobs: JobStore;
	readonly leases: LeaseStore;
	readonly events: EventStore;
	/** Undefined for a file. */
	readonly processes: ProcessStore | undefined;
	/** The key-value store with expiry of one scope, such as a plugin's name. */
	keyValues(scope: string): KeyValueStore;
	/** Removes values that have expired. Resolves to how many. */
	sweepKeyValues(): Promise<number>;
	/** Removes windows of limits that have ended. Resolves to how many. */
	sweepLimits(): Promise<number>;
}
