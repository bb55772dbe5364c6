import { Counts } from './Counts.js';
import { RecentNetworks, rememberedMs } from './RecentNetworks.js';

export interface PlaceLimits {
	/** How many may run at once. */
	running: number;
	/** How many of one client may run at once. */
	runningPerClient: number;
	/** Clients that together have no more places than this, however many they are. */
	group?: { running: number; includes(client: string): boolean };
	/**
	 * Whether the work of a client, or of its network, is known to take long. All such clients together leave one of several places free.
	 */
	isSlow?(client: string, network: string): boolean;
	/**
	 * Whether all clients of a network together leave a quarter of the places, and of the group's, to others: for work that has its place
	 * for long, without turns. Only where others have asked within a day: all may come through one proxy that is not trusted.
	 */
	leavesPlaces?: boolean;
}

/** A client, and the network that it asks from. Each place has an object of its own. */
export interface Asking {
	readonly client: string;
	readonly network: string;
}

/** The places of the work that runs in a `FairQueue`. */
export class Places {
	readonly #taken = new Set<Asking>();
	readonly #ofClient = new Counts();
	/** Counted, since it is asked for each client that waits whenever a place is free. */
	readonly #ofNetwork = new Counts();
	#ofGroup = 0;
	/** Those of the group, by network. */
	readonly #ofGroupInNetwork = new Counts();

	constructor(
		private readonly limits: PlaceLimits,
		private readonly networks = new RecentNetworks(rememberedMs),
	) {}

	/** How many are taken. */
	get taken(): number {
		return this.#taken.size;
	}

	/** Notes that somebody asks from a network. */
	see(network: string): void {
		this.networks.see(network);
	}

	isFreeFor(from: Asking): boolean {
		const { running, runningPerClient, group } = this.limits;
		if (this.taken >= running || this.#ofClient.of(from.client) >= runningPerClient) return false;
		if (this.#isInGroup(from) && this.#ofGroup >= (group?.running ?? 0)) return false;
		return this.#isFreeForSlow(from) && this.#isFreeForNetwork(from);
	}

	take(from: Asking): void {
		this.#taken.add(from);
		this.#count(from, 1);
	}

	free(from: Asking): void {
		this.#taken.delete(from);
		this.#count(from, -1);
	}

	#count(from: Asking, amount: 1 | -1): void {
		this.#ofClient.add(from.client, amount);
		this.#ofNetwork.add(from.network, amount);
		if (!this.#isInGroup(from)) return;
		this.#ofGroup += amount;
		this.#ofGroupInNetwork.add(from.network, amount);
	}

	#isInGroup({ client }: Asking): boolean {
		return this.limits.group?.includes(client) ?? false;
	}

	/** Whether a client whose work takes long leaves a place: all such clients would keep everybody else waiting until one of them ends. */
	#isFreeForSlow({ client, network }: Asking): boolean {
		const { isSlow, running } = this.limits;
		if (isSlow === undefined || !isSlow(client, network)) return true;
		let slow = 0;
		for (const place of this.#taken) if (isSlow(place.client, place.network)) slow++;
		return slow < Math.max(1, running - 1);
	}

	/** Whether a client's network leaves places to others if it has one more. One it may always have. */
	#isFreeForNetwork(from: Asking): boolean {
		const { leavesPlaces = false, running, group } = this.limits;
		const { network } = from;
		if (!leavesPlaces || !this.networks.hasOthers(network)) return true;
		const mayHaveMore = (count: number, all: number) => count < Math.max(1, Math.floor(all * 0.75));
		if (!mayHaveMore(this.#ofNetwork.of(network), running)) return false;
		return !this.#isInGroup(from) || mayHaveMore(this.#ofGroupInNetwork.of(network), group?.running ?? 0);
	}
}
