import type { Knex } from 'knex';

/** What an upload does where its name is taken, and the version that it may replace. Those that were begun before get another name. */
export async function addUploadConflicts(knex: Knex): Promise<void> {
	if (!(await knex.schema.hasColumn('uploads', 'on_conflict')))
		await knex.schema.alterTable('uploads', (table) => table.string('on_conflict', 16));
	if (!(await knex.schema.hasColumn('uploads', 'if_match')))
		await knex.schema.alterTable('uploads', (table) => table.text('if_match'));
}
