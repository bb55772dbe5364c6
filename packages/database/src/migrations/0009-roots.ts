import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** Several storage roots: how each is opened, which is the default one, and which homes are on other roots than the first. */
export async function addRoots(knex: Knex): Promise<void> {
	for (const [column, add] of [
		['driver', (table: Knex.AlterTableBuilder) => table.string('driver', 255)],
		['location', (table: Knex.AlterTableBuilder) => table.text('location')],
		['is_default', (table: Knex.AlterTableBuilder) => table.boolean('is_default').notNullable().defaultTo(false)],
	] as const) {
		if (!(await knex.schema.hasColumn('storage_roots', column))) await knex.schema.alterTable('storage_roots', add);
	}
	// Until now a root had the name of its driver.
	await knex('storage_roots')
		.whereNull('driver')
		.update({ driver: knex.ref('name') });
	await createTable(knex, 'homes', (table) => {
		table.string('name', 255).primary();
		table.string('root_id', 255).notNullable();
		table.index(['root_id'], 'homes_root_id');
	});
}
