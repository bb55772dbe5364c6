import { setTimeout as wait } from 'node:timers/promises';

/** A timeout that is longer than any machine needs: only what never happens runs into it. */
export const longMs = 5 * 60_000;

/** Polls until the result is truthy, and resolves to it. */
export async function until<T>(what: string, poll: () => T | Promise<T>, ms = longMs): Promise<T> {
	for (const end = performance.now() + ms; performance.now() < end; await wait(10)) {
		const found = await poll();
		if (found) return found;
	}
	throw new Error(`Timed out waiting for: ${what}`);
}
