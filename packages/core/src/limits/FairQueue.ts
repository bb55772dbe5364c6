import type { Turn } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { siteKey } from '../http/requests/proxy.js';
import { Counts } from './Counts.js';

export interface FairQueueLimits {
	/** How many may run at once. */
	running: number;
	/** How many of one client may run at once. */
	runningPerClient: number;
	/** How many may wait. */
	waiting: number;
	/** How many of one client may wait. */
	waitingPerClient: number;
	/** Clients that together have no more than this, however many they are. Every other client may have one waiting beyond `waiting`. */
	group?: { running: number; waiting: number; includes(client: string): boolean };
	/**
	 * Whether the work of a client, or of its network, is known to take long. All such clients together leave one of several places free,
	 * and the group and the others among them are served in turns.
	 */
	isSlow?(client: string, network: string): boolean;
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
	/** For work that takes long: it may be asked to give its place to others from time to time. */
	turns?: {
		/** How long work has its place while others wait, in milliseconds. */
		ms: number;
		/**
		 * How much work that has begun may wait for its next turn, beyond which no other begins: each keeps its memory. A quarter is left to
		 * networks of which nothing has begun.
		 */
		paused: number;
		/** Called with the time that a client has had a place. */
		onEnd(client: string, ms: number, network: string): void;
		/** Milliseconds of any clock that never goes back. */
		now?: () => number;
	};
}

/** A client, and the network that it asks from. */
export interface QueueClient {
	/** Its `clientKey`. */
	client: string;
	/** The `networkKey` of its address; by default the `siteKey` of the client. */
	network?: string;
}

type Asking = Required<QueueClient>;

interface Waiter {
	readonly site: string;
	readonly from: Asking;
	/** Work that has begun, and waits for its next turn. */
	readonly isPaused: boolean;
	start(): void;
	refuse(reason: Failure): void;
}

/**
 * Bounds how much work of a kind runs at once, and shares the places among clients: a client with one waiting job is served before those
 * with many, since networks are served round robin, or by what they have had, and so are the clients of each. Where no more may wait, a newcomer
 * evicts the newest waiter of the site with the most. `clientKey` identifies a client, and those of one `siteKey` are counted as one among
 * those who wait. Who asks by a key alone is a network of its own, or of its `siteKey`.
 */
export class FairQueue {
	#running = 0;
	#waitingCount = 0;
	#runningOfGroup = 0;
	#waitingOfGroup = 0;
	#paused = 0;
	/** Whether the last one that began and is known to take long was of the group. */
	#groupHadLast = false;
	readonly #runningOf = new Counts();
	/** What runs, by who asked for it. */
	readonly #places = new Set<Asking>();
	/** How much work of each network has begun, also what is paused. */
	readonly #begunOf = new Counts();
	/** Waiting work by client, in the order in which clients are served next. */
	readonly #waiting = new Map<string, Waiter[]>();
	readonly #waitingOfSite = new Counts();
	readonly #waitingOfNetwork = new Counts();
	/** Networks that wait, by the number of their turn. */
	readonly #turnOfNetwork = new Map<string, number>();
	#turnCount = 0;

	constructor(
		readonly limits: FairQueueLimits,
		/** The message of the refusal. */
		readonly busy: string,
	) {}

	/** How much runs right now. */
	get running(): number {
		return this.#running;
	}

	/** How much waits. */
	get waiting(): number {
		return this.#waitingCount;
	}

	/**
	 * Runs the work when a place is free and resolves to its result. Throws `unavailable` at once if too many wait, `rateLimited` if too
	 * many of this client do, and the signal's reason if it fires before the work has begun.
	 */
	async run<T>(client: string | QueueClient, work: (turn: Turn) => Promise<T>, signal?: AbortSignal): Promise<T> {
		const place = await this.#takePlace(asking(client), signal);
		try {
			return await work(place);
		} finally {
			place.release();
		}
	}

	/**
	 * Takes a place for work that ends elsewhere; resolves to a function that frees it, which may be called more than
	 * once. `onWait` is called if no place is free at once. Throws as `run` does.
	 */
	async enter(client: string | QueueClient, signal?: AbortSignal, onWait?: () => void): Promise<() => void> {
		const place = await this.#takePlace(asking(client), signal, onWait);
		return () => place.release();
	}

	async #takePlace(
		from: Asking,
		signal: AbortSignal | undefined,
		onWait?: () => void,
	): Promise<Turn & { release(): void }> {
		const { client, network } = from;
		signal?.throwIfAborted();
		if (this.#mayRun(client, network) && !this.#waiting.has(client)) this.#begin(from, 'new');
		else {
			onWait?.();
			await this.#waitForPlace(from, signal);
		}
		const { turns } = this.limits;
		const now = turns?.now ?? (() => performance.now());
		let since: number | undefined = now();
		let hasLeft = false;
		const free = () => {
			if (since === undefined) return;
			turns?.onEnd(client, now() - since, network);
			since = undefined;
			this.#end(from);
		};
		const hasOthers = () => this.#waitingCount > 0;
		return {
			get isOver() {
				return turns !== undefined && since !== undefined && hasOthers() && now() - since >= turns.ms;
			},
			next: async () => {
				// Before it frees the place, for which it is a candidate too.
				const turn = this.#wait(from, 'paused', signal);
				free();
				await turn;
				since = now();
				// Part of the work has failed meanwhile, and nobody waits for the rest.
				if (hasLeft) free();
			},
			release: () => {
				if (!hasLeft) this.#begunOf.add(network, -1);
				hasLeft = true;
				free();
			},
		};
	}

	async #waitForPlace(from: Asking, signal: AbortSignal | undefined): Promise<void> {
		const { client } = from;
		const own = this.#waiting.get(client) ?? [];
		if (own.length >= this.limits.waitingPerClient) throw new Failure('rateLimited', this.busy, { retryAfter: 2 });
		const { group, waiting } = this.limits;
		const isInGroup = this.#isInGroup(client);
		const isGroupFull = isInGroup && this.#waitingOfGroup >= (group?.waiting ?? 0);
		const hasOwnPlace = group !== undefined && !isInGroup && own.length === 0;
		const isFull = isGroupFull || (this.#waitingCount >= waiting && !hasOwnPlace);
		if (isFull && !this.#displaceFor(client, own.length, isGroupFull))
			throw new Failure('unavailable', this.busy, { retryAfter: 2 });
		await this.#wait(from, 'new', signal);
	}

	#wait(from: Asking, work: 'new' | 'paused', signal: AbortSignal | undefined): Promise<void> {
		const { client, network } = from;
		const own = this.#waiting.get(client) ?? [];
		const isPaused = work === 'paused';
		this.#waiting.set(client, own);
		this.#waitingCount++;
		if (isPaused) this.#paused++;
		if (this.#isInGroup(client)) this.#waitingOfGroup++;
		const site = siteKey(client);
		this.#waitingOfSite.add(site, 1);
		this.#waitingOfNetwork.add(network, 1);
		if (!this.#turnOfNetwork.has(network)) this.#turnOfNetwork.set(network, ++this.#turnCount);
		return new Promise((resolve, reject) => {
			const leave = () => {
				this.#forget(client, waiter);
				reject(signal?.reason);
			};
			const waiter: Waiter = {
				site,
				from,
				isPaused,
				start: () => {
					signal?.removeEventListener('abort', leave);
					resolve();
				},
				refuse: (reason) => {
					signal?.removeEventListener('abort', leave);
					this.#forget(client, waiter);
					reject(reason);
				},
			};
			signal?.addEventListener('abort', leave, { once: true });
			// What has begun comes before the rest of its client.
			if (isPaused) own.splice(own.filter((each) => each.isPaused).length, 0, waiter);
			else own.push(waiter);
			if (signal?.aborted) leave();
		});
	}

	/**
	 * Evicts the newest waiter of the client who has had most, or else of the site with the most; false if none has had more, or waits with
	 * more, than this client.
	 */
	#displaceFor(client: string, waiting: number, isForGroup: boolean): boolean {
		const { spent = () => 0 } = this.limits;
		const site = siteKey(client);
		const ofSite = (each: string) => this.#waitingOfSite.of(each) + (each === site ? 1 : 0);
		const own = [spent(client), ofSite(site), waiting + 1];
		let largest = own;
		let last: Waiter | undefined;
		for (const [other, waiters] of this.#waiting) {
			if (other === client || (isForGroup && !this.#isInGroup(other))) continue;
			const newest = waiters.at(-1);
			if (newest === undefined || newest.isPaused) continue;
			const each = [spent(other), ofSite(newest.site), waiters.length];
			const order = compare(each, largest);
			// Of equal ones that whose turn is last.
			if (order < 0 || (order === 0 && last === undefined)) continue;
			largest = each;
			last = newest;
		}
		last?.refuse(new Failure('unavailable', this.busy, { retryAfter: 2 }));
		return last !== undefined;
	}

	#isInGroup(client: string): boolean {
		return this.limits.group?.includes(client) ?? false;
	}

	#mayRun(client: string, network: string): boolean {
		if (this.#isInGroup(client) && this.#runningOfGroup >= (this.limits.group?.running ?? 0)) return false;
		const { isSlow, running } = this.limits;
		// They would keep everybody else waiting until one of them ends.
		if (isSlow?.(client, network)) {
			let slow = 0;
			for (const place of this.#places) if (isSlow(place.client, place.network)) slow++;
			if (slow >= Math.max(1, running - 1)) return false;
		}
		return this.#running < this.limits.running && this.#runningOf.of(client) < this.limits.runningPerClient;
	}

	#begin(from: Asking, work: 'new' | 'paused'): void {
		const { client, network } = from;
		this.#running++;
		if (this.#isInGroup(client)) this.#runningOfGroup++;
		if (this.limits.isSlow?.(client, network)) this.#groupHadLast = this.#isInGroup(client);
		this.#runningOf.add(client, 1);
		this.#places.add(from);
		if (work === 'new') this.#begunOf.add(network, 1);
	}

	#end(from: Asking): void {
		const { client } = from;
		this.#running--;
		if (this.#isInGroup(client)) this.#runningOfGroup--;
		this.#runningOf.add(client, -1);
		this.#places.delete(from);
		this.#startNext();
	}

	/**
	 * The waiting clients and their work: first those of the network that has had least, or else whose turn it is, and of one network the
	 * client who has had least. Clients outside the group share the places for slow work with the group in turns: any number of clients in
	 * it may have had nothing.
	 */
	#inOrder(): [string, Waiter[]][] {
		const { spent = () => 0, spentOfNetwork = () => 0, isSlow = () => false } = this.limits;
		const hadOf = new Map<string, number>();
		const networkHad = (network: string) => {
			const had = hadOf.get(network) ?? spentOfNetwork(network);
			hadOf.set(network, had);
			return had;
		};
		const inOrder = [...this.#waiting]
			.map(([client, own]) => {
				const network = own[0]?.from.network ?? client;
				const turn = this.#turnOfNetwork.get(network) ?? 0;
				return { client, own, network, order: [networkHad(network), spent(client), turn] };
			})
			.sort((a, b) => compare(a.order, b.order));
		const waiting = inOrder.map(({ client, own }): [string, Waiter[]] => [client, own]);
		if (!this.#groupHadLast) return waiting;
		const ofGroup = inOrder.findIndex(({ client }) => this.#isInGroup(client));
		const other = inOrder.findIndex(({ client, network }) => isSlow(client, network) && !this.#isInGroup(client));
		if (ofGroup !== -1 && other > ofGroup) waiting.splice(ofGroup, 0, ...waiting.splice(other, 1));
		return waiting;
	}

	/** Starts who may run, in their order, and each client once before any client's second. */
	#startNext(): void {
		for (const [client, own] of this.#inOrder()) {
			if (this.#running >= this.limits.running) return;
			const [next] = own;
			if (next === undefined) continue;
			const { network } = next.from;
			if (!this.#mayRun(client, network) || !this.#mayBegin(next)) continue;
			this.#forget(client, next);
			// To the end of the round, also its network.
			if (this.#turnOfNetwork.has(network)) this.#turnOfNetwork.set(network, ++this.#turnCount);
			const rest = this.#waiting.get(client);
			if (rest !== undefined) {
				this.#waiting.delete(client);
				this.#waiting.set(client, rest);
			}
			this.#begin(next.from, next.isPaused ? 'paused' : 'new');
			next.start();
		}
	}

	/** Whether the work has begun already, or little enough is paused for more to begin. */
	#mayBegin({ isPaused, from: { network } }: Waiter): boolean {
		const { turns } = this.limits;
		if (turns === undefined || isPaused) return true;
		// Else the many accounts of one network would have what may be paused, and all others wait until one of them is done.
		return this.#paused <= (this.#begunOf.of(network) === 0 ? turns.paused : Math.ceil(turns.paused * 0.75));
	}

	#forget(client: string, waiter: Waiter): void {
		const own = this.#waiting.get(client);
		const at = own?.indexOf(waiter) ?? -1;
		if (own === undefined || at === -1) return;
		own.splice(at, 1);
		this.#waitingCount--;
		if (waiter.isPaused) this.#paused--;
		if (this.#isInGroup(client)) this.#waitingOfGroup--;
		this.#waitingOfSite.add(waiter.site, -1);
		const { network } = waiter.from;
		this.#waitingOfNetwork.add(network, -1);
		if (this.#waitingOfNetwork.of(network) === 0) this.#turnOfNetwork.delete(network);
		if (own.length === 0) this.#waiting.delete(client);
	}
}

/** Who asks, with the network that it has by default. */
export function asking(from: string | QueueClient): Required<QueueClient> {
	const { client, network } = typeof from === 'string' ? { client: from, network: undefined } : from;
	// Always a new object: each place is one of its own.
	return { client, network: network ?? siteKey(client) };
}

/** Compares lists of numbers by the first number in which they differ. */
function compare(a: readonly number[], b: readonly number[]): number {
	const at = a.findIndex((each, index) => each !== b[index]);
	return (a[at] ?? 0) - (b[at] ?? 0);
}
