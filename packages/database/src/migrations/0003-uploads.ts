import type { Knex } from 'knex';
import { isMysql } from '../connection/dialect.js';
import { createTable } from './createTable.js';

/** Resumable uploads, and limits that count bytes. */
export async function addUploads(knex: Knex): Promise<void> {
	await createTable(knex, 'uploads', (table) => {
		table.string('id_hash', 64).primary();
		table.string('staged_id', 255);
		table.string('user_id', 36);
		table.string('address', 64).notNullable();
		table.string('area', 16).notNullable();
		table.text('directory', 'mediumtext').notNullable();
		table.string('name', 255).notNullable();
		table.bigInteger('mtime');
		table.text('metadata', 'mediumtext').notNullable();
		table.bigInteger('length').notNullable();
		table.bigInteger('offset').notNullable();
		table.text('entry_path', 'mediumtext');
		table.bigInteger('touched_at').notNullable();
		table.bigInteger('expires_at').notNullable();
		table.index(['expires_at'], 'uploads_expires_at');
		table.index(['touched_at'], 'uploads_touched_at');
		table.index(['address'], 'uploads_address');
	});
	// SQLite's whole numbers are large enough as they are.
	if (isMysql(knex)) await knex.schema.alterTable('limits', (table) => table.bigInteger('count').notNullable().alter());
}
