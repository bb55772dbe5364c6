import { Failure } from '@stowage/rules';
import { siteKey } from '../http/requests/proxy.js';
import { Counts } from './Counts.js';

export interface BudgetLimits {
	/** The total that may be reserved at the same time. */
	total: number;
	/** The share that one client may reserve at the same time. */
	perClient: number;
	/** Clients that together have no more than this, however many they are. */
	group?: { total: number; includes(client: string): boolean };
	/** The last quarter of the total (and of the group's) is given only to sites that hold no more than this. @default 0 */
	reservedPerSite?: number;
}

/**
 * An amount, such as bytes of memory, that all share at once. A client is named by `clientKey`. No `siteKey` gets more than it
 * leaves: a few who hold all that they may for long leave something to everybody else, and each further one can only
 * halve it, down to what is kept for those that hold nothing.
 */
export class Budget {
	#used = 0;
	#usedByGroup = 0;
	readonly #usedBy = new Counts();
	readonly #usedBySite = new Counts();

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
	 * Reserves an amount at once. Throws `rateLimited` if this client would have too much and `unavailable` if all would, or if less than
	 * its site has would be left. The result releases it and may be called more than once.
	 */
	reserve(client: string, amount: number): () => void {
		const { add, release } = this.openReservation(client);
		add(amount);
		return release;
	}

	/** A reservation that grows: each `add` reserves some more, and `release` releases all of it. `add` throws as `reserve` does. */
	openReservation(client: string): { add(amount: number): void; release(): void } {
		let reserved = 0;
		return {
			add: (amount) => {
				const { total, perClient, group, reservedPerSite = 0 } = this.limits;
				if (this.#usedBy.of(client) + amount > perClient)
					throw new Failure('rateLimited', this.exhausted, { retryAfter: 2 });
				const ofSite = this.#usedBySite.of(siteKey(client)) + amount;
				const fits = (all: number, used: number) => {
					const left = all - used - amount;
					return ofSite <= reservedPerSite ? left >= 0 : left >= Math.max(ofSite, reservedPerSite > 0 ? all / 4 : 0);
				};
				if (!fits(total, this.#used) || (group?.includes(client) && !fits(group.total, this.#usedByGroup)))
					throw new Failure('unavailable', this.exhausted, { retryAfter: 2 });
				this.#take(client, amount);
				reserved += amount;
			},
			release: () => {
				this.#take(client, -reserved);
				reserved = 0;
			},
		};
	}

	#take(client: string, amount: number): void {
		this.#used += amount;
		this.#usedBy.add(client, amount);
		this.#usedBySite.add(siteKey(client), amount);
		if (this.limits.group?.includes(client)) this.#usedByGroup += amount;
	}
}
