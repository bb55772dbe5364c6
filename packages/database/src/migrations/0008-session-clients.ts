import type { Knex } from 'knex';

/** The client and the time of a sign-in, so that a user can distinguish sessions. */
export async function addSessionClients(knex: Knex): Promise<void> {
	for (const [column, length] of [
		['user_agent', 255],
		['address', 64],
	] as const) {
		if (await knex.schema.hasColumn('sessions', column)) continue;
		await knex.schema.alterTable('sessions', (table) => table.string(column, length));
	}
}
