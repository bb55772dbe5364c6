import { Failure } from '@stowage/rules';
import { Counts } from './Counts.js';

export interface BudgetLimits {
	/** The total that may be reserved at the same time. */
	total: number;
	/** The share that one client may reserve at the same time. */
	perClient: number;
}

/** An amount, such as bytes of memory, that all share at once. A client is named by `clientKey`. */
export class Budget {
	#used = 0;
	readonly #usedBy = new Counts();

	constructor(
		readonly limits: BudgetLimits,
		/** The message of the refusal. */
		readonly exhausted: string,
	) {}

	/** The amount that is reserved now. */
	get used(): number {
		return this.#used;
	}

	/**
	 * Reserves an amount at once. Throws `rateLimited` if this client would have too much and `unavailable` if all would. The result
	 * releases it and may be called more than once.
	 */
	reserve(client: string, amount: number): () => void {
		const { add, release } = this.openReservation(client);
		add(amount);
		return release;
	}

	/** Like `reserve`, for amounts that grow: each `add` reserves some more, and `release` releases all of it. */
	openReservation(client: string): { add(amount: number): void; release(): void } {
		let reserved = 0;
		return {
			add: (amount) => {
				if (this.#usedBy.of(client) + amount > this.limits.perClient)
					throw new Failure('rateLimited', this.exhausted, { retryAfter: 2 });
				if (this.#used + amount > this.limits.total) {
					throw new Failure('unavailable', this.exhausted, { retryAfter: 2 });
				}
				this.#used += amount;
				this.#usedBy.add(client, amount);
				reserved += amount;
			},
			release: () => {
				this.#used -= reserved;
				this.#usedBy.add(client, -reserved);
				reserved = 0;
			},
		};
	}
}
