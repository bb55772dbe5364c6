import type { Knex } from 'knex';
import { createTable } from './createTable.js';
import { hasIndex } from './hasIndex.js';

/** Shares, which go with their owner. Their items are rows of `temp_links`, where items are followed that somebody has the address of. */
export async function addShares(knex: Knex): Promise<void> {
	await createTable(knex, 'shares', (table) => {
		table.string('id', 36).primary();
		table.string('token_hash', 64).notNullable();
		/** The token, encrypted by the server's key. */
		table.text('sealed_token').notNullable();
		table.string('user_id', 36).notNullable();
		table.text('title').notNullable();
		table.text('message').notNullable();
		table.string('mode', 16).notNullable();
		table.bigInteger('created_at').notNullable();
		table.bigInteger('expires_at');
		table.boolean('is_ended').notNullable();
		/** What the way of signing in keeps of the password. */
		table.text('password');
		table.bigInteger('max_downloads');
		table.bigInteger('max_upload_bytes');
		table.boolean('asks_name').notNullable();
		table.boolean('is_paused').notNullable();
		table.bigInteger('downloads').notNullable();
		table.bigInteger('bytes_sent').notNullable();
		table.bigInteger('uploads').notNullable();
		table.bigInteger('bytes_received').notNullable();
		table.bigInteger('last_used_at');
		table.unique(['token_hash'], { indexName: 'shares_token_hash' });
		table.index(['user_id', 'created_at', 'id'], 'shares_user_created');
		table.index(['created_at', 'id'], 'shares_created');
		table.foreign('user_id', 'shares_user').references('id').inTable('users').onDelete('CASCADE');
	});
	/** Rows with a share are no links of their own: their token's hash is that of no token. */
	for (const [column, add] of [
		['share_id', (table: Knex.AlterTableBuilder) => table.string('share_id', 36)],
		['share_position', (table: Knex.AlterTableBuilder) => table.integer('share_position')],
		['item_type', (table: Knex.AlterTableBuilder) => table.string('item_type', 16)],
	] as const) {
		if (!(await knex.schema.hasColumn('temp_links', column)))
			await knex.schema.alterTable('temp_links', (table) => void add(table));
	}
	if (!(await hasIndex(knex, 'temp_links', 'temp_links_share')))
		await knex.raw('create index temp_links_share on temp_links (share_id, share_position)');
}
