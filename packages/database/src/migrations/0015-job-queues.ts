import type { Knex } from 'knex';
import { hasIndex } from './hasIndex.js';

/** Long jobs of a kind have a queue of their own, beside the one of its short jobs. */
export async function addJobQueues(knex: Knex): Promise<void> {
	if (!(await knex.schema.hasColumn('jobs', 'is_long')))
		await knex.schema.alterTable('jobs', (table) => table.boolean('is_long').notNullable().defaultTo(false));
	for (const [index, columns] of [
		['jobs_queue', ['status', 'kind', 'is_long', 'turn']],
		['jobs_queue_begun', ['kind', 'is_long', 'begun_turn']],
	] as const) {
		if (await hasIndex(knex, 'jobs', index)) continue;
		await knex.schema.alterTable('jobs', (table) => table.index([...columns], index));
	}
}
