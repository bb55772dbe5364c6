import type { LimitStore } from '@stowage/plugin-api';
import { foldUsername } from '@stowage/rules';
import { limitAddress } from '../http/requests/proxy.js';
import { rateLimited } from '../limits/rateLimited.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Failed attempts a minute from one address at one account. */
const attemptsPerAccountAndAddress = 10;

/** Failed attempts from one address at all accounts together: at most this many in a window, which lasts a minute, and twice as long after each further such number of a day. */
const attemptsPerAddress = 30;
const attemptsPerAddressAndDay = 300;

/**
 * Failed attempts at one account from anywhere, beyond which only clients that are known to it may try: at most this many in a window, which lasts a minute, and twice as
 * long after each further such number of a day, but two hours at most.
 */
const attemptsPerAccount = 100;
const maxAccountWindowMs = 2 * hourMs;

/** Failed attempts a day of one client that is known to the account. Above that it counts as unknown. */
const attemptsPerKnownClientAndDay = 30;

/** The origin of an attempt. */
export interface AttemptOrigin {
	address: string;
	username: string;
	/** The id under which the client is known to the account. */
	knownClientId: string | undefined;
}

/**
 * Runs one attempt with a password. It is counted before the hash is begun, so that 500 at once are refused like 500 in sequence, and uncounted when it succeeds:
 * only failures count. Throws `rateLimited`, in the same words whether there is such an account or not.
 */
export async function limitAttempts<T>(
	limits: LimitStore,
	{ address, username, knownClientId }: AttemptOrigin,
	now: number,
	attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
	const from = limitAddress(address);
	const name = foldUsername(username);
	const counted: string[] = [];
	const count = async <Tries extends { key: string; windowMs: number }>(tries: readonly Tries[]) => {
		const counts = await limits.hitEach(tries, now);
		counted.push(...tries.map(({ key }) => key));
		return counts;
	};
	let hasFailed = false;
	try {
		const [ofDay, ofAccount, ofClient] = await count([
			{ key: `login day:${from}`, windowMs: dayMs },
			{ key: `login account day:${name}`, windowMs: dayMs },
			...(knownClientId === undefined ? [] : [{ key: `login known:${knownClientId}`, windowMs: dayMs }]),
		]);
		const isKnown = ofClient !== undefined && ofClient.count <= attemptsPerKnownClientAndDay;
		const bounds = [
			{ key: `login:${from}:${name}`, windowMs: minuteMs, most: attemptsPerAccountAndAddress },
			{ key: `login:${from}`, windowMs: windowMsAfter(ofDay, attemptsPerAddress, dayMs), most: attemptsPerAddress },
			...(isKnown
				? []
				: [
						{
							key: `login account:${name}`,
							windowMs: windowMsAfter(ofAccount, attemptsPerAccount, maxAccountWindowMs),
							most: attemptsPerAccount,
						},
					]),
		];
		const counts = await count(bounds);
		const exceeded = counts.filter(({ count }, at) => count > (bounds[at]?.most ?? 0));
		if (ofDay !== undefined && ofDay.count > attemptsPerAddressAndDay) exceeded.push(ofDay);
		if (exceeded.length > 0) {
			const endsAt = Math.max(...exceeded.map(({ endsAt }) => endsAt));
			throw rateLimited('Too many failed tries. Please wait a moment.', endsAt, now);
		}
		const result = await attempt();
		hasFailed = result === undefined;
		return result;
	} finally {
		// Only a wrong password counts as a failed attempt, not a success, a refusal or an error of the server.
		if (!hasFailed) await limits.releaseEach(counted);
	}
}

/** The length of the next window. */
function windowMsAfter(ofDay: { count: number } | undefined, triesInWindow: number, maxMs: number): number {
	const doublings = Math.floor(((ofDay?.count ?? 1) - 1) / triesInWindow);
	return Math.min(minuteMs * 2 ** doublings, maxMs);
}
