import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** Temporary links, which go with their owner. */
export async function addLinks(knex: Knex): Promise<void> {
	await createTable(knex, 'temp_links', (table) => {
		table.string('id', 36).primary();
		table.string('token_hash', 64).notNullable();
		table.string('user_id', 36).notNullable();
		table.text('path', 'mediumtext').notNullable();
		table.text('next_path', 'mediumtext');
		table.string('item_id', 255).notNullable();
		table.bigInteger('created_at').notNullable();
		table.bigInteger('expires_at').notNullable();
		table.boolean('is_ended').notNullable();
		table.bigInteger('downloads').notNullable();
		table.unique(['token_hash'], { indexName: 'temp_links_token_hash' });
		table.index(['user_id'], 'temp_links_user_id');
		table.index(['expires_at'], 'temp_links_expires_at');
		table.foreign('user_id', 'temp_links_user').references('id').inTable('users').onDelete('CASCADE');
	});
}
