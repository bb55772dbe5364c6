import type { LimitStore } from '@stowage/plugin-api';
import { foldUsername } from '@stowage/rules';
import { limitAddress } from '../http/proxy.js';
import { rateLimited } from '../rateLimited.js';
import { createTurns } from '../turns.js';

const windowMs = 60_000;

/** Failed tries a minute from one address at one account, and at all accounts together. */
const triesAtOneAccount = 10;
const triesFromOneAddress = 100;

const inTurn = createTurns();

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
	const account = `login:${from}:${foldUsername(username)}`;
	// One after another: tries under way are no failures yet, and must not be counted as such against an honest client that sends several at once.
	return inTurn(account, () =>
		countedTry(
			limits,
			[
				{ key: account, most: triesAtOneAccount },
				{ key: `login:${from}`, most: triesFromOneAddress },
			],
			attempt,
		),
	);
}

async function countedTry<T>(
	limits: LimitStore,
	keys: readonly { key: string; most: number }[],
	attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
	const now = Date.now();
	const counted: string[] = [];
	let isFailedTry = false;
	try {
		for (const { key, most } of keys) {
			const { count, endsAt } = await limits.hit(key, windowMs, now);
			counted.push(key);
			if (count > most) throw rateLimited('Too many failed tries. Please wait a moment.', endsAt, now);
		}
		const result = await attempt();
		isFailedTry = result === undefined;
		return result;
	} finally {
		// A success, a refusal and a fault of ours are no failed tries of theirs.
		if (!isFailedTry) for (const key of counted) await limits.release(key);
	}
}
