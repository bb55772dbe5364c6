import { onlineManager } from '@tanstack/react-query';
import { isTransient, isUnanswered } from './retries.js';

/** Before each further attempt; some six seconds in all. */
const pausesMs = [500, 1500, 4000];

/** The key of one order, in the header `Idempotency-Key` of each attempt at it: the server carries it out once. */
export function newIdempotencyKey(): string {
	return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Makes a call again while no answer of the server comes, a few times. It must be one that may be repeated, since it has an
 * idempotency key or changes nothing the second time: the server may have done it, and only the answer be lost. Throws the
 * last error that left this open.
 */
export async function resending<T>(send: () => Promise<T>): Promise<T> {
	let unanswered: unknown;
	for (const pause of [...pausesMs, undefined]) {
		try {
			return await send();
		} catch (error) {
			if (isUnanswered(error)) unanswered = error;
			// A server that is starting, or too busy to look, says nothing about an attempt before this one.
			else if (unanswered === undefined || !isTransient(error)) throw error;
		}
		// Without a network an order fails at once, and is not carried out later.
		if (pause === undefined || !onlineManager.isOnline()) break;
		await new Promise((resolve) => setTimeout(resolve, pause));
	}
	throw unanswered;
}
