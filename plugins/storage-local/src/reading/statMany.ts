import { forEachConcurrently } from '@stowage/plugin-api';
import { isDamage } from '../system/systemErrors.js';

/** A stat that takes longer, in milliseconds, has waited for a disk. */
const slowStatMs = 1;

/** Concurrent stats if each may have to wait. */
const statConcurrency = 16;

/** Two ways to stat an entry. */
export interface StatCalls {
	/** Synchronous; left out if it may block. */
	sync: ((name: string) => void) | undefined;
	async(name: string): Promise<void>;
}

/**
 * Stats entries synchronously until one had to wait for the disk: cached metadata takes a microsecond or two, a tenth of
 * what another thread costs. A batch of the next ones is then read in the background, several at once, so that no request
 * waits behind a slow disk.
 */
export async function statMany(names: readonly string[], calls: StatCalls, batch: AdaptiveBatch): Promise<void> {
	for (let next = 0; next < names.length; ) {
		let count = names.length;
		if (calls.sync !== undefined) {
			const first = next;
			for (let last = performance.now(); next < names.length; ) {
				calls.sync(names[next++] as string);
				const now = performance.now();
				if (now - last > slowStatMs) break;
				last = now;
			}
			if (next === names.length) break;
			count = batch.afterSlowStat(next - first);
		}
		const behind = names.slice(next, next + count);
		await forEachConcurrently(statConcurrency, behind, calls.async);
		next += behind.length;
	}
}

/** Names in the first batch, and how much larger the next one is if it follows soon. */
const firstBatch = 16;
const growth = 4;

/**
 * How many entries go to the background after a stat that was slow. A disk that was slow stays so, so the batch grows; a thread that was
 * held up for a moment, as by other programs, does not.
 */
export class AdaptiveBatch {
	#size = firstBatch;

	/** `quick` entries were statted since the last time, the slow one included. */
	afterSlowStat(quick: number): number {
		const isStillSlow = quick < this.#size * growth;
		this.#size = isStillSlow ? this.#size * growth : firstBatch;
		return this.#size;
	}
}

/**
 * The objects of a batch that can't be statted because they are damaged. They don't hide the others of their folder; but if it is all of
 * several, it is rather the disk that does not answer.
 */
export class Damaged {
	readonly names: string[] = [];
	#error: unknown;

	/** Throws any other error. */
	add(name: string, error: unknown): void {
		if (!isDamage(error)) throw error;
		this.names.push(name);
		this.#error ??= error;
	}

	/** Throws what is wrong with the disk, where that is so. */
	assertFew(count: number): void {
		if (this.names.length > 1 && this.names.length === count) throw this.#error;
	}
}
