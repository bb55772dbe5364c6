/** Requests that start in one round of the event loop. One costs a millisecond at most until it waits for the first time. */
const maxInRound = 8;

/** While connections come, this many rounds only accept, and then this few requests start. */
const acceptingRounds = 8;
const maxWhileAccepting = 2;

/**
 * Starts a few requests in each round of the event loop and lets the others wait, round robin by client: a client with a hundred
 * connections delays all others by one request, not by a hundred. Those of a quiet server start at once. How many can wait is bounded by
 * the number of connections.
 *
 * Node accepts one connection a round. A further one would wait in the kernel until all before it were accepted and, one a round,
 * answered; so accepting has priority.
 */
export class RequestScheduler {
	/** By client, in round robin order. */
	readonly #waiting = new Map<string, (() => void)[]>();
	#startedInRound = 0;
	#hasAccepted = false;
	#acceptingRounds = 0;
	#isNextRoundSet = false;

	/** A connection was opened; more may wait to be accepted. */
	onConnection(): void {
		this.#hasAccepted = true;
		this.#setNextRound();
	}

	/** Calls `start` now or in one of the next rounds. It must not throw. */
	add(client: string, start: () => void): void {
		if (this.#waiting.size === 0 && !this.#hasAccepted && this.#startedInRound < maxInRound) {
			this.#begin(start);
			return;
		}
		const waiting = this.#waiting.get(client);
		if (waiting === undefined) this.#waiting.set(client, [start]);
		else waiting.push(start);
		this.#setNextRound();
	}

	#begin(start: () => void): void {
		this.#startedInRound++;
		this.#setNextRound();
		start();
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
		for (let start = this.#next(); start !== undefined; start = this.#next()) {
			this.#begin(start);
			if (this.#startedInRound === limit) break;
		}
	}

	/** The oldest request of the next client, which becomes the last in the round robin order. */
	#next(): (() => void) | undefined {
		for (const [client, waiting] of this.#waiting) {
			const start = waiting.shift();
			this.#waiting.delete(client);
			if (waiting.length > 0) this.#waiting.set(client, waiting);
			return start;
		}
		return undefined;
	}
}
