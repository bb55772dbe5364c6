import { setTimeout as wait } from 'node:timers/promises';
import { isLocked } from '../errors.js';

/** How long a statement waits for another process before the answer is `unavailable`. */
export const busyMs = 5000;

/** Tries again while another process locks the file, without blocking other requests between the attempts. */
export async function retriedWhileLocked<T>(work: () => T | Promise<T>): Promise<T> {
	const deadline = performance.now() + busyMs;
	for (;;) {
		try {
			return await work();
		} catch (error) {
			if (!isLocked(error) || performance.now() > deadline) throw error;
			// At random, or two who wait for each other would meet again.
			await wait(5 + Math.random() * 20);
		}
	}
}
