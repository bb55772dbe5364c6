import type { FairQueue, QueueClient } from './FairQueue.js';

/** Work of several waiting callers. */
interface Shared<T> {
	result: Promise<T>;
	settle(result: Promise<T>): void;
	waiting: number;
	/** Callers that wait for a place. */
	queued: number;
	/** Why a caller's place could not be taken: it has one no longer, and waits for what others begin. */
	refusal: unknown;
	/** Fires when it has begun: nobody needs a place for it any longer. */
	begun: AbortController;
	abort: AbortController;
}

/** Who waits for some work. */
export interface Waiter extends QueueClient {
	signal: AbortSignal;
}

type Work<T> = (signal: AbortSignal, client: QueueClient) => Promise<T>;

/**
 * Runs equal work once for all callers while it is under way (single flight), and aborts it when no caller waits any longer. Each caller
 * waits for a place of its own in the queue, and the first place of any of them begins the work: nobody waits behind the other work of
 * who asked first.
 */
export class SharedWork<T> {
	readonly #underWay = new Map<string, Shared<T>>();

	constructor(readonly queue: Pick<FairQueue, 'enter'>) {}

	/**
	 * Resolves as the work of this key does; `work` gets the client in whose place it runs. A signal that fires ends only its own waiting,
	 * with its reason. Throws what the queue does while the work has not begun. A client for which `assertMayBegin` throws as its turn comes
	 * waits for others that may begin, and fails with that if there are none.
	 */
	async join(
		key: string,
		waiter: Waiter,
		work: Work<T>,
		assertMayBegin: (client: string) => void = () => {},
	): Promise<T> {
		const { signal } = waiter;
		signal.throwIfAborted();
		const shared = this.#underWay.get(key) ?? this.#add(key);
		shared.waiting++;
		try {
			if (shared.begun.signal.aborted) return await unlessAborted(shared.result, signal);
			const refused = this.#enter(key, shared, waiter, work, assertMayBegin);
			return await unlessAborted(Promise.race([shared.result, refused]), signal);
		} finally {
			shared.waiting--;
			if (shared.waiting === 0) {
				this.#remove(key, shared);
				shared.abort.abort(signal.reason);
				shared.begun.abort();
			}
		}
	}

	/** Rejects if the queue refuses a place before the work has begun, and never resolves. */
	#enter(
		key: string,
		shared: Shared<T>,
		waiter: Waiter,
		work: Work<T>,
		assertMayBegin: (client: string) => void,
	): Promise<never> {
		const { client, network, signal } = waiter;
		shared.queued++;
		/** Nobody begins what only those wait for who could not. */
		const leave = () => {
			shared.queued--;
			if (shared.queued > 0 || shared.refusal === undefined || shared.begun.signal.aborted) return;
			this.#remove(key, shared);
			shared.settle(Promise.reject(shared.refusal));
		};
		return new Promise((_, reject) => {
			this.queue.enter({ client, network }, AbortSignal.any([signal, shared.begun.signal])).then(
				(release) => {
					if (shared.begun.signal.aborted || signal.aborted) {
						release();
						leave();
						return;
					}
					try {
						assertMayBegin(client);
					} catch (error) {
						release();
						shared.refusal = error;
						leave();
						return;
					}
					shared.begun.abort();
					const result = work(shared.abort.signal, { client, network });
					shared.settle(result);
					const end = () => {
						release();
						this.#remove(key, shared);
					};
					result.then(end, end);
				},
				(error) => {
					if (!shared.begun.signal.aborted) reject(error);
					leave();
				},
			);
		});
	}

	#add(key: string): Shared<T> {
		let settle: (result: Promise<T>) => void = () => {};
		const result = new Promise<T>((resolve) => {
			settle = resolve;
		});
		// All may have left.
		result.catch(() => {});
		const shared = {
			...{ result, settle, waiting: 0, queued: 0, refusal: undefined },
			...{ begun: new AbortController(), abort: new AbortController() },
		};
		this.#underWay.set(key, shared);
		return shared;
	}

	#remove(key: string, shared: Shared<T>): void {
		if (this.#underWay.get(key) === shared) this.#underWay.delete(key);
	}
}

/** Resolves or rejects as the promise does, or rejects with the signal's reason if that fires sooner. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
	return new Promise((resolve, reject) => {
		const leave = () => reject(signal.reason);
		if (signal.aborted) leave();
		signal.addEventListener('abort', leave, { once: true });
		promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
	});
}
