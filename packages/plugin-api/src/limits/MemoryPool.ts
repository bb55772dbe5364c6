/** Memory that was allocated from a pool; `release` may be called more than once. */
export interface PooledMemory {
	readonly bytes: number;
	release(): void;
}

/**
 * Memory for the buffers of transfers that are under way at the same time. Each gets a part of the remaining memory, so that the first
 * ones are fast and any number of them stays near the total: beyond it, only `min` for each is added.
 */
export class MemoryPool {
	#left: number;

	constructor(
		total: number,
		readonly limits: { min: number; max: number },
	) {
		this.#left = total;
	}

	/** Never waits, and never allocates less than `min` unless less is wanted. */
	allocate(wanted = this.limits.max): PooledMemory {
		const { min, max } = this.limits;
		let part = max;
		while (part > this.#left / 4 && part > min) part /= 2;
		const bytes = Math.min(wanted, Math.max(part, min));
		this.#left -= bytes;
		let isReleased = false;
		return {
			bytes,
			release: () => {
				if (isReleased) return;
				isReleased = true;
				this.#left += bytes;
			},
		};
	}
}
