import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ExecutionContext } from 'ava';
import type { Locator } from 'playwright-core';
import { timeoutMs } from './timeouts.js';

/** Waits until `read` answers what is expected: the page may still be about to show it. */
export async function eventually<T>(
	t: ExecutionContext,
	read: () => Promise<T>,
	expected: T,
	message?: string,
): Promise<void> {
	t.deepEqual(await readUntil(read, (value) => isDeepStrictEqual(value, expected)), expected, message);
}

/** The same for a text, such as that of an element or an attribute. */
export async function eventuallyMatches(
	t: ExecutionContext,
	read: () => Promise<string | null>,
	expected: RegExp,
	message?: string,
): Promise<void> {
	t.regex((await readUntil(read, (value) => value !== null && expected.test(value))) ?? '', expected, message);
}

/** Waits until the page shows nothing of this any more. */
export function gone(t: ExecutionContext, locator: Locator, message?: string): Promise<void> {
	return eventually(t, () => locator.count(), 0, message);
}

/** The page shows nothing of this. It is read once, since it must not have appeared: wait before for what shows that all is done. */
export async function absent(t: ExecutionContext, locator: Locator, message?: string): Promise<void> {
	t.is(await locator.count(), 0, message);
}

async function readUntil<T>(read: () => Promise<T>, isExpected: (value: T) => boolean): Promise<T> {
	const begun = performance.now();
	let value = await read();
	while (!isExpected(value) && performance.now() < begun + timeoutMs) {
		// To ask costs the page itself time, so what takes long is asked less often.
		await wait(Math.min(200, 20 + (performance.now() - begun) / 10));
		value = await read();
	}
	return value;
}
