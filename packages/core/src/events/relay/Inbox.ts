import type { EventStore } from '@stowage/plugin-api';
import type { Encryption } from '../encryption.js';
import { type RelayedEvent, relayTimes } from './relayedEvent.js';

interface Dependencies {
	store: Pick<EventStore, 'latest'>;
	/** The name of this process, whose own events are not read. */
	process: string;
	encryption: Encryption;
	monotonic(): number;
}

/** Reads what other processes have written to the database for this one. Each event is read once. */
export class Inbox {
	readonly #parts: Dependencies;
	/** The last event of each process that was read here. */
	readonly #read = new Map<string, { number: number; at: number }>();
	#readAt = Number.NEGATIVE_INFINITY;

	constructor(parts: Dependencies) {
		this.#parts = parts;
	}

	/** When it was read last, by the monotonic clock. */
	get readAt(): number {
		return this.#readAt;
	}

	/** Calls `publish` with what has come since the last time, and with the process that sent it; those of a process in their order. */
	async receive(publish: (relayed: RelayedEvent, process: string) => void): Promise<void> {
		const { store, process: own, encryption, monotonic } = this.#parts;
		const { lateMs, keptMs } = relayTimes;
		const at = monotonic();
		const ms = Math.ceil(Math.min(at - this.#readAt, keptMs) + lateMs);
		const events = await store.latest(ms, own);
		this.#readAt = at;
		for (const [process, { at: readAt }] of this.#read) if (at - readAt > 3 * keptMs) this.#read.delete(process);
		for (const { process, number, payload } of events) {
			// Those of a process are committed in their order.
			if (number <= (this.#read.get(process)?.number ?? 0)) continue;
			this.#read.set(process, { number, at });
			const text = encryption.decrypt(payload);
			if (text !== undefined) publish(JSON.parse(text) as RelayedEvent, process);
		}
	}
}
