import { AsyncLocalStorage } from 'node:async_hooks';
import type { Audience, EventStore, Notification } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import type { Log } from '../log.js';
import { createEncryption, type Encryption } from './encryption.js';
import type { ObservableNotifications } from './notifications.js';
import { SiblingEvents } from './SiblingEvents.js';
import { noSiblings } from './siblings.js';

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

/** Tickets whose current state a new subscriber gets. */
const maxRecent = 1000;

/** Characters of an event as it is stored: a row of MariaDB has room for 64 KiB. */
const maxPayload = 60_000;

type RelayedEvent =
	| { kind: 'notification'; audience: Audience; item: Notification }
	/** The rows of this folder are others than they were. */
	| { kind: 'folder'; path: StoragePath }
	/** What other nodes have to read again for their indexes of names. */
	| { kind: 'index'; part: IndexPart };

/** As the index has it. */
type IndexPart = ReturnType<NodeChanges['take']>[number];

interface Dependencies {
	store: EventStore;
	/** Identifies this process, and reports whether another one has ended. */
	identity: { readonly name: string; hasEnded(name: string): Promise<boolean> };
	/** Shared by all processes over this database. */
	secret: string;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	/** Those of this process alone. */
	notifications: ObservableNotifications;
	/** Processes that get events without the database. */
	siblings?: SiblingEvents;
	folders(): FolderListeners;
	nodeChanges?: NodeChanges;
	monotonic(): number;
	log: Log;
}

/** What the indexes of names of several nodes tell each other. */
interface NodeChanges {
	/** Whether this process asks for what other nodes change. */
	follows(): boolean;
	readonly isWaiting: boolean;
	/** What waits to be sent, in parts for one event each. */
	take(): (readonly [rootId: string, kind: 'rows' | 'tree', path: StoragePath])[][];
	putBack(parts: readonly IndexPart[]): void;
	receive(part: IndexPart): void;
	/** What other nodes have changed until now may not have been sent here. */
	missed(): Promise<void>;
}

interface FolderListeners {
	/** Whether a client of this process has subscribed to a folder whose storage does not notify of changes. */
	hasPolled(): boolean;
	/** Publishes a change that another process made to the pages of this one. */
	publishRemoteChange(folder: StoragePath): void;
}

const siblingKind = 'event';

/**
 * Relays events of tickets, the trash and shared folders, and changes of folders without notifications, to the pages
 * of other processes over the same database, and what indexes of names have to read again to other nodes. Nothing is
 * written unless another process asks for it, and nothing is read unless this one does. Events are hints: only the
 * latest state of a ticket, at most once a second. Processes behind the same primary process get them from that, sooner
 * and without a write.
 */
export class EventRelay {
	readonly #parts: Dependencies;
	readonly #encryption: Encryption;
	readonly #siblings: SiblingEvents;
	/** Its work belongs to no request, whichever one woke it. */
	readonly #inOwnContext = AsyncLocalStorage.snapshot();
	/** The latest unsent event by subject. */
	#pending = new Map<string, RelayedEvent>();
	/** The latest states of tickets, the oldest first. */
	readonly #recent = new Map<string, { relayed: RelayedEvent; at: number }>();
	/** The subscribed processes at the last poll. */
	#listeners = new Set<string>();
	/** The last event of each process that was read here. */
	readonly #read = new Map<string, { number: number; at: number }>();
	#number = 0;
	#readAt = Number.NEGATIVE_INFINITY;
	/** When changes of other nodes were read last for the index of names. */
	#followedAt = Number.NEGATIVE_INFINITY;
	#registration: { at: number; pollsFolders: boolean } | undefined;
	/** Since when this process has no subscribers left, while its subscription is still stored. */
	#idleSince: number | undefined;
	/** When to remove the events that were written here. */
	#sweepAt: number | undefined;
	#timer: NodeJS.Timeout | undefined;
	#ticking: Promise<void> | undefined;
	#isFailing = false;
	#isClosed = false;

	constructor(parts: Dependencies) {
		this.#parts = parts;
		this.#encryption = createEncryption('events', parts.secret);
		this.#siblings = parts.siblings ?? new SiblingEvents(noSiblings);
		this.#siblings.on(siblingKind, ({ event }) => this.#publish(event as RelayedEvent));
		this.#siblings.onJoined((name) => {
			const messages = [...this.#recent.values()].map(({ relayed }) => ({ kind: siblingKind, event: relayed }));
			this.#siblings.sendTo(name, messages);
		});
	}

	/**
	 * The notifications of this process, of which those of tickets, the trash and shared folders reach the pages of all.
	 * Changes of jobs are read from their rows, whichever process runs them.
	 */
	notifications(): ObservableNotifications {
		const { notifications } = this.#parts;
		return {
			...notifications,
			publish: (audience, item) => {
				notifications.publish(audience, item);
				const relayed: RelayedEvent = { kind: 'notification', audience, item };
				if (item.kind === 'trash' || item.kind === 'shared') this.#send(JSON.stringify([audience, item.kind]), relayed);
				if (item.kind !== 'ticket') return;
				const key = JSON.stringify([audience, item.ticket]);
				this.#recent.delete(key);
				this.#recent.set(key, { relayed, at: this.#parts.monotonic() });
				this.#send(key, relayed);
			},
			subscribe: (audience, listener) => {
				const unsubscribe = notifications.subscribe(audience, listener);
				this.wake();
				return unsubscribe;
			},
		};
	}

	/** This process has changed the rows of a folder. */
	relayChange(path: StoragePath): void {
		this.#send(`folder ${path}`, { kind: 'folder', path });
	}

	/** Called when there is an event to send, or a new subscriber. */
	wake(): void {
		if (this.#isClosed) return;
		if (this.#timer === undefined && this.#ticking === undefined) void this.tick();
	}

	/** Polls once, and schedules further polls while they are needed. Resolves after this poll. */
	tick(): Promise<void> {
		clearTimeout(this.#timer);
		this.#ticking ??= this.#inOwnContext(() => this.#tick().finally(() => this.#scheduleTick()));
		return this.#ticking;
	}

	/** Sends the pending events and ends the subscription. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await this.#ticking;
		clearTimeout(this.#timer);
		this.#siblings.flush();
		try {
			await this.#sendAll();
			if (this.#registration !== undefined) await this.#parts.store.unlisten(this.#parts.identity.name);
		} catch (error) {
			// Remaining events in the database expire in a minute.
			this.#parts.log.debug({ err: error }, 'the last events could not be sent to other processes');
		}
	}

	#send(key: string, relayed: RelayedEvent): void {
		if (this.#isClosed) return;
		this.#siblings.send(key, { kind: siblingKind, event: relayed });
		this.#pending.delete(key);
		this.#pending.set(key, relayed);
		this.wake();
	}

	#isListening(): boolean {
		return this.#parts.notifications.hasSubscribers() || this.#pollsFolders();
	}

	/** Whether changes of folders are asked for at all. */
	#pollsFolders(): boolean {
		return this.#parts.folders().hasPolled() || this.#follows();
	}

	#follows(): boolean {
		return this.#parts.nodeChanges?.follows() ?? false;
	}

	#needsPolling(): boolean {
		const isRegistered = this.#registration !== undefined || this.#sweepAt !== undefined;
		const hasUnsent = this.#pending.size > 0 || (this.#parts.nodeChanges?.isWaiting ?? false);
		return isRegistered || hasUnsent || this.#recent.size > 0 || this.#isListening();
	}

	#scheduleTick(): void {
		this.#ticking = undefined;
		if (this.#isClosed) return;
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			if (this.#needsPolling()) void this.tick();
		}, relayTimes.tickMs).unref();
	}

	async #tick(): Promise<void> {
		try {
			if (this.#isListening()) {
				await this.#register();
				await this.#receive();
			} else await this.#unregisterWhenIdle();
			await this.#sendAll();
			await this.#sweep();
			await this.#makeUpForGap();
			this.#isFailing = false;
		} catch (error) {
			if (!this.#isFailing) this.#parts.log.warn({ err: error }, 'events could not be exchanged with other processes');
			this.#isFailing = true;
		}
	}

	async #register(): Promise<void> {
		const { store, identity, monotonic } = this.#parts;
		this.#idleSince = undefined;
		const pollsFolders = this.#pollsFolders();
		const lastSent = this.#registration;
		const isKnown = lastSent !== undefined && monotonic() - lastSent.at < relayTimes.renewMs;
		if (isKnown && (lastSent.pollsFolders || !pollsFolders)) return;
		const at = monotonic();
		await store.listen(identity.name, pollsFolders);
		this.#registration = { at, pollsFolders };
	}

	async #unregisterWhenIdle(): Promise<void> {
		if (this.#registration === undefined) return;
		const { store, identity, monotonic } = this.#parts;
		this.#idleSince ??= monotonic();
		if (monotonic() - this.#idleSince < relayTimes.idleMs) return;
		await store.unlisten(identity.name);
		this.#registration = undefined;
	}

	async #receive(): Promise<void> {
		const { store, identity, monotonic } = this.#parts;
		const { lateMs, keptMs } = relayTimes;
		const at = monotonic();
		const ms = Math.ceil(Math.min(at - this.#readAt, keptMs) + lateMs);
		const events = await store.latest(ms, identity.name);
		this.#readAt = at;
		for (const [process, { at: readAt }] of this.#read) if (at - readAt > 3 * keptMs) this.#read.delete(process);
		for (const { process, number, payload } of events) {
			// Those of a process are committed in their order.
			if (number <= (this.#read.get(process)?.number ?? 0)) continue;
			this.#read.set(process, { number, at });
			const text = this.#encryption.decrypt(payload);
			const relayed = text === undefined ? undefined : (JSON.parse(text) as RelayedEvent);
			// Those beside this process note what they change themselves, for the index that they have in common.
			const isNoted = relayed?.kind === 'index' && this.#siblings.names.has(process);
			if (relayed !== undefined && !isNoted) this.#publish(relayed);
		}
	}

	/** What was sent to a process that asks for changes again after a while, or that had no database, may be gone. */
	async #makeUpForGap(): Promise<void> {
		const follows = this.#follows();
		if (follows && this.#readAt - this.#followedAt > relayTimes.keptMs) await this.#parts.nodeChanges?.missed();
		this.#followedAt = follows ? this.#readAt : Number.NEGATIVE_INFINITY;
	}

	/** Publishes an event of another process in this one. */
	#publish(relayed: RelayedEvent): void {
		if (relayed.kind === 'notification') this.#parts.notifications.publish(relayed.audience, relayed.item);
		else if (relayed.kind === 'folder') this.#parts.folders().publishRemoteChange(relayed.path);
		else if (relayed.kind === 'index') this.#parts.nodeChanges?.receive(relayed.part);
	}

	async #sendAll(): Promise<void> {
		this.#dropOld();
		const { nodeChanges } = this.#parts;
		if (this.#pending.size === 0 && this.#recent.size === 0 && !nodeChanges?.isWaiting) return;
		const before = this.#listeners;
		const listeners = await this.#findListeners();
		this.#listeners = new Set(listeners.map(({ process }) => process));
		const pending = this.#pending;
		this.#pending = new Map();
		const parts = nodeChanges?.take() ?? [];
		if (listeners.length === 0) return;
		const isNew = listeners.some(({ process }) => !before.has(process));
		const recent = isNew ? [...this.#recent].map(([key, { relayed }]) => [key, relayed] as const) : [];
		const events = new Map([...recent, ...pending]);
		const areFoldersPolled = listeners.some(({ pollsFolders }) => pollsFolders);
		if (!areFoldersPolled) for (const [key, { kind }] of events) if (kind === 'folder') events.delete(key);
		const changes = areFoldersPolled ? parts.map((part) => ({ kind: 'index', part }) as const) : [];
		try {
			await this.#write([...events.values(), ...changes]);
		} catch (error) {
			nodeChanges?.putBack(parts);
			this.#pending = new Map([...events, ...this.#pending]);
			throw error;
		}
	}

	/** Processes beside this one that have pages and get events by the database only. */
	async #findListeners() {
		const { store, identity } = this.#parts;
		const all = await store.listeners(relayTimes.listeningMs, identity.name);
		const found = all.filter(({ process }) => !this.#siblings.names.has(process));
		const haveEnded = await Promise.all(found.map(({ process }) => identity.hasEnded(process)));
		return found.filter((_, index) => !haveEnded[index]);
	}

	async #write(events: readonly RelayedEvent[]): Promise<void> {
		if (events.length === 0) return;
		const { store, identity, databaseReserve, monotonic } = this.#parts;
		const sealed = events.map((relayed) => this.#encryption.encrypt(JSON.stringify(relayed)));
		// A path may be longer than a row. What could never be stored would hold up all that comes later.
		const payloads = sealed.filter(({ length }) => length <= maxPayload);
		await databaseReserve.assertRoom(payloads.reduce((bytes, { length }) => bytes + length, 0));
		const rows = payloads.map((payload) => ({ number: ++this.#number, payload }));
		this.#sweepAt ??= monotonic() + 1.5 * relayTimes.keptMs;
		await store.add(identity.name, rows);
	}

	async #sweep(): Promise<void> {
		if (this.#sweepAt === undefined || this.#parts.monotonic() < this.#sweepAt) return;
		await this.#parts.store.sweep(relayAges);
		this.#sweepAt = undefined;
	}

	#dropOld(): void {
		const now = this.#parts.monotonic();
		for (const [key, { at }] of this.#recent) {
			if (now - at < relayTimes.recentMs && this.#recent.size <= maxRecent) break;
			this.#recent.delete(key);
		}
	}
}
