import type { FairQueue } from '../limits/FairQueue.js';
import { SharedWork } from '../limits/SharedWork.js';

/**
 * Walks that several networks may want. Each waits for it at a turn of its own, and the first of these turns begins the walk: nobody waits
 * behind what else is walked for the network that asked first.
 */
export class SharedWalks<T> {
	/** By the walk and the network: all requests of one network wait once. */
	readonly #waiting = new Map<string, Promise<T>>();
	readonly #work: SharedWork<T>;

	constructor(queue: FairQueue) {
		this.#work = new SharedWork(queue);
	}

	/** Whether any is under way, or waits. */
	get areUnderWay(): boolean {
		return this.#waiting.size > 0;
	}

	/** Resolves as the walk of this key does, which may have begun before. Throws what the queue does while it has not. */
	join(key: string, owner: string, network: string, walk: () => Promise<T>): Promise<T> {
		const own = `${network} ${key}`;
		const known = this.#waiting.get(own);
		if (known !== undefined) return known;
		// With the network: the queue has a client wait in the first of its networks.
		const client = `${network} ${owner}`;
		// It never fires: others may come to wait for the walk at any moment.
		const { signal } = new AbortController();
		const walking = this.#work.join(key, { client, network, signal }, walk).finally(() => this.#waiting.delete(own));
		this.#waiting.set(own, walking);
		return walking;
	}
}
