import { KnexTimeoutError } from 'knex/lib/util/timeout.js';

/** Longer than anything that the one before may take, as knex itself waits for a connection. */
const usualTimeoutMs = 60_000;

/**
 * Who has the one connection next: clients are served round robin, so that one with a single change waits for no more than one change of
 * each other, however many these have waiting.
 */
export class ConnectionTurns {
	/** What begins the turns of each waiting client, in the order in which clients are served next. */
	readonly #waiting = new Map<string, (() => void)[]>();
	#isTaken = false;

	/** `client` names whom the running code works for. */
	constructor(
		private readonly client: () => string,
		private readonly timeoutMs = usualTimeoutMs,
	) {}

	/** Resolves when the connection is free for this caller, who releases it. Throws KnexTimeoutError if that takes too long. */
	async take(): Promise<void> {
		if (this.#isTaken) await this.#wait(this.client());
		else this.#isTaken = true;
	}

	release(): void {
		const [first] = this.#waiting;
		if (first === undefined) {
			this.#isTaken = false;
			return;
		}
		const [client, turns] = first;
		const begin = turns.shift();
		// To the end of the round.
		this.#waiting.delete(client);
		if (turns.length > 0) this.#waiting.set(client, turns);
		begin?.();
	}

	#wait(client: string): Promise<void> {
		const turns = this.#waiting.get(client) ?? [];
		this.#waiting.set(client, turns);
		return new Promise((resolve, reject) => {
			const begin = () => {
				clearTimeout(timer);
				resolve();
			};
			const timer = setTimeout(() => {
				turns.splice(turns.indexOf(begin), 1);
				if (turns.length === 0) this.#waiting.delete(client);
				reject(new KnexTimeoutError('The one connection was not free in time.'));
			}, this.timeoutMs);
			turns.push(begin);
		});
	}
}
