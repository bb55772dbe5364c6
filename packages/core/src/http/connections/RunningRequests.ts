import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { Counts } from '../../limits/Counts.js';

/** Bounds of how many requests of one client are worked on at once. */
const minPerClient = 2;
const maxPerClient = 64;

/**
 * While the processor is used up, all clients together have this many times the requests that one may have: what two
 * clients have leaves room for a third one.
 */
const clientsAtOnce = 3;

/**
 * A request that takes longer than `placeMs` leaves its place to others and goes on. So does one that waits for its
 * client, which is checked every `checkMs`.
 */
const placeMs = 1000;
const checkMs = 25;

/** How often it is measured how busy the process is. */
const sampleMs = 50;

/** Shares of the time in which the event loop worked. Above `busy` fewer requests run at once, below `quiet` more. */
const busy = 0.85;
const quiet = 0.7;

/** A client counts as the only one once no other has sent a request for this long. */
const besideMs = 1000;

interface Clock {
	/** Milliseconds of a monotonic clock. */
	now(): number;
	/** What share of the time since the last call the event loop has worked. */
	busyShare(): number;
}

/**
 * Decides how many requests of one client are worked on at once while the processor is used up. All that are under way take turns on it,
 * so that whoever has one waits for as many steps as the others have requests; and more at once than keep it busy make nothing
 * faster. A client that calls alone, or a process that mostly waits for the disk, has no limit.
 */
export class RunningRequests {
	readonly #clock: Clock;
	readonly #running = new Counts();
	#total = 0;
	#perClient = maxPerClient;
	#sampledAt: number;
	#latest: string | undefined;
	#alternatedAt = Number.NEGATIVE_INFINITY;

	constructor(clock: Clock = { now: () => performance.now(), busyShare: busyShare() }) {
		this.#clock = clock;
		this.#sampledAt = clock.now();
	}

	/** A request of this client has arrived. */
	arrived(client: string): void {
		if (client === this.#latest) return;
		if (this.#latest !== undefined) this.#alternatedAt = this.#clock.now();
		this.#latest = client;
	}

	mayStart(client: string): boolean {
		if (this.#total < minPerClient) return true;
		this.#sample();
		if (this.#clock.now() - this.#alternatedAt > besideMs) return true;
		const own = this.#running.of(client);
		if (own >= this.#perClient) return false;
		if (this.#perClient === maxPerClient || this.#total < clientsAtOnce * this.#perClient) return true;
		// What one has begun while it called alone, or while the processor was idle, is no reason for others to wait.
		return own === 0 && this.#running.size < clientsAtOnce;
	}

	/**
	 * Begins a request, and calls `onLeft` when it leaves its place; the returned function says that it has ended. `isWaiting` says
	 * whether it waits for its client now, to send its body or to take the answer.
	 */
	begin(client: string, isWaiting: () => boolean, onLeft: () => void): () => void {
		this.#running.add(client, 1);
		this.#total++;
		let isThere = true;
		const leave = () => {
			if (!isThere) return;
			isThere = false;
			clearTimeout(timer);
			this.#running.add(client, -1);
			this.#total--;
			onLeft();
		};
		let checks = placeMs / checkMs;
		const check = () => {
			if (--checks === 0 || isWaiting()) leave();
			else timer.refresh();
		};
		const timer = setTimeout(check, checkMs).unref();
		return leave;
	}

	#sample(): void {
		const now = this.#clock.now();
		const samples = Math.floor((now - this.#sampledAt) / sampleMs);
		if (samples === 0) return;
		this.#sampledAt = now;
		const share = this.#clock.busyShare();
		if (share > busy) this.#perClient = Math.max(minPerClient, Math.floor(this.#perClient / 2));
		else if (share < quiet) this.#perClient = Math.min(maxPerClient, this.#perClient + samples);
	}
}

function busyShare(): () => number {
	let before: EventLoopUtilization | undefined;
	return () => {
		const now = performance.eventLoopUtilization();
		const { utilization } = performance.eventLoopUtilization(now, before);
		before = now;
		return utilization;
	};
}
