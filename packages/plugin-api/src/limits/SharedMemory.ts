/** Some memory that is lent; `giveBack` may be called more than once. */
export interface LentMemory {
	readonly bytes: number;
	giveBack(): void;
}

/**
 * Memory for the buffers of transfers that are under way at the same time. Each gets a part of the remaining memory, so that the first ones are fast and any number of them
 * stays near the total: beyond it, only `least` for each is added.
 */
export class SharedMemory {
	#left: number;

	constructor(
		total: number,
		readonly limits: { least: number; most: number },
	) {
		this.#left = total;
	}

	/** Never waits, and never lends less than `least` unless less is wanted. */
	lend(wanted = this.limits.most): LentMemory {
		const { least, most } = this.limits;
		let part = most;
		while (part > this.#left / 4 && part > least) part /= 2;
		const bytes = Math.min(wanted, Math.max(part, least));
		this.#left -= bytes;
		let isBack = false;
		return {
			bytes,
			giveBack: () => {
				if (isBack) return;
				isBack = true;
				this.#left += bytes;
			},
		};
	}
}
