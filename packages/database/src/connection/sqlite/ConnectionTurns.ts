import { KnexTimeoutError } from 'knex/lib/util/timeout.js';

/** Longer than anything that the one before may take, as knex itself waits for a connection. */
const usualTimeoutMs = 60_000;

/** Whom a change is made for. */
export interface TurnClient {
	client: string;
	/** The network that the client asks from, which may have any number of accounts. */
	network: string;
}

/**
 * Who has the one connection next: networks are served round robin, and so are the clients of each. One with a single change waits for no
 * more than one change of each other network, and of each other client of the same one, however many these have waiting.
 */
export class ConnectionTurns {
	/** What begins the turns of each client that waits, by its network, in the order in which they are served next. */
	readonly #waiting = new Map<string, Map<string, (() => void)[]>>();
	#isTaken = false;

	/** `client` names whom the running code works for. */
	constructor(
		private readonly client: () => TurnClient,
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
		const [network, clients] = first;
		const begin = shiftOf(clients);
		// To the end of the round.
		this.#waiting.delete(network);
		if (clients.size > 0) this.#waiting.set(network, clients);
		begin?.();
	}

	#wait(from: TurnClient): Promise<void> {
		const { client } = from;
		const network = this.#networkOf(from);
		const clients = this.#waiting.get(network) ?? new Map<string, (() => void)[]>();
		this.#waiting.set(network, clients);
		const turns = clients.get(client) ?? [];
		clients.set(client, turns);
		return new Promise((resolve, reject) => {
			const begin = () => {
				clearTimeout(timer);
				resolve();
			};
			const timer = setTimeout(() => {
				turns.splice(turns.indexOf(begin), 1);
				if (turns.length === 0) clients.delete(client);
				if (clients.size === 0) this.#waiting.delete(network);
				reject(new KnexTimeoutError('The one connection was not free in time.'));
			}, this.timeoutMs);
			turns.push(begin);
		});
	}

	/** The network in which a client waits already: one account may ask from any number of networks, and has its turns in one of them. */
	#networkOf({ client, network }: TurnClient): string {
		// A job, or a visitor.
		if (client === network) return network;
		for (const [each, clients] of this.#waiting) if (each !== client && clients.has(client)) return each;
		return network;
	}
}

/** Takes the next turn of the first client, who comes last then. */
function shiftOf(clients: Map<string, (() => void)[]>): (() => void) | undefined {
	const [first] = clients;
	if (first === undefined) return undefined;
	const [client, turns] = first;
	const begin = turns.shift();
	clients.delete(client);
	if (turns.length > 0) clients.set(client, turns);
	return begin;
}
