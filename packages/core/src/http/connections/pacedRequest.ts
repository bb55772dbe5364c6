import { IncomingMessage } from 'node:http';

/** Chunks up to this length are small. Longer ones take no more time than their bytes do. */
const smallBytes = 512;

/** The milliseconds that a small chunk counts for: each client may send 50,000 in a second, and 12,500 at once. */
const chunkMs = 1 / 50;
const burstMs = 250;

/** How many clients are remembered, at least, before those are forgotten that have no small chunks to wait for. */
const minClients = 1_000;

/** What the small chunks of each client have used of its time. */
class ChunkClock {
	/** Until when each client's time is used, in milliseconds of a monotonic clock. */
	readonly #usedUntil = new Map<string, number>();
	#maxClients = minClients;

	/** Counts a small chunk. Returns until when its connection is not read any more, which may have passed. */
	add(client: string): number {
		const now = performance.now();
		const until = Math.max(this.#usedUntil.get(client) ?? 0, now) + chunkMs;
		this.#usedUntil.set(client, until);
		if (this.#usedUntil.size > this.#maxClients) this.#forget(now);
		return until - burstMs;
	}

	#forget(now: number): void {
		for (const [client, until] of this.#usedUntil) if (until <= now) this.#usedUntil.delete(client);
		this.#maxClients = Math.max(minClients, 2 * this.#usedUntil.size);
	}
}

/**
 * A request whose body may come in chunks of a byte each, which take Node a hundred times as long as their bytes: they
 * are joined before anybody reads them, and a client that sends very many is read from in turns, its connections one
 * after the other.
 */
export abstract class PacedRequest extends IncomingMessage {
	/** Whose time its chunks take. */
	client = '';
}

/** The class of the requests of one server. */
export function createPacedRequests(): typeof IncomingMessage {
	const clock = new ChunkClock();
	return class extends PacedRequest {
		#small: Buffer[] = [];
		#length = 0;
		#restsUntil = 0;

		/** Called by Node for each chunk. It stops reading from the connection where this returns false, until `_read`. */
		override push(chunk: Buffer | null): boolean {
			if (chunk === null || chunk.length >= smallBytes) {
				this.#join();
				return super.push(chunk);
			}
			if (this.#small.length === 0) setImmediate(() => this.#join());
			this.#small.push(chunk);
			this.#length += chunk.length;
			this.#restsUntil = clock.add(this.client);
			const isFull = this.readableLength + this.#length >= this.readableHighWaterMark;
			return !isFull && this.#restsUntil <= performance.now();
		}

		override _read(size: number): void {
			const wait = this.#restsUntil - performance.now();
			if (wait <= 0) super._read(size);
			else setTimeout(() => super._read(size), Math.ceil(wait));
		}

		#join(): void {
			if (this.#small.length === 0) return;
			const joined = Buffer.concat(this.#small, this.#length);
			this.#small = [];
			this.#length = 0;
			if (!this.destroyed) super.push(joined);
		}
	};
}
