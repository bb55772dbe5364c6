import type { Knex } from 'knex';
import { hasIndex } from './hasIndex.js';

/** Uploads that guests of a share send to its owner: of which share and client, and which file became of each. */
export async function addReceivedUploads(knex: Knex): Promise<void> {
	for (const [column, length] of [
		['share_id', 36],
		['share_client', 64],
		['item_id', 255],
	] as const) {
		if (!(await knex.schema.hasColumn('uploads', column)))
			await knex.schema.alterTable('uploads', (table) => void table.string(column, length));
	}
	if (!(await hasIndex(knex, 'uploads', 'uploads_share')))
		await knex.raw('create index uploads_share on uploads (share_id)');
}
