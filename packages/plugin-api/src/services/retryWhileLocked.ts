import { setTimeout as wait } from 'node:timers/promises';
import { isFailure } from '@stowage/rules';

/**
 * A process that has lost its lease may work on a copy for a moment longer, and a home that is moved to another root
 * can't be changed for a while.
 */
const tries = 1200;
const lockedMs = 500;

/** Retries while another process holds the lock. */
export async function retryWhileLocked<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
	for (let n = 1; ; n++) {
		try {
			return await work();
		} catch (error) {
			if (!isFailure(error, 'locked') || n === tries) throw error;
			await wait(lockedMs, undefined, { signal });
		}
	}
}
