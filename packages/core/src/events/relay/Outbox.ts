import type { EventStore } from '@stowage/plugin-api';
import type { DatabaseReserve } from '../../limits/databaseReserve.js';
import type { Encryption } from '../encryption.js';
import { type NodeChangeFeed, type RelayedEvent, relayAges, relayTimes } from './relayedEvent.js';

/** Tickets whose current state a new subscriber gets. */
const maxRecent = 1000;

/** Characters of an event as it is stored: a row of MariaDB has room for 64 KiB. */
const maxPayload = 60_000;

interface Dependencies {
	store: Pick<EventStore, 'add' | 'listeners' | 'sweep'>;
	/** Identifies this process, and reports whether another one has ended. */
	identity: { readonly name: string; hasEnded(name: string): Promise<boolean> };
	/** Names of processes that get events without the database. */
	siblings(): { has(process: string): boolean };
	encryption: Encryption;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	nodeChanges: NodeChangeFeed | undefined;
	monotonic(): number;
}

/** Collects what other processes are to hear, and writes it to the database where one of them asks for it. */
export class Outbox {
	readonly #parts: Dependencies;
	/** The latest unsent event by subject. */
	#pending = new Map<string, RelayedEvent>();
	/** The latest states of tickets, the oldest first. */
	readonly #recent = new Map<string, { relayed: RelayedEvent; at: number }>();
	/** The subscribed processes at the last time. */
	#listeners = new Set<string>();
	#number = 0;
	/** When to remove the events that were written here. */
	#sweepAt: number | undefined;

	constructor(parts: Dependencies) {
		this.#parts = parts;
	}

	/** Whether it has to be sent or swept at a later time. */
	get hasWork(): boolean {
		return this.#hasUnsent || this.#recent.size > 0 || this.#sweepAt !== undefined;
	}

	get #hasUnsent(): boolean {
		return this.#pending.size > 0 || (this.#parts.nodeChanges?.isWaiting ?? false);
	}

	/** The states that a new subscriber gets, the oldest first. */
	get recent(): RelayedEvent[] {
		return [...this.#recent.values()].map(({ relayed }) => relayed);
	}

	/** Adds an event to be sent, in place of one that waits with the same key. */
	add(key: string, relayed: RelayedEvent): void {
		this.#pending.delete(key);
		this.#pending.set(key, relayed);
	}

	/** Keeps an event for a while, to be sent to new subscribers too. */
	remember(key: string, relayed: RelayedEvent): void {
		this.#recent.delete(key);
		this.#recent.set(key, { relayed, at: this.#parts.monotonic() });
	}

	/** Writes what waits. What nobody asks for is dropped; what could not be written waits for the next time. */
	async send(): Promise<void> {
		this.#dropOld();
		const { nodeChanges } = this.#parts;
		if (!this.#hasUnsent && this.#recent.size === 0) return;
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

	/** Removes what was written here, after every process has had the time to read it. */
	async sweep(): Promise<void> {
		if (this.#sweepAt === undefined || this.#parts.monotonic() < this.#sweepAt) return;
		await this.#parts.store.sweep(relayAges);
		this.#sweepAt = undefined;
	}

	/** Processes that have pages and get events by the database only. */
	async #findListeners() {
		const { store, identity, siblings } = this.#parts;
		const all = await store.listeners(relayTimes.listeningMs, identity.name);
		const found = all.filter(({ process }) => !siblings().has(process));
		const haveEnded = await Promise.all(found.map(({ process }) => identity.hasEnded(process)));
		return found.filter((_, index) => !haveEnded[index]);
	}

	async #write(events: readonly RelayedEvent[]): Promise<void> {
		if (events.length === 0) return;
		const { store, identity, encryption, databaseReserve, monotonic } = this.#parts;
		const sealed = events.map((relayed) => encryption.encrypt(JSON.stringify(relayed)));
		// A path may be longer than a row. What could never be stored would hold up all that comes later.
		const payloads = sealed.filter(({ length }) => length <= maxPayload);
		await databaseReserve.assertRoom(payloads.reduce((bytes, { length }) => bytes + length, 0));
		const rows = payloads.map((payload) => ({ number: ++this.#number, payload }));
		this.#sweepAt ??= monotonic() + 1.5 * relayTimes.keptMs;
		await store.add(identity.name, rows);
	}

	#dropOld(): void {
		const now = this.#parts.monotonic();
		for (const [key, { at }] of this.#recent) {
			if (now - at < relayTimes.recentMs && this.#recent.size <= maxRecent) break;
			this.#recent.delete(key);
		}
	}
}
