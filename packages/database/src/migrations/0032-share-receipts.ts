import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** What shares have received, by whom: lines for their owners, who keep them when a share is deleted. */
export async function addShareReceipts(knex: Knex): Promise<void> {
	await createTable(knex, 'share_receipts', (table) => {
		table.string('id', 36).primary();
		table.string('user_id', 36).notNullable();
		table.string('share_id', 36).notNullable();
		/** What the share was called. */
		table.text('title').notNullable();
		/** Empty where no name is asked for. */
		table.string('sender', 255).notNullable();
		table.bigInteger('files').notNullable();
		table.bigInteger('bytes').notNullable();
		table.bigInteger('begun_at').notNullable();
		table.bigInteger('ended_at').notNullable();
		table.index(['user_id', 'ended_at'], 'share_receipts_user');
		table.index(['share_id', 'ended_at'], 'share_receipts_share');
		table.index(['ended_at'], 'share_receipts_ended');
		table.foreign('user_id', 'share_receipts_user').references('id').inTable('users').onDelete('CASCADE');
	});
}
