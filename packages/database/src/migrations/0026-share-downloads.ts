import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** What clients of shares have got so far, and who may download from a share whose downloads are limited. */
export async function addShareDownloads(knex: Knex): Promise<void> {
	await createTable(knex, 'share_parts', (table) => {
		table.string('share_id', 36).notNullable();
		/** Hashes, of the client and of the file or archive with its version. */
		table.string('client', 64).notNullable();
		table.string('content', 64).notNullable();
		table.text('parts', 'mediumtext').notNullable();
		table.bigInteger('touched_at').notNullable();
		table.primary(['share_id', 'client', 'content']);
		table.index(['touched_at'], 'share_parts_touched');
		table.foreign('share_id', 'share_parts_share').references('id').inTable('shares').onDelete('CASCADE');
	});
	await createTable(knex, 'share_passes', (table) => {
		table.string('share_id', 36).notNullable();
		table.string('client', 64).notNullable();
		/** Whether its last bytes are being sent. */
		table.boolean('is_ending').notNullable();
		table.bigInteger('touched_at').notNullable();
		table.primary(['share_id', 'client']);
		table.foreign('share_id', 'share_passes_share').references('id').inTable('shares').onDelete('CASCADE');
	});
}
