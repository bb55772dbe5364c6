import { Failure } from '@stowage/rules';

export interface SpentTimeOptions {
	/** How much a client may spend in an hour, in milliseconds. */
	hourly(client: string): number;
	/** The most that is remembered of a client, in milliseconds. @default all */
	most?: number;
	/** The message of the refusal. */
	spent: string;
	/** Milliseconds of any clock that never goes back. */
	now?: () => number;
}

const hourMs = 3_600_000;

/**
 * The most time that is held against a network, behind which there may be very many people: else those of a busy one would wait behind
 * everybody who asks from elsewhere for as long as that takes to be forgotten. Of networks that have had as much each has its turn.
 */
export const mostOfNetworkMs = 15 * 60_000;

/** Clients that were forgotten had nothing left to be remembered, so this many is no limit of theirs. */
const sweepAt = 1000;

/**
 * What clients spend of something that takes time. It is forgotten evenly, so that who has spent all may go on slowly, and after an hour
 * has all of it again.
 */
export class SpentTime {
	readonly #spent = new Map<string, { ms: number; at: number }>();
	readonly #options: Required<SpentTimeOptions>;

	constructor(options: SpentTimeOptions) {
		this.#options = { now: () => performance.now(), most: Number.POSITIVE_INFINITY, ...options };
	}

	/** Throws `unavailable` with the time to wait if the client has spent all that it may. */
	assertLeft(client: string): void {
		const hourly = this.#options.hourly(client);
		const over = this.of(client) - hourly;
		if (over < 0) return;
		throw new Failure('unavailable', this.#options.spent, {
			retryAfter: Math.ceil(((over + hourly / 100) * hourMs) / hourly / 1000),
		});
	}

	add(client: string, ms: number): void {
		const spent = Math.min(this.of(client) + ms, this.#options.most);
		this.#spent.set(client, { ms: spent, at: this.#options.now() });
		if (this.#spent.size < sweepAt) return;
		for (const each of this.#spent.keys()) if (this.of(each) === 0) this.#spent.delete(each);
	}

	/** What the client has spent and was not forgotten yet, in milliseconds. */
	of(client: string): number {
		const known = this.#spent.get(client);
		if (known === undefined) return 0;
		const forgotten = ((this.#options.now() - known.at) / hourMs) * this.#options.hourly(client);
		return Math.max(0, known.ms - forgotten);
	}
}
