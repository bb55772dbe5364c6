import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** Users with their sessions and settings, the storage roots that belong to this database, and the counts of attempts. */
export async function addAccounts(knex: Knex): Promise<void> {
	await createTable(knex, 'users', (table) => {
		table.string('id', 36).primary();
		table.string('username', 255).notNullable();
		table.string('username_folded', 255).notNullable();
		table.text('secret').notNullable();
		table.boolean('is_disabled').notNullable();
		table.bigInteger('created_at').notNullable();
		table.unique(['username_folded'], { indexName: 'users_username_folded' });
	});
	await createTable(knex, 'sessions', (table) => {
		table.string('id_hash', 128).primary();
		table.string('user_id', 36).notNullable();
		table.bigInteger('created_at').notNullable();
		table.bigInteger('last_seen_at').notNullable();
		table.index(['user_id'], 'sessions_user_id');
		table.foreign('user_id', 'sessions_user').references('id').inTable('users').onDelete('CASCADE');
	});
	await createTable(knex, 'settings', (table) => {
		table.string('user_id', 36).primary();
		table.boolean('prompt_before_download').notNullable();
		table.boolean('enable_preview').notNullable();
		table.foreign('user_id', 'settings_user').references('id').inTable('users').onDelete('CASCADE');
	});
	await createTable(knex, 'storage_roots', (table) => {
		table.string('name', 255).primary();
		table.string('root_id', 255).notNullable();
		table.bigInteger('created_at').notNullable();
	});
	await createTable(knex, 'limits', (table) => {
		table.string('key_hash', 64).primary();
		table.integer('count').notNullable();
		table.bigInteger('ends_at').notNullable();
		table.index(['ends_at'], 'limits_ends_at');
	});
}
