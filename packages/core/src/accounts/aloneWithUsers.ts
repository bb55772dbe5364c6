import type { UserRecord, UserStore } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import type { Lease, Leases } from '../leases/createLeases.js';

interface Dependencies {
	users: Pick<UserStore, 'get'>;
	leases: Pick<Leases, 'acquire'>;
	/** Milliseconds to wait for another command. @default 10,000 */
	waitMs?: number;
}

/**
 * Runs one change of an account and its home at a time, whichever command or process it is of: of a rename in the
 * middle of a removal the files would stay under a name without an account. Throws `locked` where another one takes too
 * long, and `conflict` where the account was renamed or removed meanwhile.
 */
export function aloneWithUsers({ users, leases, waitMs = 10_000 }: Dependencies) {
	const acquire = async ({ id, username }: UserRecord): Promise<Lease | undefined> => {
		try {
			const lease = await leases.acquire(`account ${id}`, { waitMs });
			if (lease !== undefined) return lease;
		} catch (error) {
			// Files of accounts are removed to make room.
			if (isFailure(error, 'storageFull')) return undefined;
			throw error;
		}
		const message = `Another command renames, removes, enables or disables ${username} right now. Try again once it has ended.`;
		throw new Failure('locked', message, { retryAfter: 1 });
	};

	return async <T>(changed: readonly UserRecord[], work: () => Promise<T>): Promise<T> => {
		const held: (Lease | undefined)[] = [];
		try {
			// In one order, or two commands could wait for each other.
			for (const user of [...changed].sort((a, b) => (a.id < b.id ? -1 : 1))) held.push(await acquire(user));
			for (const { id, username } of changed) {
				const now = await users.get(id);
				if (now?.username === username) continue;
				const what = now === undefined ? 'removed' : `renamed to ${now.username}`;
				throw new Failure('conflict', `${username} was ${what} meanwhile. Nothing was changed by this command.`);
			}
			return await work();
		} finally {
			// All of them, also if one can't be released: it would be renewed for as long as the process lives.
			await Promise.all(held.map((lease) => lease?.release()));
		}
	};
}
