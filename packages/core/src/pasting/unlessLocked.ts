import { setTimeout as wait } from 'node:timers/promises';
import { isFailure } from '@stowage/rules';

/** A process that has lost its lease may work on a copy for a moment longer, and a home that moves to another root is frozen for a while. */
const tries = 1200;
const lockedMs = 500;

/** Waits for what somebody else holds. */
export async function unlessLocked<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
	for (let n = 1; ; n++) {
		try {
			return await work();
		} catch (error) {
			if (!isFailure(error, 'locked') || n === tries) throw error;
			await wait(lockedMs, undefined, { signal });
		}
	}
}
