import type { Turn } from '@stowage/plugin-api';
import { siteKey } from '../http/requests/proxy.js';
import { Counts } from './Counts.js';
import { type Asking, type PlaceLimits, Places } from './Places.js';
import type { RecentNetworks } from './RecentNetworks.js';
import { type Waiter, Waiters, type WaitingLimits } from './Waiters.js';

export interface FairQueueLimits extends PlaceLimits, WaitingLimits {
	group?: PlaceLimits['group'] & WaitingLimits['group'];
	/** For work that takes long: it may be asked to give its place to others from time to time. */
	turns?: {
		/** How long work has its place while others wait, in milliseconds. */
		ms: number;
		/**
		 * How much work that has begun may wait for its next turn, beyond which no other begins: each keeps its memory. A quarter is left to
		 * networks of which less than an eighth of it has begun, the last tenth of it to those of which nothing has, and the group has as large
		 * a part of it as of the places.
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

/**
 * Bounds how much work of a kind runs at once, and shares the places among clients: a client with one waiting job is served before those
 * with many, since networks are served round robin, or by what they have had, and so are the clients of each. Where no more may wait, a
 * newcomer evicts the newest waiter of the network with the most. `clientKey` identifies a client, and those of one `siteKey` are counted
 * as one among those who wait. Who asks by a key alone is a network of its own, or of its `siteKey`.
 */
export class FairQueue {
	readonly #places: Places;
	/** How much work of each network has begun, also what is paused. */
	readonly #begunOf = new Counts();
	readonly #waiters: Waiters;

	constructor(
		readonly limits: FairQueueLimits,
		/** The message of the refusal. */
		readonly busy: string,
		networks?: RecentNetworks,
	) {
		this.#places = new Places(limits, networks);
		this.#waiters = new Waiters(limits, busy);
	}

	/** How much runs right now. */
	get running(): number {
		return this.#places.taken;
	}

	/** How much waits. */
	get waiting(): number {
		return this.#waiters.count;
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
		this.#places.see(network);
		if (this.#places.isFreeFor(from) && !this.#waiters.has(client)) this.#begin(from, 'new');
		else {
			onWait?.();
			this.#waiters.makeRoom(from);
			await this.#wait(from, 'new', signal);
		}
		const { turns } = this.limits;
		const now = turns?.now ?? (() => performance.now());
		let since: number | undefined = now();
		let hasLeft = false;
		const free = () => {
			if (since === undefined) return;
			turns?.onEnd(client, now() - since, network);
			since = undefined;
			this.#places.free(from);
			this.#startNext();
		};
		const hasOthers = () => this.#waiters.count > 0;
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

	#wait(from: Asking, work: 'new' | 'paused', signal: AbortSignal | undefined): Promise<void> {
		return new Promise((resolve, reject) => {
			const leave = () => {
				this.#waiters.remove(waiter);
				reject(signal?.reason);
			};
			const waiter = this.#waiters.add(from, work, {
				start() {
					signal?.removeEventListener('abort', leave);
					resolve();
				},
				refuse(reason) {
					signal?.removeEventListener('abort', leave);
					reject(reason);
				},
			});
			signal?.addEventListener('abort', leave, { once: true });
			if (signal?.aborted) leave();
		});
	}

	#begin(from: Asking, work: 'new' | 'paused'): void {
		this.#places.take(from);
		if (work === 'new') this.#begunOf.add(from.network, 1);
	}

	/** Starts who may run, in their order, and each client once before any client's second. */
	#startNext(): void {
		for (const next of this.#waiters.inOrder()) {
			if (this.#places.taken >= this.limits.running) return;
			const { from, isPaused } = next;
			if (!this.#places.isFreeFor(from) || !this.#mayBegin(next)) continue;
			this.#waiters.take(next);
			this.#begin(from, isPaused ? 'paused' : 'new');
			next.start();
		}
	}

	/** Whether the work has begun already, or little enough is paused for more to begin. */
	#mayBegin({ isPaused, from: { client, network } }: Waiter): boolean {
		const { turns, group, running } = this.limits;
		if (turns === undefined || isPaused) return true;
		// Else the many accounts of one network would have what may be paused, and all others wait until one of them is done.
		// Whoever has a long walk under way begins a short one beside it.
		const begun = this.#begunOf.of(network);
		const part = begun === 0 ? 1 : begun < turns.paused / 8 ? 0.9 : 0.75;
		const most = Math.ceil(turns.paused * part);
		if (this.#waiters.paused > most) return false;
		// So would the group, which may ask from any number of networks: it has as large a part of it as of the places.
		return !group?.includes(client) || this.#waiters.pausedOfGroup < Math.max(1, (most * group.running) / running);
	}
}

/** Who asks, with the network that it has by default. */
export function asking(from: string | QueueClient): Asking {
	const { client, network } = typeof from === 'string' ? { client: from, network: undefined } : from;
	// Always a new object: each place is one of its own.
	return { client, network: network ?? siteKey(client) };
}
