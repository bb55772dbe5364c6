import type { LimitStore } from '@stowage/plugin-api';
import { foldUsername, plural } from '@stowage/rules';
import { limitAddress, siteKey } from '../http/requests/proxy.js';
import { rateLimited } from '../limits/rateLimited.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Failed attempts a minute from one address at one account. */
const attemptsPerAccountAndAddress = 10;

/**
 * Failed attempts from one address at all accounts together: at most this many in a window, which lasts a minute, and twice as long after
 * each further such number of a day.
 */
const attemptsPerAddress = 30;
const attemptsPerAddressAndDay = 300;

/**
 * Failed attempts at one account from anywhere, beyond which only clients that are known to it may try: at most this many in a window,
 * which lasts a minute, and twice as long after each further such number of a day, but two hours at most.
 */
const attemptsPerAccount = 100;
const maxAccountWindowMs = 2 * hourMs;

/**
 * Failed attempts at one account beyond these, for those who come from where nobody has failed at it that day, so that a few addresses
 * don't keep everybody out: of one site, and of all.
 */
const firstAttempts = 3;
const firstAttemptsOfAll = 300;

/** Failed attempts a day of one client that is known to the account. Above that it counts as unknown. */
const attemptsPerKnownClientAndDay = 30;

/**
 * Wrong codes of one account from clients that are not known to it: at most this many in a window, which lasts a minute, and twice as
 * long after each further such number of 30 days, but a day at most. An attacker with the password guesses 200 times in 30 days, 2,400
 * times a year. Three of a million codes are valid at a time, so the chance is 0.72 % a year.
 */
const codesPerAccount = 5;
const codePeriodMs = 30 * dayMs;
const maxCodeWindowMs = dayMs;

/** Wrong codes a day of one client that is known to the account. Above that it counts as unknown. */
const codesPerKnownClientAndDay = 5;

/**
 * Wrong codes of all clients that are known to one account in 30 days, above which they count as unknown. Whoever has the password can
 * make any number of clients known: before the second factor is turned on by signing in, and later, in an open session, by changing the
 * password.
 */
const codesOfKnownClients = 30;

/** The origin of an attempt. */
export interface AttemptOrigin {
	address: string;
	username: string;
	/** The id under which the client is known to the account. */
	knownClientId: string | undefined;
}

/**
 * Runs one attempt with a password. It is counted before the hash is begun, so that 500 at once are refused like 500 in sequence, and
 * uncounted when it succeeds: only failures count. Throws `rateLimited`, in the same words whether there is such an account or not.
 */
export async function limitAttempts<T>(
	limits: LimitStore,
	{ address, username, knownClientId }: AttemptOrigin,
	now: number,
	attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
	const from = limitAddress(address);
	const name = foldUsername(username);
	/** When an attempt is possible again, if this one exceeds a limit. */
	const refusedUntil = async (count: Count): Promise<number | undefined> => {
		const [ofDay, ofAccount, ofSite, ofClient] = await count([
			{ key: `login day:${from}`, windowMs: dayMs },
			{ key: `login account day:${name}`, windowMs: dayMs },
			{ key: `login site day:${siteKey(from)}:${name}`, windowMs: dayMs },
			...(knownClientId === undefined ? [] : [{ key: `login known:${knownClientId}`, windowMs: dayMs }]),
		]);
		const isKnown = ofClient !== undefined && ofClient.count <= attemptsPerKnownClientAndDay;
		const bounds = [
			{ key: `login:${from}:${name}`, windowMs: minuteMs, max: attemptsPerAccountAndAddress },
			{ key: `login:${from}`, windowMs: windowMsAfter(ofDay, attemptsPerAddress, dayMs), max: attemptsPerAddress },
			...(isKnown
				? []
				: [
						{
							key: `login account:${name}`,
							windowMs: windowMsAfter(ofAccount, attemptsPerAccount, maxAccountWindowMs),
							max: attemptsPerAccount,
						},
					]),
		];
		const counts = await count(bounds);
		const exceeded = counts.filter(({ count }, at) => count > (bounds[at]?.max ?? 0));
		const isFirst = ofSite !== undefined && ofSite.count <= firstAttempts;
		if (isFirst && exceeded.length === 1 && exceeded[0] === counts[2]) {
			const [beyond] = await count([{ key: `login first day:${name}`, windowMs: dayMs }]);
			if (beyond !== undefined && beyond.count <= firstAttemptsOfAll) exceeded.pop();
		}
		if (ofDay !== undefined && ofDay.count > attemptsPerAddressAndDay) exceeded.push(ofDay);
		return exceeded.length === 0 ? undefined : Math.max(...exceeded.map(({ endsAt }) => endsAt));
	};
	const assertNotRefused = async (count: Count) => {
		const endsAt = await refusedUntil(count);
		if (endsAt !== undefined) throw rateLimited('Too many failed tries. Please wait a moment.', endsAt, now);
	};
	// First without a write: what is refused counts nothing, and of many guesses most are refused.
	await assertNotRefused((tries) => limits.peekEach(tries, now));
	return countFailure(limits, now, async (count) => {
		await assertNotRefused(count);
		return attempt();
	});
}

/**
 * Runs one attempt with a code of the second factor, after the password was right. Counted as `limitAttempts` does, by limits of its own,
 * since six digits can be guessed in fewer attempts than a password. Throws `rateLimited`.
 */
export async function limitCodes<T>(
	limits: LimitStore,
	{ userId, knownClientId }: { userId: string; knownClientId: string | undefined },
	now: number,
	attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
	return countFailure(limits, now, async (count) => {
		if (knownClientId !== undefined) {
			const [ofClient, ofClients] = await count([
				{ key: `code known:${knownClientId}`, windowMs: dayMs },
				{ key: `code known of:${userId}`, windowMs: codePeriodMs },
			]);
			const isKnown = ofClient !== undefined && ofClient.count <= codesPerKnownClientAndDay;
			if (isKnown && ofClients !== undefined && ofClients.count <= codesOfKnownClients) return attempt();
		}
		const [ofPeriod] = await count([{ key: `code account days:${userId}`, windowMs: codePeriodMs }]);
		const windowMs = windowMsAfter(ofPeriod, codesPerAccount, maxCodeWindowMs);
		const [ofWindow] = await count([{ key: `code account:${userId}`, windowMs }]);
		if (ofWindow !== undefined && ofWindow.count > codesPerAccount)
			throw rateLimited(
				`Too many wrong codes. Please try again in ${waitText(ofWindow.endsAt - now)}.`,
				ofWindow.endsAt,
				now,
			);
		return attempt();
	});
}

type Count = (tries: readonly { key: string; windowMs: number }[]) => Promise<{ count: number; endsAt: number }[]>;

/**
 * Counts an attempt before it is made, and uncounts it unless it resolves to undefined: only a failure counts, not a success, a refusal
 * or an error of the server.
 */
async function countFailure<T>(
	limits: LimitStore,
	now: number,
	attempt: (count: Count) => Promise<T | undefined>,
): Promise<T | undefined> {
	const counted: { key: string; endsAt: number }[] = [];
	let hasFailed = false;
	try {
		const result = await attempt(async (tries) => {
			const counts = await limits.hitEach(tries, now);
			counted.push(...tries.map(({ key }, at) => ({ key, endsAt: counts[at]?.endsAt ?? 0 })));
			return counts;
		});
		hasFailed = result === undefined;
		return result;
	} finally {
		if (!hasFailed) await limits.releaseEach(counted);
	}
}

/** The length of the next window. `ofPeriod` counts the attempts of all windows together. */
function windowMsAfter(ofPeriod: { count: number } | undefined, triesInWindow: number, maxMs: number): number {
	const doublings = Math.floor(((ofPeriod?.count ?? 1) - 1) / triesInWindow);
	return Math.min(minuteMs * 2 ** doublings, maxMs);
}

/** Rounded up, or the user would come back too early. */
function waitText(ms: number): string {
	return ms > hourMs ? plural(Math.ceil(ms / hourMs), 'hour') : plural(Math.max(1, Math.ceil(ms / minuteMs)), 'minute');
}
