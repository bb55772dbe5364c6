import type { Knex } from 'knex';

/**
 * Which member of a folder is known to have written a version, and the content that replaced it. What older programs add has neither, and
 * counts as the owner's.
 */
export async function addVersionWriters(knex: Knex): Promise<void> {
	for (const column of ['written_by', 'next_item', 'next_by']) {
		if (await knex.schema.hasColumn('trash', column)) continue;
		await knex.schema.alterTable('trash', (table) => table.text(column));
	}
}
