import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/**
 * The members of folders. A folder with members is a row of `temp_links`, where items are followed: its members go
 * with it, and each with their account.
 */
export async function addMembers(knex: Knex): Promise<void> {
	await createTable(knex, 'members', (table) => {
		table.string('folder_id', 36).notNullable();
		table.string('user_id', 36).notNullable();
		table.string('role', 16).notNullable();
		table.bigInteger('created_at').notNullable();
		table.primary(['folder_id', 'user_id']);
		table.index(['user_id'], 'members_user_id');
		table.foreign('folder_id', 'members_folder').references('id').inTable('temp_links').onDelete('CASCADE');
		table.foreign('user_id', 'members_user').references('id').inTable('users').onDelete('CASCADE');
	});
}
