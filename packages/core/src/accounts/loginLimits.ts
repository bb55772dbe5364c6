import type { LimitStore } from '@stowage/plugin-api';
import { Failure, foldUsername } from '@stowage/rules';
import { limitAddress } from '../http/proxy.js';

const windowMs = 60_000;

/** Failed tries a minute from one address at one account, and at all accounts together. */
const triesAtOneAccount = 10;
const triesFromOneAddress = 100;

/**
 * Runs one try at a password. It is counted before the hash is begun, so that 500 at once are refused as 500 in turn are, and taken back when it succeeds:
 * only failures count. Counted by address, so nobody can lock an honest person out from elsewhere. Throws `rateLimited`.
 */
export async function limitTries<T>(
	limits: LimitStore,
	address: string,
	username: string,
	attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
	const from = limitAddress(address);
	const keys = [
		{ key: `login:${from}:${foldUsername(username)}`, most: triesAtOneAccount },
		{ key: `login:${from}`, most: triesFromOneAddress },
	];
	const now = Date.now();
	for (const { key, most } of keys) {
		const { count, endsAt } = await limits.hit(key, windowMs, now);
		if (count > most) {
			throw new Failure('rateLimited', 'Too many failed tries. Please wait a moment.', {
				retryAfter: Math.max(1, (endsAt - now) / 1000),
			});
		}
	}
	let isFailedTry = false;
	try {
		const result = await attempt();
		isFailedTry = result === undefined;
		return result;
	} finally {
		// A fault of ours is no failed try of theirs.
		if (!isFailedTry) for (const { key } of keys) await limits.release(key);
	}
}
