import type { Knex } from 'knex';

/**
 * When users signed in last, and what their homes contained when they were last measured, so that a list of them need not walk through
 * all homes.
 */
export async function addAccountFacts(knex: Knex): Promise<void> {
	for (const column of ['last_sign_in_at', 'used_bytes', 'used_entries', 'measured_at']) {
		if (await knex.schema.hasColumn('users', column)) continue;
		await knex.schema.alterTable('users', (table) => table.bigInteger(column));
	}
	// As far as their sessions tell.
	const latest = knex('sessions').max('created_at').whereRaw('sessions.user_id = users.id');
	await knex('users').whereNull('last_sign_in_at').update({ last_sign_in_at: latest });
}
