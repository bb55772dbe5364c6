/** Limits concurrent calls; the others wait in order. */
export class Semaphore {
	#running = 0;
	readonly #waiting: (() => void)[] = [];

	constructor(readonly limit: number) {}

	async run<T>(work: () => Promise<T>): Promise<T> {
		if (this.#running >= this.limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
		else this.#running++;
		try {
			return await work();
		} finally {
			const next = this.#waiting.shift();
			// The place is handed on, not freed, so no new call gets ahead.
			if (next === undefined) this.#running--;
			else next();
		}
	}
}
