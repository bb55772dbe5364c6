import type { Knex } from 'knex';
import { hasIndex } from './hasIndex.js';

/** The quotas that were set for users, and an index of the unfinished uploads, which are few. */
export async function addQuotas(knex: Knex): Promise<void> {
	for (const column of ['quota_bytes', 'quota_entries']) {
		if (await knex.schema.hasColumn('users', column)) continue;
		await knex.schema.alterTable('users', (table) => table.bigInteger(column));
	}
	const index = 'uploads_staged_id';
	if (!(await hasIndex(knex, 'uploads', index)))
		await knex.schema.alterTable('uploads', (table) => table.index(['staged_id'], index));
}
