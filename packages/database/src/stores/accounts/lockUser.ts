import type { Knex } from 'knex';

interface LockedUser {
	id: string;
	username: string;
	is_disabled: boolean | number;
}

/**
 * Locks the row of a user until the transaction ends, so that what is counted for one user is decided one after another. The row is changed,
 * too: each node of a cluster locks rows for itself, but of two that change one row, one is broken off and repeated with what the other has made.
 * Resolves to undefined if there is no such user.
 */
export async function lockUser(transaction: Knex.Transaction, id: string): Promise<LockedUser | undefined> {
	await transaction('users').where({ id }).increment('turns');
	return transaction<LockedUser>('users').where({ id }).forUpdate().first('id', 'username', 'is_disabled');
}
