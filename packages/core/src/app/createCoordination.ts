import type { Database } from '@stowage/database';
import type { Audit } from '../audit/createAudit.js';
import type { Config } from '../config/schema.js';
import { createNotifications } from '../events/notifications.js';
import { EventRelay } from '../events/relay/EventRelay.js';
import { SiblingEvents } from '../events/SiblingEvents.js';
import type { Siblings } from '../events/siblings.js';
import { createJobs } from '../jobs/createJobs.js';
import { createLeases } from '../leases/createLeases.js';
import { LiveProcesses } from '../leases/LiveProcesses.js';
import { identifyProcess } from '../leases/processIdentity.js';
import { createDatabaseReserve } from '../limits/databaseReserve.js';
import type { Log } from '../log.js';
import { NodeChanges } from '../search/NodeChanges.js';
import type { SearchIndex } from '../search/SearchIndex.js';
import type { FolderFeeds } from '../trees/feeds/FolderFeeds.js';

interface Dependencies {
	config: Config;
	database: Database;
	audit: Audit;
	/** The key that seals events. */
	secret: string;
	feeds: () => FolderFeeds;
	index: () => SearchIndex;
	/** The processes beside this one behind the same primary process. */
	siblings: Siblings;
	version: string;
	/** The capabilities that plugins have registered, by name: whether this process has it now. */
	capabilities(): ReadonlyMap<string, () => boolean>;
	log: Log;
	now(): number;
	monotonic(): number;
}

/** The coordination of the processes over one database: leases, jobs, and the events for pages of other processes. */
export async function createCoordination({
	config,
	database,
	audit,
	secret,
	feeds,
	index,
	siblings: processes,
	version,
	capabilities,
	log,
	now,
	monotonic,
}: Dependencies) {
	const identity = await identifyProcess();
	const databaseReserve = createDatabaseReserve(database);
	const siblings = new SiblingEvents(processes);
	const nodeChanges = new NodeChanges({
		...{ config, index },
		isLeader: () => siblings.isLeader,
		hasOtherNodes: () => liveProcesses.hasOtherNodes,
	});
	const relay = new EventRelay({
		store: database.events,
		identity,
		secret,
		databaseReserve,
		notifications: createNotifications(monotonic),
		siblings,
		folders: feeds,
		nodeChanges,
		monotonic,
		log,
	});
	const notifications = relay.notifications();
	const liveProcesses: LiveProcesses = new LiveProcesses({
		...{ config, database, identity, version, capabilities, log, monotonic },
		onOtherNodes: () => relay.wake(),
	});
	const leases = createLeases({ store: database.leases, identity, monotonic });
	const jobs = createJobs({
		store: database.jobs,
		users: database.users,
		notifications,
		databaseReserve,
		log,
		now,
		monotonic,
		identity,
		siblings,
		mayBegin: () => config.jobs.run,
		capabilities: liveProcesses,
		onEnd({ kind, title, isOrdered }, { status, error }) {
			const outcome = status === 'completed' ? 'ok' : status;
			// It is a job of the user whom it concerns.
			const actor = isOrdered ? ({ actor: 'administrator' } as const) : {};
			const reason = error === null ? {} : { reason: error };
			audit.record({ action: 'jobEnd', kind, title, ...actor }, { outcome, ...reason });
		},
	});
	return { identity, siblings, databaseReserve, relay, nodeChanges, notifications, leases, liveProcesses, jobs };
}
