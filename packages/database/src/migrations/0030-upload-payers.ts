import type { Knex } from 'knex';
import { hasIndex } from './hasIndex.js';

/** Whose quota an upload counts in, where that is not who sends it. */
export async function addUploadPayers(knex: Knex): Promise<void> {
	if (!(await knex.schema.hasColumn('uploads', 'payer_id')))
		await knex.schema.alterTable('uploads', (table) => void table.string('payer_id', 36));
	if (!(await hasIndex(knex, 'uploads', 'uploads_payer')))
		await knex.raw('create index uploads_payer on uploads (payer_id)');
}
