/** Work under way with several waiting callers. */
interface Shared<T> {
	result: Promise<T>;
	waiting: number;
	abort: AbortController;
}

/** Runs equal work once for all callers while it is under way (single flight), and aborts it when no caller waits any longer. */
export class SharedWork<T> {
	readonly #underWay = new Map<string, Shared<T>>();

	/** Resolves as the work of this key does. A signal that fires ends only its own waiting, with its reason. */
	async join(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
		signal.throwIfAborted();
		const shared = this.#underWay.get(key) ?? this.#begin(key, work);
		shared.waiting++;
		try {
			return await unlessAborted(shared.result, signal);
		} finally {
			shared.waiting--;
			if (shared.waiting === 0) {
				this.#remove(key, shared);
				shared.abort.abort(signal.reason);
			}
		}
	}

	#begin(key: string, work: (signal: AbortSignal) => Promise<T>): Shared<T> {
		const abort = new AbortController();
		const shared: Shared<T> = { result: work(abort.signal), waiting: 0, abort };
		this.#underWay.set(key, shared);
		const forget = () => this.#remove(key, shared);
		shared.result.then(forget, forget);
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
