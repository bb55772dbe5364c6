import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** The items in the trash. They do not go with their user: their files are still there. */
export async function addTrash(knex: Knex): Promise<void> {
	await createTable(knex, 'trash', (table) => {
		table.string('id', 32).primary();
		table.string('user_id', 36).notNullable();
		table.string('username', 64).notNullable();
		table.string('root_id', 64).notNullable();
		table.text('path', 'mediumtext').notNullable();
		table.string('type', 16).notNullable();
		table.bigInteger('bytes');
		table.bigInteger('entries');
		table.bigInteger('deleted_at').notNullable();
		table.string('deleted_by', 64).notNullable();
		table.string('state', 16).notNullable();
		/** When the state was entered. */
		table.bigInteger('state_at').notNullable();
		table.index(['user_id', 'deleted_at', 'id'], 'trash_user_deleted');
		table.index(['root_id', 'deleted_at'], 'trash_root_deleted');
		table.index(['deleted_at'], 'trash_deleted');
		table.index(['state', 'state_at'], 'trash_state');
	});
}
