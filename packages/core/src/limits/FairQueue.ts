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
	 * Whether the work of a client is known to take long. All such clients together leave one of several places free, and the group and the
	 * others among them are served in turns.
	 */
	isSlow?(client: string): boolean;
	/**
	 * How much a client has had already. Who has had least is served first, and where no more may wait, evicts who has had more.
	 */
	spent?(client: string): number;
	/** For work that takes long: it may be asked to give its place to others from time to time. */
	turns?: {
		/** How long work has its place while others wait, in milliseconds. */
		ms: number;
		/** How much work that has begun may wait for its next turn, beyond which no other begins: each keeps its memory. */
		paused: number;
		/** Called with the time that a client has had a place. */
		onEnd(client: string, ms: number): void;
		/** Milliseconds of any clock that never goes back. */
		now?: () => number;
	};
}

interface Waiter {
	readonly site: string;
	/** Work that has begun, and waits for its next turn. */
	readonly isPaused: boolean;
	start(): void;
	refuse(reason: Failure): void;
}

/**
 * Bounds how much work of a kind runs at once, and shares the places among clients: a client with one waiting job is served before those
 * with many, since clients are served round robin, or by what they have had. Where no more may wait, a newcomer evicts the newest
 * waiter of the site with the most. `clientKey` identifies a client, and those of one `siteKey` are served, and counted among those who
 * wait, as one.
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
	/** Waiting work by client, in the order in which clients are served next. */
	readonly #waiting = new Map<string, Waiter[]>();
	readonly #waitingOfSite = new Counts();
	/** Sites that wait, by the number of their turn. */
	readonly #turnOfSite = new Map<string, number>();
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
	async run<T>(client: string, work: (turn: Turn) => Promise<T>, signal?: AbortSignal): Promise<T> {
		const place = await this.#takePlace(client, signal);
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
	async enter(client: string, signal?: AbortSignal, onWait?: () => void): Promise<() => void> {
		const place = await this.#takePlace(client, signal, onWait);
		return () => place.release();
	}

	async #takePlace(
		client: string,
		signal: AbortSignal | undefined,
		onWait?: () => void,
	): Promise<Turn & { release(): void }> {
		signal?.throwIfAborted();
		if (this.#mayRun(client) && !this.#waiting.has(client)) this.#begin(client);
		else {
			onWait?.();
			await this.#waitForPlace(client, signal);
		}
		const { turns } = this.limits;
		const now = turns?.now ?? (() => performance.now());
		let since: number | undefined = now();
		let hasLeft = false;
		const free = () => {
			if (since === undefined) return;
			turns?.onEnd(client, now() - since);
			since = undefined;
			this.#end(client);
		};
		const hasOthers = () => this.#waitingCount > 0;
		return {
			get isOver() {
				return turns !== undefined && since !== undefined && hasOthers() && now() - since >= turns.ms;
			},
			next: async () => {
				// Before it frees the place, for which it is a candidate too.
				const turn = this.#wait(client, 'paused', signal);
				free();
				await turn;
				since = now();
				// Part of the work has failed meanwhile, and nobody waits for the rest.
				if (hasLeft) free();
			},
			release() {
				hasLeft = true;
				free();
			},
		};
	}

	async #waitForPlace(client: string, signal: AbortSignal | undefined): Promise<void> {
		const own = this.#waiting.get(client) ?? [];
		if (own.length >= this.limits.waitingPerClient) throw new Failure('rateLimited', this.busy, { retryAfter: 2 });
		const { group, waiting } = this.limits;
		const isInGroup = this.#isInGroup(client);
		const isGroupFull = isInGroup && this.#waitingOfGroup >= (group?.waiting ?? 0);
		const hasOwnPlace = group !== undefined && !isInGroup && own.length === 0;
		const isFull = isGroupFull || (this.#waitingCount >= waiting && !hasOwnPlace);
		if (isFull && !this.#displaceFor(client, own.length, isGroupFull))
			throw new Failure('unavailable', this.busy, { retryAfter: 2 });
		await this.#wait(client, 'new', signal);
	}

	#wait(client: string, work: 'new' | 'paused', signal: AbortSignal | undefined): Promise<void> {
		const own = this.#waiting.get(client) ?? [];
		const isPaused = work === 'paused';
		this.#waiting.set(client, own);
		this.#waitingCount++;
		if (isPaused) this.#paused++;
		if (this.#isInGroup(client)) this.#waitingOfGroup++;
		const site = siteKey(client);
		this.#waitingOfSite.add(site, 1);
		if (!this.#turnOfSite.has(site)) this.#turnOfSite.set(site, ++this.#turnCount);
		return new Promise((resolve, reject) => {
			const leave = () => {
				this.#forget(client, waiter);
				reject(signal?.reason);
			};
			const waiter: Waiter = {
				site,
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

	#mayRun(client: string): boolean {
		if (this.#isInGroup(client) && this.#runningOfGroup >= (this.limits.group?.running ?? 0)) return false;
		const { isSlow = () => false, running } = this.limits;
		// They would keep everybody else waiting until one of them ends.
		if (isSlow(client) && this.#runningOf.sumOf(isSlow) >= Math.max(1, running - 1)) return false;
		return this.#running < this.limits.running && this.#runningOf.of(client) < this.limits.runningPerClient;
	}

	#begin(client: string): void {
		this.#running++;
		if (this.#isInGroup(client)) this.#runningOfGroup++;
		if (this.limits.isSlow?.(client)) this.#groupHadLast = this.#isInGroup(client);
		this.#runningOf.add(client, 1);
	}

	#end(client: string): void {
		this.#running--;
		if (this.#isInGroup(client)) this.#runningOfGroup--;
		this.#runningOf.add(client, -1);
		this.#startNext();
	}

	/**
	 * The waiting clients and their work, who has had least first, and else the site whose turn it is. Clients outside the group share the
	 * places for slow work with the group in turns: any number of clients in it may have had nothing.
	 */
	#inOrder(): [string, Waiter[]][] {
		const { spent = () => 0, isSlow = () => false } = this.limits;
		const had = new Map([...this.#waiting.keys()].map((client) => [client, spent(client)]));
		const turnOf = ([first]: Waiter[]) => this.#turnOfSite.get(first?.site ?? '') ?? 0;
		const inOrder = [...this.#waiting].sort(
			([a, ofA], [b, ofB]) => (had.get(a) ?? 0) - (had.get(b) ?? 0) || turnOf(ofA) - turnOf(ofB),
		);
		if (!this.#groupHadLast) return inOrder;
		const ofGroup = inOrder.findIndex(([client]) => this.#isInGroup(client));
		const other = inOrder.findIndex(([client]) => isSlow(client) && !this.#isInGroup(client));
		if (ofGroup !== -1 && other > ofGroup) inOrder.splice(ofGroup, 0, ...inOrder.splice(other, 1));
		return inOrder;
	}

	/** Starts who may run, in their order, and each client once before any client's second. */
	#startNext(): void {
		const { turns } = this.limits;
		const isFull = () => turns !== undefined && this.#paused > turns.paused;
		for (const [client, own] of this.#inOrder()) {
			if (this.#running >= this.limits.running) return;
			const [next] = own;
			if (next === undefined || !this.#mayRun(client) || (isFull() && !next.isPaused)) continue;
			this.#forget(client, next);
			// To the end of the round, also its site.
			if (this.#turnOfSite.has(next.site)) this.#turnOfSite.set(next.site, ++this.#turnCount);
			const rest = this.#waiting.get(client);
			if (rest !== undefined) {
				this.#waiting.delete(client);
				this.#waiting.set(client, rest);
			}
			this.#begin(client);
			next.start();
		}
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
		if (this.#waitingOfSite.of(waiter.site) === 0) this.#turnOfSite.delete(waiter.site);
		if (own.length === 0) this.#waiting.delete(client);
	}
}

/** Compares lists of numbers by the first number in which they differ. */
function compare(a: readonly number[], b: readonly number[]): number {
	const at = a.findIndex((each, index) => each !== b[index]);
	return (a[at] ?? 0) - (b[at] ?? 0);
}
