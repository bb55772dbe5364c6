import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** Leases: exclusive work of one process at a time, by name. */
export async function addLeases(knex: Knex): Promise<void> {
	await createTable(knex, 'leases', (table) => {
		table.string('name', 191).primary();
		table.string('holder', 191).notNullable();
		table.bigInteger('epoch').notNullable();
		// By the clock of the database.
		table.bigInteger('ends_at').notNullable();
		table.boolean('is_asked').notNullable();
		table.index(['ends_at'], 'leases_ends_at');
	});
}
