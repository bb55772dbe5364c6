import { Failure } from '@stowage/rules';

export interface BudgetLimits {
	/** What may be taken in all at once. */
	total: number;
	/** What one client may have taken at once. */
	perClient: number;
}

/** An amount, such as bytes of memory, that all share at once. A client is named by `clientKey`. */
export class Budget {
	#taken = 0;
	readonly #takenBy = new Map<string, number>();

	constructor(
		readonly limits: BudgetLimits,
		/** The sentence for whoever is refused. */
		readonly exhausted: string,
	) {}

	/**
	 * Takes an amount; resolves nothing, waits for nothing. Throws `rateLimited` if this client would have too much and `unavailable` if all would. The result
	 * gives it back and may be called more than once.
	 */
	take(client: string, amount: number): () => void {
		const own = this.#takenBy.get(client) ?? 0;
		if (own + amount > this.limits.perClient) throw new Failure('rateLimited', this.exhausted, { retryAfter: 2 });
		if (this.#taken + amount > this.limits.total) throw new Failure('unavailable', this.exhausted, { retryAfter: 2 });
		this.#taken += amount;
		this.#takenBy.set(client, own + amount);
		let isReleased = false;
		return () => {
			if (isReleased) return;
			isReleased = true;
			this.#taken -= amount;
			const left = (this.#takenBy.get(client) ?? amount) - amount;
			if (left <= 0) this.#takenBy.delete(client);
			else this.#takenBy.set(client, left);
		};
	}
}
