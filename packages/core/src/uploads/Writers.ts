import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Failure } from '@stowage/rules';

/** A connection that brought nothing for so long is taken for dead once a newer one wants its place. */
const quietMs = 3_000;

/** How long a newer one waits for the older to let go: it may still be bringing bytes to the disk. */
const handoverMs = 20_000;

/** Somebody who works on an upload. */
export class Writer {
	#lastBytesAt: number;
	#isOverdue = false;

	constructor(
		readonly request: IncomingMessage,
		readonly done: Promise<unknown>,
		readonly now: () => number,
	) {
		this.#lastBytesAt = now();
	}

	/** Bytes have come. */
	noteBytes(): void {
		this.#lastBytesAt = this.now();
	}

	/** Whether it ends by itself, or would for all we can tell never be heard of again. */
	get isStale(): boolean {
		const { request } = this;
		if (this.#isOverdue || request.complete || request.destroyed) return true;
		// Bytes that wait for our disk are a sign of life as well.
		return request.readableLength === 0 && this.now() - this.#lastBytesAt > quietMs;
	}

	/** Ends it and resolves once it has let go. */
	async end(): Promise<void> {
		this.#isOverdue = true;
		// Not `locked`, which says that the bytes are somebody else's: those that came by this connection are kept.
		if (!this.request.complete) this.request.destroy(new Failure('timeout', 'A newer connection took over.'));
		const isOver = await Promise.race([this.done.then(() => true), wait(handoverMs, false, { ref: false })]);
		if (!isOver) throw inUse();
	}
}

/** Lets one at a time work on an upload. Other processes are kept away by the storage. */
export class Writers {
	readonly #writers = new Map<string, Writer>();

	/** `now` is a clock that nobody sets. */
	constructor(readonly now: () => number) {}

	/** Runs `work` alone. Throws `locked` while another connection brings bytes; one that is dead gives way, keeping what had arrived. */
	async alone<T>(key: string, request: IncomingMessage, work: (writer: Writer) => Promise<T>): Promise<T> {
		await this.awaitTakeover(key);
		if (this.#writers.has(key)) throw inUse();
		let end = () => {};
		const done = new Promise<void>((resolve) => {
			end = resolve;
		});
		const writer = new Writer(request, done, this.now);
		this.#writers.set(key, writer);
		try {
			return await work(writer);
		} finally {
			this.#writers.delete(key);
			end();
		}
	}

	/** Waits for a writer that gives way. */
	async awaitTakeover(key: string): Promise<void> {
		const writer = this.#writers.get(key);
		if (writer?.isStale) await writer.end();
	}

	/** Ends a writer, alive or not. */
	async end(key: string): Promise<void> {
		await this.#writers.get(key)?.end();
	}

	isBusy(key: string): boolean {
		return this.#writers.has(key);
	}
}

function inUse(): Failure {
	return new Failure('locked', 'Another connection is sending this upload right now.', { retryAfter: 1 });
}
