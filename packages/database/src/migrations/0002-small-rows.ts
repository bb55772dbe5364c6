import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** Data that parts of the server keep for a while: tickets, checksums of files. */
export async function addSmallRows(knex: Knex): Promise<void> {
	await createTable(knex, 'small_rows', (table) => {
		table.string('scope', 64).notNullable();
		table.string('key_hash', 64).notNullable();
		table.text('value', 'mediumtext').notNullable();
		table.bigInteger('expires_at').notNullable();
		table.primary(['scope', 'key_hash']);
		table.index(['expires_at'], 'small_rows_expires_at');
	});
}
