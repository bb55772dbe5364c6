import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** What members have changed in folders of others: lines for the owners, who keep them when a folder is shared no more. */
export async function addMemberChanges(knex: Knex): Promise<void> {
	await createTable(knex, 'member_changes', (table) => {
		table.string('id', 36).primary();
		table.string('user_id', 36).notNullable();
		table.string('folder_id', 36).notNullable();
		table.string('member_id', 36).notNullable();
		/** What the folder and the member were called. */
		table.text('folder').notNullable();
		table.string('member', 255).notNullable();
		for (const count of ['added', 'changed', 'removed']) table.bigInteger(count).notNullable();
		table.bigInteger('begun_at').notNullable();
		table.bigInteger('ended_at').notNullable();
		table.index(['user_id', 'ended_at'], 'member_changes_user');
		table.index(['folder_id', 'ended_at'], 'member_changes_folder');
		table.index(['ended_at'], 'member_changes_ended');
		table.foreign('user_id', 'member_changes_user').references('id').inTable('users').onDelete('CASCADE');
	});
}
