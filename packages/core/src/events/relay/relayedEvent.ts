import type { Audience, Notification } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';

/** Intervals of the exchange between processes. */
export const relayTimes = {
	/**
	 * How often a process with events to send or receive polls the database; also the least time between two events of one ticket or
	 * folder.
	 */
	tickMs: 1000,
	/**
	 * How often a process with pages renews its subscription, and for how long others trust one, unless they see that the process has
	 * ended. Each time is a write, which would wake a disk that sleeps.
	 */
	renewMs: 15 * 60_000,
	listeningMs: 45 * 60_000,
	/** A process ends its subscription this long after its last page was closed, since pages are often reloaded. */
	idleMs: 30_000,
	/** Events that are committed this late are still read. */
	lateMs: 10_000,
	/** How long an event is kept. */
	keptMs: 60_000,
	/** A new subscriber gets the current state of tickets that changed within this time. */
	recentMs: 10 * 60_000,
} as const;

/** The ages at which a sweep removes events and subscriptions. */
export const relayAges = { eventsMs: relayTimes.keptMs, listenersMs: relayTimes.listeningMs };

export type RelayedEvent =
	| { kind: 'notification'; audience: Audience; item: Notification }
	/** The rows of this folder are others than they were. */
	| { kind: 'folder'; path: StoragePath }
	/** What other nodes have to read again for their indexes of names. */
	| { kind: 'index'; part: IndexPart };

/** What the index of a node has to read again, as many as one event has room for. */
export type IndexPart = (readonly [rootId: string, kind: 'rows' | 'tree', path: StoragePath])[];

/** What the indexes of names of several nodes tell each other. */
export interface NodeChangeFeed {
	/** Whether this process asks for what other nodes change. */
	follows(): boolean;
	readonly isWaiting: boolean;
	/** What waits to be sent, in parts for one event each. */
	take(): IndexPart[];
	putBack(parts: readonly IndexPart[]): void;
	receive(part: IndexPart): void;
	/** What other nodes have changed until now may not have been sent here. */
	missed(): Promise<void>;
}
