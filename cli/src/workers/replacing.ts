/** Milliseconds, of a monotonic clock. */
type Time = number;

const windowMs = 120_000;
const maxDeaths = 5;
const firstMs = 0;
const longestMs = 10_000;

/**
 * When a worker that died is replaced: the first one at once, the next ones after pauses that double, until so many
 * have died that another start would not help.
 */
export class Replacing {
	#deaths: Time[] = [];

	/** Notes a death. Returns the milliseconds until the next start, or undefined where no further one is to be tried. */
	after(death: Time): number | undefined {
		this.#deaths = [...this.#deaths.filter((earlier) => death - earlier < windowMs), death];
		if (this.#deaths.length >= maxDeaths) return undefined;
		return this.#deaths.length === 1 ? firstMs : Math.min(longestMs, 1000 * 2 ** (this.#deaths.length - 2));
	}
}
