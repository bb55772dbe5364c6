import type { EventStore } from '@stowage/plugin-api';
import { relayTimes } from './relayedEvent.js';

/** The row by which other processes know that this one asks for their events. Without it they write none. */
export class Subscription {
	readonly #store: Pick<EventStore, 'listen' | 'unlisten'>;
	readonly #process: string;
	readonly #monotonic: () => number;
	#stored: { at: number; pollsFolders: boolean } | undefined;
	/** Since when this process has no pages left, while its row is still stored. */
	#idleSince: number | undefined;

	constructor(store: Pick<EventStore, 'listen' | 'unlisten'>, process: string, monotonic: () => number) {
		this.#store = store;
		this.#process = process;
		this.#monotonic = monotonic;
	}

	get isStored(): boolean {
		return this.#stored !== undefined;
	}

	/** Writes the row where it is missing, old, or says that changes of folders are not asked for while they are. */
	async renew(pollsFolders: boolean): Promise<void> {
		this.#idleSince = undefined;
		const stored = this.#stored;
		const isFresh = stored !== undefined && this.#monotonic() - stored.at < relayTimes.renewMs;
		if (isFresh && (stored.pollsFolders || !pollsFolders)) return;
		const at = this.#monotonic();
		await this.#store.listen(this.#process, pollsFolders);
		this.#stored = { at, pollsFolders };
	}

	/** Called while this process asks for nothing: removes the row after a while. */
	async endWhenIdle(): Promise<void> {
		if (this.#stored === undefined) return;
		this.#idleSince ??= this.#monotonic();
		if (this.#monotonic() - this.#idleSince >= relayTimes.idleMs) await this.end();
	}

	async end(): Promise<void> {
		if (this.#stored === undefined) return;
		await this.#store.unlisten(this.#process);
		this.#stored = undefined;
	}
}
