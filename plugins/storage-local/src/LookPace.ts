/** Looks that go to the background after a slow one at first, and how much more after each that follows soon. */
const least = 16;
const growth = 4;

/**
 * How many looks go to the background after one that was slow. A disk that is waited for goes on being slow, so they become many; a thread that was held up
 * for a moment, as by other programs, does not.
 */
export class LookPace {
	#inBackground = least;

	/** `quick` looks were made since the last time, the slow one included. */
	afterSlowLook(quick: number): number {
		const isStillSlow = quick < this.#inBackground * growth;
		this.#inBackground = isStillSlow ? this.#inBackground * growth : least;
		return this.#inBackground;
	}
}
