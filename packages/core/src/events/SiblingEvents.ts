import { AsyncLocalStorage } from 'node:async_hooks';
import type { SiblingMessage, Siblings } from './siblings.js';
import { throttle } from './throttle.js';

/** Least time between two messages, in which later events of a subject replace earlier ones. */
const spacingMs = 100;

/**
 * Events between the processes behind one primary process: the first of each subject at once, then the last one of
 * each tenth of a second.
 */
export class SiblingEvents {
	readonly #siblings: Siblings;
	readonly #listeners = new Map<string, (message: SiblingMessage) => void>();
	readonly #joined: ((name: string) => void)[] = [];
	readonly #lead: (() => void)[] = [];
	/** The latest unsent one by subject. */
	#pending = new Map<string, SiblingMessage>();
	/** Nothing here belongs to the request that happened to cause it. */
	readonly #inOwnContext = AsyncLocalStorage.snapshot();
	readonly #flush = throttle(spacingMs, () => this.flush());

	constructor(siblings: Siblings) {
		this.#siblings = siblings;
	}

	/** Whether this process does what one of them is enough for. */
	get isLeader(): boolean {
		return this.#siblings.isLeader;
	}

	get names(): ReadonlySet<string> {
		return this.#siblings.names;
	}

	/** Once everybody listens. */
	join(name: string): void {
		this.#siblings.join(name, {
			onMessages: (messages) => {
				for (const message of messages) this.#listeners.get(message.kind)?.(message);
			},
			onJoined: (other) => {
				for (const listener of this.#joined) listener(other);
			},
			onLead: () => {
				for (const listener of this.#lead) listener();
			},
		});
	}

	/** Calls `listener` with each message of this kind. */
	on(kind: string, listener: (message: SiblingMessage) => void): void {
		this.#listeners.set(kind, listener);
	}

	onJoined(listener: (name: string) => void): void {
		this.#joined.push(listener);
	}

	onLead(listener: () => void): void {
		this.#lead.push(listener);
	}

	/** Later messages of a subject replace those that have not left yet. */
	send(subject: string, message: SiblingMessage): void {
		if (this.#siblings.names.size === 0) return;
		// What is sent in one go leaves together.
		if (this.#pending.size === 0) queueMicrotask(() => this.#inOwnContext(this.#flush));
		this.#pending.delete(subject);
		this.#pending.set(subject, message);
	}

	sendTo(name: string, messages: readonly SiblingMessage[]): void {
		if (messages.length > 0) this.#siblings.send(messages, name);
	}

	/** Sends what waits. */
	flush(): void {
		// Sent by another call meanwhile.
		if (this.#pending.size === 0) return;
		const messages = [...this.#pending.values()];
		this.#pending = new Map();
		this.#siblings.send(messages);
	}
}
