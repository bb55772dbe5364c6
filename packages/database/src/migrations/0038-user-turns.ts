import type { Knex } from 'knex';

/** Counts what was decided in turn for a user: changed by each, so that two nodes of a cluster decide one after another. */
export async function addUserTurns(knex: Knex): Promise<void> {
	if (await knex.schema.hasColumn('users', 'turns')) return;
	await knex.schema.alterTable('users', (table) => table.bigInteger('turns').notNullable().defaultTo(0));
}
