import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventStore } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import type { DatabaseReserve } from '../../limits/databaseReserve.js';
import type { Log } from '../../log.js';
import { createEncryption } from '../encryption.js';
import type { ObservableNotifications } from '../notifications.js';
import { SiblingEvents } from '../SiblingEvents.js';
import { noSiblings } from '../siblings.js';
import { Inbox } from './Inbox.js';
import { Outbox } from './Outbox.js';
import { type NodeChangeFeed, type RelayedEvent, relayTimes } from './relayedEvent.js';
import { Subscription } from './Subscription.js';

interface Dependencies {
	store: EventStore;
	/** Identifies this process, and reports whether another one has ended. */
	identity: { readonly name: string; hasEnded(name: string): Promise<boolean> };
	/** Shared by all processes over this database. */
	secret: string;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	/** The notifications to the pages of this process. */
	notifications: ObservableNotifications;
	/** Processes that get events without the database. */
	siblings?: SiblingEvents;
	folders(): FolderListeners;
	nodeChanges?: NodeChangeFeed;
	monotonic(): number;
	log: Log;
}

interface FolderListeners {
	/** Whether a client of this process has subscribed to a folder whose storage does not notify of changes. */
	hasPolled(): boolean;
	/** Notifies the pages of this process of a change that another process made. */
	notifyRemoteChange(folder: StoragePath): void;
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
	readonly #siblings: SiblingEvents;
	readonly #subscription: Subscription;
	readonly #inbox: Inbox;
	readonly #outbox: Outbox;
	/** Runs its work in the context of no request, whichever one woke it. */
	readonly #inOwnContext = AsyncLocalStorage.snapshot();
	/** When changes of other nodes were read last for the index of names. */
	#followedAt = Number.NEGATIVE_INFINITY;
	#timer: NodeJS.Timeout | undefined;
	#ticking: Promise<void> | undefined;
	#isFailing = false;
	#isClosed = false;

	constructor(parts: Dependencies) {
		const { store, identity, databaseReserve, nodeChanges, monotonic } = parts;
		const encryption = createEncryption('events', parts.secret);
		this.#parts = parts;
		this.#siblings = parts.siblings ?? new SiblingEvents(noSiblings);
		this.#subscription = new Subscription(store, identity.name, monotonic);
		this.#inbox = new Inbox({ store, process: identity.name, encryption, monotonic });
		this.#outbox = new Outbox({
			store,
			identity,
			siblings: () => this.#siblings.names,
			encryption,
			databaseReserve,
			nodeChanges,
			monotonic,
		});
		this.#siblings.on(siblingKind, ({ event }) => this.#publish(event as RelayedEvent));
		this.#siblings.onJoined((name) => {
			const messages = this.#outbox.recent.map((event) => ({ kind: siblingKind, event }));
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
				this.#outbox.remember(key, relayed);
				this.#send(key, relayed);
			},
			subscribe: (audience, listener) => {
				const unsubscribe = notifications.subscribe(audience, listener);
				this.wake();
				return unsubscribe;
			},
		};
	}

	/** Tells other processes that this one has changed the rows of a folder. */
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
			await this.#outbox.send();
			await this.#subscription.end();
		} catch (error) {
			// Remaining events in the database expire in a minute.
			this.#parts.log.debug({ err: error }, 'the last events could not be sent to other processes');
		}
	}

	#send(key: string, relayed: RelayedEvent): void {
		if (this.#isClosed) return;
		this.#siblings.send(key, { kind: siblingKind, event: relayed });
		this.#outbox.add(key, relayed);
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

	#scheduleTick(): void {
		this.#ticking = undefined;
		if (this.#isClosed) return;
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			if (this.#subscription.isStored || this.#outbox.hasWork || this.#isListening()) void this.tick();
		}, relayTimes.tickMs).unref();
	}

	async #tick(): Promise<void> {
		try {
			if (this.#isListening()) {
				await this.#subscription.renew(this.#pollsFolders());
				await this.#inbox.receive((relayed, process) => this.#receive(relayed, process));
			} else await this.#subscription.endWhenIdle();
			await this.#outbox.send();
			await this.#outbox.sweep();
			await this.#makeUpForGap();
			this.#isFailing = false;
		} catch (error) {
			if (!this.#isFailing) this.#parts.log.warn({ err: error }, 'events could not be exchanged with other processes');
			this.#isFailing = true;
		}
	}

	#receive(relayed: RelayedEvent, process: string): void {
		// Those beside this process note what they change themselves, for the index that they have in common.
		const isNoted = relayed.kind === 'index' && this.#siblings.names.has(process);
		if (!isNoted) this.#publish(relayed);
	}

	/** What was sent to a process that asks for changes again after a while, or that had no database, may be gone. */
	async #makeUpForGap(): Promise<void> {
		const { readAt } = this.#inbox;
		const follows = this.#follows();
		if (follows && readAt - this.#followedAt > relayTimes.keptMs) await this.#parts.nodeChanges?.missed();
		this.#followedAt = follows ? readAt : Number.NEGATIVE_INFINITY;
	}

	/** Publishes an event of another process in this one. */
	#publish(relayed: RelayedEvent): void {
		if (relayed.kind === 'notification') this.#parts.notifications.publish(relayed.audience, relayed.item);
		else if (relayed.kind === 'folder') this.#parts.folders().notifyRemoteChange(relayed.path);
		else if (relayed.kind === 'index') this.#parts.nodeChanges?.receive(relayed.part);
	}
}
