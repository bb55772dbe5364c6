import { RunningRequests } from './RunningRequests.js';

/** Requests that start in one round of the event loop. One costs a millisecond at most until it waits for the first time. */
const maxInRound = 8;

/** While connections come, this many rounds only accept, and then this few requests start. */
const acceptingRounds = 8;
const maxWhileAccepting = 2;

interface Waiting {
	start(): void;
	isWaiting(): boolean;
	hasEnded: boolean;
	leave?: () => void;
}

/**
 * Starts a few requests in each round of the event loop and lets the others wait, round robin by client: a client with a hundred
 * connections delays all others by one request, not by a hundred. `RunningRequests` decides how many may run on a busy processor. How
 * many can wait is bounded by the number of connections.
 *
 * A request that arrives alone starts at once. Where several arrive in a round, those of the next one start together at its end: their
 * steps then take turns, and each finds the code of its step in the processor's caches. That answers 1.7 times as many small requests of
 * eight connections as one whole request after another.
 *
 * Node accepts one connection a round. A further one would wait in the kernel until all before it were accepted and, one a round,
 * answered; so accepting has priority.
 */
export class RequestScheduler {
	readonly #running: RunningRequests;
	/** Waiting requests by client, clients in round robin order. */
	readonly #waiting = new Map<string, Waiting[]>();
	#startedInRound = 0;
	#arrivedInRound = 0;
	/** Several requests arrived in the last round. */
	#isBatching = false;
	#hasAccepted = false;
	#acceptingRounds = 0;
	#isNextRoundSet = false;

	constructor(running = new RunningRequests()) {
		this.#running = running;
	}

	/** A connection was opened; more may wait to be accepted. */
	onConnection(): void {
		this.#hasAccepted = true;
		this.#setNextRound();
	}

	/**
	 * Calls `start` now or in one of the next rounds. It must not throw. `isWaiting` is whether it waits for its client from then on. The
	 * returned function says that the request has ended.
	 */
	add(client: string, start: () => void, isWaiting: () => boolean = () => false): () => void {
		this.#running.arrived(client);
		const added: Waiting = { start, isWaiting, hasEnded: false };
		this.#arrivedInRound++;
		const isAlone = this.#waiting.size === 0 && !this.#isBatching && !this.#hasAccepted;
		const hasRoom = this.#startedInRound < maxInRound && this.#running.mayStart(client);
		if (isAlone && hasRoom) this.#begin(client, added);
		else {
			const waiting = this.#waiting.get(client);
			if (waiting === undefined) this.#waiting.set(client, [added]);
			else waiting.push(added);
			this.#setNextRound();
		}
		return () => {
			added.hasEnded = true;
			added.leave?.();
		};
	}

	#begin(client: string, added: Waiting): void {
		if (!added.hasEnded) {
			this.#startedInRound++;
			added.leave = this.#running.begin(client, added.isWaiting, () => this.#waiting.size > 0 && this.#setNextRound());
		}
		this.#setNextRound();
		added.start();
	}

	#setNextRound(): void {
		if (this.#isNextRoundSet) return;
		this.#isNextRoundSet = true;
		setImmediate(() => {
			this.#isNextRoundSet = false;
			this.#nextRound();
		});
	}

	#nextRound(): void {
		this.#startedInRound = 0;
		this.#isBatching = this.#arrivedInRound > 1;
		this.#arrivedInRound = 0;
		const isAccepting = this.#hasAccepted;
		this.#hasAccepted = false;
		if (this.#waiting.size === 0) {
			this.#acceptingRounds = 0;
			return;
		}
		if (isAccepting && this.#acceptingRounds++ < acceptingRounds) {
			this.#setNextRound();
			return;
		}
		this.#acceptingRounds = 0;
		const limit = isAccepting ? maxWhileAccepting : maxInRound;
		for (let next = this.#next(); next !== undefined; next = this.#next()) {
			this.#begin(next.client, next.added);
			if (this.#startedInRound >= limit) break;
		}
	}

	/** The oldest request of the next client that may have one more, which becomes the last in the round robin order. */
	#next(): { client: string; added: Waiting } | undefined {
		for (const [client, waiting] of this.#waiting) {
			if (!this.#running.mayStart(client)) continue;
			const added = waiting.shift();
			this.#waiting.delete(client);
			if (added === undefined) continue;
			if (waiting.length > 0) this.#waiting.set(client, waiting);
			return { client, added };
		}
		return undefined;
	}
}
