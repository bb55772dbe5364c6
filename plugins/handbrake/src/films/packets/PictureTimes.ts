/** Eighteen hours at 60 pictures a second: 32 MB. */
const maxPictures = 4_000_000;
/** No codec shows a picture behind more than sixteen others that are decoded after it. */
const longestReordering = 64;
/** More than anybody joins to one film. */
const maxJoins = 10_000;

/** When the pictures of a track are shown, in seconds, in the order in which they are. */
export class PictureTimes {
	#times = new Float64Array(1024);
	#count = 0;
	/** How many pictures are before each recording that was joined to others, but for the first. */
	readonly joins: number[] = [];

	/** Packets come in the order in which they are decoded. */
	add(time: number): void {
		if (this.#count > maxPictures) return;
		if (this.#count === this.#times.length) {
			const larger = new Float64Array(2 * this.#count);
			larger.set(this.#times);
			this.#times = larger;
		}
		const times = this.#times;
		let at = this.#count++;
		for (const first = Math.max(0, at - longestReordering); at > first && (times[at - 1] ?? 0) > time; at--) {
			times[at] = times[at - 1] ?? 0;
		}
		times[at] = time;
	}

	/** The next picture begins another recording, which was joined to those before. */
	join(): void {
		if (this.joins.length < maxJoins) this.joins.push(this.#count);
	}

	/** All of them; undefined if there were too many to be kept. */
	all(): Float64Array | undefined {
		return this.#count > maxPictures ? undefined : this.#times.subarray(0, this.#count);
	}
}
