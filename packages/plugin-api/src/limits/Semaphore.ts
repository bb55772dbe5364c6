/** Limits how much work runs at once; the rest waits in the order of the calls. */
export class Semaphore {
	#running = 0;
	readonly #waiting: (() => void)[] = [];

	/** `assertMayWait` gets how many calls wait already; what it throws refuses one more. */
	constructor(
		readonly limit: number,
		readonly assertMayWait: (waiting: number) => void = () => {},
	) {}

	async run<T>(work: () => Promise<T>): Promise<T> {
		if (this.#running < this.limit) this.#running++;
		else {
			this.assertMayWait(this.#waiting.length);
			// A finished call hands over its place, so that no new call gets ahead.
			await new Promise<void>((resolve) => this.#waiting.push(resolve));
		}
		try {
			return await work();
		} finally {
			const next = this.#waiting.shift();
			if (next === undefined) this.#running--;
			else next();
		}
	}
}
