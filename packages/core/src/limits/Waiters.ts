import { Failure } from '@stowage/rules';
import { siteKey } from '../http/requests/proxy.js';
import { Counts } from './Counts.js';
import type { Asking } from './Places.js';

export interface WaitingLimits {
	/** How many may wait. */
	waiting: number;
	/** How many of one client may wait. */
	waitingPerClient: number;
	/** Clients that together have no more than this, however many they are. Every other client may have one waiting beyond `waiting`. */
	group?: { waiting: number; includes(client: string): boolean };
	/** Whether the work of a client, or of its network, is known to take long. */
	isSlow?(client: string, network: string): boolean;
	/**
	 * How much more the group has had lately of the places for slow work than all others whose work is; negative if those have had more.
	 * Whichever has had less comes next. @default 0
	 */
	groupLead?(): number;
	/**
	 * How much a client has had already. Who has had least is served first, and where no more may wait, evicts who has had more.
	 */
	spent?(client: string): number;
	/**
	 * How much all clients of a network have had already. Of two networks the one that has had least is served first, whatever each of its
	 * clients has had: a network may have any number of accounts. It is bounded, and nobody is evicted for it, since many people may share
	 * one.
	 */
	spentOfNetwork?(network: string): number;
}

export interface Waiter {
	readonly from: Asking;
	/** The network that it waits in: that of the first of its client's that wait, since one account may ask from any number of them. */
	readonly network: string;
	readonly site: string;
	/** Work that has begun, and waits for its next turn. */
	readonly isPaused: boolean;
	start(): void;
	refuse(reason: Failure): void;
}

/** The work that waits in a `FairQueue`: how much may, who gives way to whom, and in which order they come. */
export class Waiters {
	/** In the order in which clients are served next. */
	readonly #ofClient = new Map<string, Waiter[]>();
	readonly #all = new Tally();
	readonly #group = new Tally();
	readonly #ofSite = new Counts();
	/** Networks that wait, by the number of their turn. */
	readonly #turnOfNetwork = new Map<string, number>();
	#turnCount = 0;
	#paused = 0;
	#pausedOfGroup = 0;

	constructor(
		private readonly limits: WaitingLimits,
		/** The message of the refusal. */
		private readonly busy: string,
	) {}

	get count(): number {
		return this.#all.count;
	}

	/** How much of it has begun already. */
	get paused(): number {
		return this.#paused;
	}

	/** How much of what has begun is the group's. */
	get pausedOfGroup(): number {
		return this.#pausedOfGroup;
	}

	has(client: string): boolean {
		return this.#ofClient.has(client);
	}

	/**
	 * Makes room for one more where no more may wait. Throws `rateLimited` if too many of this client do, and `unavailable` if nobody gives
	 * way to it.
	 */
	makeRoom(from: Asking): void {
		const { waiting, waitingPerClient, group } = this.limits;
		const own = this.#ofClient.get(from.client)?.length ?? 0;
		if (own >= waitingPerClient) throw new Failure('rateLimited', this.busy, { retryAfter: 2 });
		const isInGroup = this.#isInGroup(from.client);
		const isGroupFull = isInGroup && this.#group.count >= (group?.waiting ?? 0);
		const hasOwnPlace = group !== undefined && !isInGroup && own === 0;
		if (!isGroupFull && (this.count < waiting || hasOwnPlace)) return;
		const last = this.#givingWayTo(from, isGroupFull ? 'group' : 'all');
		const refusal = new Failure('unavailable', this.busy, { retryAfter: 2 });
		if (last === undefined) throw refusal;
		this.remove(last);
		last.refuse(refusal);
	}

	add(from: Asking, work: 'new' | 'paused', { start, refuse }: Pick<Waiter, 'start' | 'refuse'>): Waiter {
		const { client } = from;
		const isPaused = work === 'paused';
		const waiter = { from, network: this.#networkOf(from), site: siteKey(client), isPaused, start, refuse };
		const own = this.#ofClient.get(client) ?? [];
		this.#ofClient.set(client, own);
		// What has begun comes before the rest of its client.
		if (isPaused) own.splice(own.filter((each) => each.isPaused).length, 0, waiter);
		else own.push(waiter);
		if (!this.#turnOfNetwork.has(waiter.network)) this.#turnOfNetwork.set(waiter.network, ++this.#turnCount);
		this.#count(waiter, 1);
		return waiter;
	}

	/** Removes what waits no longer; without effect if it was removed before. */
	remove(waiter: Waiter): void {
		const { client } = waiter.from;
		const own = this.#ofClient.get(client);
		const at = own?.indexOf(waiter) ?? -1;
		if (own === undefined || at === -1) return;
		own.splice(at, 1);
		if (own.length === 0) this.#ofClient.delete(client);
		this.#count(waiter, -1);
		if (this.#all.ofNetwork.of(waiter.network) === 0) this.#turnOfNetwork.delete(waiter.network);
	}

	/** Removes what begins: its client, and its network, come last in the next round. */
	take(waiter: Waiter): void {
		this.remove(waiter);
		const { client } = waiter.from;
		if (this.#turnOfNetwork.has(waiter.network)) this.#turnOfNetwork.set(waiter.network, ++this.#turnCount);
		const rest = this.#ofClient.get(client);
		if (rest === undefined) return;
		this.#ofClient.delete(client);
		this.#ofClient.set(client, rest);
	}

	/** The first of each client, in the order in which they are served. */
	inOrder(): Waiter[] {
		const first = [...this.#ofClient.values()].flatMap((own) => own.slice(0, 1));
		return inServingOrder(first, (network) => this.#turnOfNetwork.get(network) ?? 0, this.limits);
	}

	/**
	 * The newest waiter of the network with the most, if it has more than the newcomer's would have: else the accounts of one network, of
	 * which it may have any number, would have all places to wait in. In it, or among equal ones, that is of the client who has had most, or
	 * else of the site with the most. Undefined if none has had more, or waits with more, than the newcomer.
	 */
	#givingWayTo(from: Asking, among: 'all' | 'group'): Waiter | undefined {
		const { spent = () => 0 } = this.limits;
		const { ofNetwork } = among === 'group' ? this.#group : this.#all;
		const site = siteKey(from.client);
		const network = this.#networkOf(from);
		const amounts = (client: string, of: Pick<Waiter, 'network' | 'site'>, own: number) => [
			ofNetwork.of(of.network) + (of.network === network ? 1 : 0),
			spent(client),
			this.#ofSite.of(of.site) + (of.site === site ? 1 : 0),
			own,
		];
		let largest = amounts(from.client, { network, site }, (this.#ofClient.get(from.client)?.length ?? 0) + 1);
		let last: Waiter | undefined;
		for (const [other, waiters] of this.#ofClient) {
			if (other === from.client || (among === 'group' && !this.#isInGroup(other))) continue;
			const newest = waiters.at(-1);
			if (newest === undefined || newest.isPaused) continue;
			const each = amounts(other, newest, waiters.length);
			const order = compare(each, largest);
			// Of equal ones that whose turn is last.
			if (order < 0 || (order === 0 && last === undefined)) continue;
			largest = each;
			last = newest;
		}
		return last;
	}

	#networkOf({ client, network }: Asking): string {
		return this.#ofClient.get(client)?.[0]?.network ?? network;
	}

	#isInGroup(client: string): boolean {
		return this.limits.group?.includes(client) ?? false;
	}

	#count({ from, network, site, isPaused }: Waiter, amount: 1 | -1): void {
		this.#all.add(network, amount);
		const isInGroup = this.#isInGroup(from.client);
		if (isInGroup) this.#group.add(network, amount);
		this.#ofSite.add(site, amount);
		if (isPaused) this.#paused += amount;
		if (isPaused && isInGroup) this.#pausedOfGroup += amount;
	}
}

/**
 * Those of the network that has had least come first, or else whose turn it is, and of one network the client who has had least. The places
 * for slow work are shared by the group and all others, whatever each has had: any number of clients may have had nothing.
 */
function inServingOrder(
	waiting: readonly Waiter[],
	turnOf: (network: string) => number,
	{ spent = () => 0, spentOfNetwork = () => 0, isSlow = () => false, groupLead = () => 0, group }: WaitingLimits,
): Waiter[] {
	const hadOf = new Map<string, number>();
	const networkHad = (network: string) => {
		const had = hadOf.get(network) ?? spentOfNetwork(network);
		hadOf.set(network, had);
		return had;
	};
	const ordered = waiting
		// By the network that it will count for: that in which it waits may have had nothing, and would go on to.
		.map((waiter) => ({
			waiter,
			networkHad: networkHad(waiter.from.network),
			had: spent(waiter.from.client),
			turn: turnOf(waiter.network),
		}))
		// As cheap as possible: thousands may wait, and the order is asked for whenever a place is free.
		.sort((a, b) => a.networkHad - b.networkHad || a.had - b.had || a.turn - b.turn)
		.map(({ waiter }) => waiter);
	const lead = groupLead();
	if (lead === 0) return ordered;
	const isInGroup = ({ from }: Waiter) => group?.includes(from.client) ?? false;
	const ofGroup = ordered.findIndex(isInGroup);
	const other = ordered.findIndex((each) => isSlow(each.from.client, each.from.network) && !isInGroup(each));
	const [first, next] = lead > 0 ? [ofGroup, other] : [other, ofGroup];
	if (first !== -1 && next > first) ordered.splice(first, 0, ...ordered.splice(next, 1));
	return ordered;
}

/** How many wait. */
class Tally {
	count = 0;
	readonly ofNetwork = new Counts();

	add(network: string, amount: 1 | -1): void {
		this.count += amount;
		this.ofNetwork.add(network, amount);
	}
}

/** Compares lists of numbers by the first number in which they differ. */
function compare(a: readonly number[], b: readonly number[]): number {
	const at = a.findIndex((each, index) => each !== b[index]);
	return (a[at] ?? 0) - (b[at] ?? 0);
}
