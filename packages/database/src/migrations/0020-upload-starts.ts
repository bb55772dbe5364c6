import type { Knex } from 'knex';

/** When an upload was begun; unknown for those that were begun before. */
export async function addUploadStarts(knex: Knex): Promise<void> {
	if (await knex.schema.hasColumn('uploads', 'started_at')) return;
	await knex.schema.alterTable('uploads', (table) => table.bigInteger('started_at'));
}
