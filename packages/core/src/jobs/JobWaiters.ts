import { waitOrAborted } from './waitOrAborted.js';

/** The callers in this process that wait for the end of jobs. */
export class JobWaiters {
	readonly #waiting = new Map<string, Set<() => void>>();

	/** Spans are measured by `monotonic`, the milliseconds of a monotonic clock. */
	constructor(readonly monotonic: () => number) {}

	/** Lets those who wait for this job, or for any job, look at it again. */
	notify(id?: string): void {
		for (const each of id === undefined ? [...this.#waiting.keys()] : [id])
			for (const wake of [...(this.#waiting.get(each) ?? [])]) wake();
	}

	/**
	 * Calls `read` at once and after each change of the job, and resolves to its first result. Resolves to undefined where there is none
	 * within `waitMs`, or before `stopping` fires.
	 */
	async firstResult<T>(
		id: string,
		read: () => Promise<T | undefined>,
		{ waitMs, stopping }: { waitMs: number; stopping: AbortSignal },
	): Promise<T | undefined> {
		const until = this.monotonic() + waitMs;
		for (;;) {
			// Before the read, or a change meanwhile would be missed.
			const changed = new AbortController();
			const remove = this.#add(id, () => changed.abort());
			try {
				const found = await read();
				if (found !== undefined) return found;
				const left = until - this.monotonic();
				if (left <= 0 || stopping.aborted) return undefined;
				await waitOrAborted(left, AbortSignal.any([changed.signal, stopping]));
			} finally {
				remove();
			}
		}
	}

	#add(id: string, wake: () => void): () => void {
		const wakes = this.#waiting.get(id) ?? new Set();
		this.#waiting.set(id, wakes.add(wake));
		return () => {
			wakes.delete(wake);
			if (wakes.size === 0) this.#waiting.delete(id);
		};
	}
}
