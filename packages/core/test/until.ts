import { setTimeout as wait } from 'node:timers/promises';

/** Longer than any machine takes, so that it ends only what never comes. */
export const longMs = 5 * 60_000;

/** Asks again and again until it is so; resolves to what was found. */
export async function until<T>(what: string, look: () => T | Promise<T>): Promise<T> {
	for (const end = performance.now() + longMs; performance.now() < end; await wait(10)) {
		const found = await look();
		if (found) return found;
	}
	throw new Error(`This did not come about: ${what}`);
}
