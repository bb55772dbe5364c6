import { AsyncLocalStorage } from 'node:async_hooks';
import type { SiblingMessage, Siblings } from './siblings.js';
import { throttle } from './throttle.js';

/** Least time between two messages, in which later events of a subject replace earlier ones. */
const spacingMs = 100;

/** How long a caller waits at most until all others have got a message: one that hangs, or has just ended, acknowledges none. */
const receiptMs = 1000;

const receiptKind = 'receipt';

/**
 * Events between the processes behind one primary process: the first of each subject at once, then the last one of
 * each tenth of a second.
 */
export class SiblingEvents {
	readonly #siblings: Siblings;
	readonly #listeners = new Map<string, (message: SiblingMessage) => void>();
	readonly #joined: ((name: string) => void)[] = [];
	readonly #lead: (() => void)[] = [];
	/** Who has not acknowledged a message yet, by its number. */
	readonly #unacknowledged = new Map<number, { names: Set<string>; done: () => void }>();
	#lastNumber = 0;
	#name = '';
	/** The latest unsent one by subject. */
	#pending = new Map<string, SiblingMessage>();
	/** Runs work in the context of no request, whichever one happened to cause it. */
	readonly #inOwnContext = AsyncLocalStorage.snapshot();
	readonly #flush = throttle(spacingMs, () => this.flush());

	constructor(siblings: Siblings) {
		this.#siblings = siblings;
		this.on(receiptKind, ({ number, from }) => {
			const { names, done } = this.#unacknowledged.get(number as number) ?? {};
			names?.delete(from as string);
			if (names?.size === 0) done?.();
		});
	}

	/** Whether this process does what one of them is enough for. */
	get isLeader(): boolean {
		return this.#siblings.isLeader;
	}

	get names(): ReadonlySet<string> {
		return this.#siblings.names;
	}

	/** Joins the other processes under a name. To be called once everybody listens. */
	join(name: string): void {
		this.#name = name;
		this.#siblings.join(name, {
			onMessages: (messages) => {
				for (const message of messages) this.#receive(message);
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

	/** Resolves once all others have got the message and their listeners were called, or after a second. */
	async sendSafely(message: SiblingMessage): Promise<void> {
		const names = new Set(this.#siblings.names);
		if (names.size === 0) return;
		const number = ++this.#lastNumber;
		let timer: NodeJS.Timeout | undefined;
		try {
			await new Promise<void>((done) => {
				this.#unacknowledged.set(number, { names, done });
				timer = setTimeout(done, receiptMs);
				this.#siblings.send([{ ...message, receipt: { number, to: this.#name } }]);
			});
		} finally {
			clearTimeout(timer);
			this.#unacknowledged.delete(number);
		}
	}

	sendTo(name: string, messages: readonly SiblingMessage[]): void {
		if (messages.length > 0) this.#siblings.send(messages, name);
	}

	#receive(message: SiblingMessage): void {
		this.#listeners.get(message.kind)?.(message);
		const receipt = message.receipt as { number: number; to: string } | undefined;
		if (receipt !== undefined)
			this.sendTo(receipt.to, [{ kind: receiptKind, number: receipt.number, from: this.#name }]);
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
