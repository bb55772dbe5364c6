import type { Knex } from 'knex';

/** The table of key-value stores gets their name. */
export async function renameSmallRows(knex: Knex): Promise<void> {
	// MySQL commits each statement, so a start that was cut off may have renamed it.
	if (await knex.schema.hasTable('key_values')) return;
	await knex.schema.renameTable('small_rows', 'key_values');
}
