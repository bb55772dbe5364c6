import { NetworkFailure } from './client.js';

/** Before each further attempt; some six seconds in all. */
const pausesMs = [500, 1500, 4000];

/** The key of one order, in the header `Idempotency-Key` of each attempt at it: the server carries it out once. */
export function newIdempotencyKey(): string {
	return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Makes a call again while no response comes, a few times. It must be one that may be repeated, since it has an
 * idempotency key or changes nothing the second time: the server may have done it, and only the response be lost.
 */
export async function resending<T>(send: () => Promise<T>): Promise<T> {
	for (const pause of pausesMs) {
		try {
			return await send();
		} catch (error) {
			if (!(error instanceof NetworkFailure)) throw error;
		}
		await new Promise((resolve) => setTimeout(resolve, pause));
	}
	return send();
}
