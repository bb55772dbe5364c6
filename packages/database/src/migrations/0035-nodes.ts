import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** The processes that live over a database server, and what all of them have to agree on. */
export async function addNodes(knex: Knex): Promise<void> {
	await createTable(knex, 'processes', (table) => {
		table.string('name', 191).primary();
		table.string('node', 255).notNullable();
		table.string('version', 64).notNullable();
		// By the clock of its database.
		table.bigInteger('seen_at').notNullable();
		/** Milliseconds by which its own clock is ahead of that. */
		table.bigInteger('clock_offset').notNullable();
		/** JSON: a digest of each setting that users notice. */
		table.text('settings').notNullable();
		table.index(['seen_at'], 'processes_seen_at');
	});
	await createTable(knex, 'agreements', (table) => {
		table.string('name', 64).primary();
		table.string('value', 255).notNullable();
	});
}
