import { Failure } from '@stowage/rules';

/**
 * The key that is the same for each attempt at one request, from a header; undefined without one. Throws `invalid` for a key that could be
 * guessed.
 */
export function idempotencyKey(headers: Readonly<Record<string, unknown>>, header = 'Idempotency-Key') {
	const key = headers[header.toLowerCase()];
	if (key === undefined) return undefined;
	if (typeof key !== 'string' || !/^[\x21-\x7e]{22,200}$/.test(key))
		throw new Failure('invalid', `${header}: must be at least 128 random bits, as 22 to 200 characters`);
	return key;
}

/** The refusal of a request whose key is that of another one. */
export const keyOfAnother = () => new Failure('conflict', 'Idempotency-Key: was used for another request');
