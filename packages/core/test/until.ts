import { setTimeout as wait } from 'node:timers/promises';

/** A timeout that is longer than any machine needs: only what never happens runs into it. */
export const longMs = 5 * 60_000;

/**
 * Polls until the result is truthy, and resolves to it. It pauses for a tenth of the time so far, but 50 ms at most: a poll may be a
 * request to the server that has the work which is awaited. What lasts for longer anyway can be asked for more rarely.
 */
export async function until<T>(what: string, poll: () => T | Promise<T>, ms = longMs, maxPauseMs = 50): Promise<T> {
	const began = performance.now();
	for (let waited = 0; waited < ms; waited = performance.now() - began) {
		const found = await poll();
		if (found) return found;
		await wait(Math.min(Math.max(10, waited / 10), maxPauseMs));
	}
	throw new Error(`Timed out waiting for: ${what}`);
}
