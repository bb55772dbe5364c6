import { Failure } from '@stowage/rules';
import { siteKey } from '../http/requests/proxy.js';
import { Counts } from './Counts.js';
import { asking, type QueueClient } from './FairQueue.js';
import { RecentNetworks, rememberedMs } from './RecentNetworks.js';

export interface BudgetLimits {
	/** The total that may be reserved at the same time. */
	total: number;
	/** The share that one client may reserve at the same time. */
	perClient: number;
	/** Clients that together have no more than this, however many they are. */
	group?: { total: number; includes(client: string): boolean };
	/** The last quarter of the total (and of the group's) is given only to sites and networks that hold no more than this. @default 0 */
	reservedPerSite?: number;
}

/** Of a process: some of what has a budget is seldom asked for. */
const askingNetworks = new RecentNetworks(rememberedMs);

/**
 * An amount, such as bytes of memory, that all share at once. A client is named by `clientKey`. No `siteKey` gets more than it
 * leaves: a few who hold all that they may for long leave something to everybody else, and each further one can only
 * halve it, down to what is kept for those that hold nothing. Where others ask, too, that also goes for a network with all of its
 * accounts, of which it may have any number.
 */
export class Budget {
	#used = 0;
	#usedByGroup = 0;
	readonly #usedBy = new Counts();
	readonly #usedBySite = new Counts();
	readonly #usedByNetwork = new Counts();

	constructor(
		readonly limits: BudgetLimits,
		/** The message of the refusal. */
		readonly exhausted: string,
		private readonly networks = askingNetworks,
	) {}

	/** The amount that is reserved now. */
	get used(): number {
		return this.#used;
	}

	/**
	 * Reserves an amount at once. Throws `rateLimited` if this client would have too much and `unavailable` if all would, or if less than
	 * its site, or its network, has would be left. The result releases it and may be called more than once.
	 */
	reserve(client: string | QueueClient, amount: number): () => void {
		const { add, release } = this.openReservation(client);
		add(amount);
		return release;
	}

	/** A reservation that grows: each `add` reserves some more, and `release` releases all of it. `add` throws as `reserve` does. */
	openReservation(client: string | QueueClient): { add(amount: number): void; release(): void } {
		const from = asking(client);
		if (typeof client !== 'string' && client.network !== undefined) this.networks.see(client.network);
		let reserved = 0;
		return {
			add: (amount) => {
				if (this.#usedBy.of(from.client) + amount > this.limits.perClient)
					throw new Failure('rateLimited', this.exhausted, { retryAfter: 2 });
				if (!this.#fits(from, amount)) throw new Failure('unavailable', this.exhausted, { retryAfter: 2 });
				this.#take(from, amount);
				reserved += amount;
			},
			release: () => {
				this.#take(from, -reserved);
				reserved = 0;
			},
		};
	}

	/** Whether as much would be left as this client's site, and its network, would hold. */
	#fits({ client, network }: Required<QueueClient>, amount: number): boolean {
		const { total, group, reservedPerSite = 0 } = this.limits;
		const fits = (all: number, used: number, held: number, leaves = held) => {
			const left = all - used - amount;
			return held <= reservedPerSite ? left >= 0 : left >= Math.max(leaves, reservedPerSite > 0 ? all / 4 : 0);
		};
		const site = siteKey(client);
		const ofSite = this.#usedBySite.of(site) + amount;
		if (!fits(total, this.#used, ofSite)) return false;
		if (group?.includes(client) && !fits(group.total, this.#usedByGroup, ofSite)) return false;
		// A visitor's site is their network.
		if (site === network || !this.networks.hasOthers(network)) return true;
		const ofNetwork = this.#usedByNetwork.of(network) + amount;
		// Else one with an account could hold all that there is for the others of their network, as of one office.
		const leaves = ofSite <= reservedPerSite ? ofNetwork / 1.5 : ofNetwork;
		return fits(total, this.#used, ofNetwork, leaves);
	}

	#take({ client, network }: Required<QueueClient>, amount: number): void {
		this.#used += amount;
		this.#usedBy.add(client, amount);
		this.#usedBySite.add(siteKey(client), amount);
		this.#usedByNetwork.add(network, amount);
		if (this.limits.group?.includes(client)) this.#usedByGroup += amount;
	}
}
