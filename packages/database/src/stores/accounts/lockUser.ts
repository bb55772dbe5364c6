import type { Knex } from 'knex';
import { batches } from '../batches.js';

interface LockedUser {
	id: string;
	username: string;
	is_disabled: boolean | number;
}

/**
 * Locks the row of a user until the transaction ends, so that what is counted for one user is decided one after
 * another. The row is changed, too: each node of a cluster locks rows for itself, but of two that change one row, one
 * is broken off and repeated with what the other has made. Resolves to undefined if there is no such user.
 */
export async function lockUser(transaction: Knex.Transaction, id: string): Promise<LockedUser | undefined> {
	await takeTurns(transaction, [id]);
	return transaction<LockedUser>('users').where({ id }).forUpdate().first('id', 'username', 'is_disabled');
}

/** Does so for several users: none of what is counted for any of them changes until the transaction ends. */
export async function lockUsers(transaction: Knex.Transaction, ids: readonly string[]): Promise<void> {
	// In one order, or two who lock the same ones would often wait for each other: `transact` would have to begin again.
	for (const part of batches([...new Set(ids)].sort())) await takeTurns(transaction, part);
}

async function takeTurns(transaction: Knex.Transaction, ids: readonly string[]): Promise<void> {
	await transaction('users').whereIn('id', ids).increment('turns');
}
