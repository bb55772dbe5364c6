import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** The staged files that attempts with one upload key publish, and the names of staged files that could not get the one they wished. */
export async function addPublishing(knex: Knex): Promise<void> {
	await createTable(knex, 'idempotency_keys', (table) => {
		table.string('key_hash', 64).primary();
		table.string('revision', 36).notNullable();
		table.text('staged_ids', 'mediumtext').notNullable();
		table.bigInteger('written_at').notNullable();
		table.index(['written_at'], 'idempotency_keys_written_at');
	});
	await createTable(knex, 'published_names', (table) => {
		table.string('staged_id', 255).primary();
		table.string('name', 255).notNullable();
		table.bigInteger('written_at').notNullable();
		table.index(['written_at'], 'published_names_written_at');
	});
}
