import type { Knex } from 'knex';
import { createTable } from './createTable.js';
import { hasIndex } from './hasIndex.js';

/** Which jobs ran when a process ended without giving them back: one of them may have ended it. They run again one at a time. */
export async function addJobInterruptions(knex: Knex): Promise<void> {
	await createTable(knex, 'job_interruptions', (table) => {
		table.string('holder', 191).notNullable();
		table.string('job_id', 64).notNullable();
		table.string('user_id', 36).notNullable();
		table.string('kind', 64).notNullable();
		table.boolean('is_ordered').notNullable();
		table.boolean('was_trial').notNullable();
		// By the clock of the database.
		table.bigInteger('at').notNullable();
		table.primary(['holder', 'job_id']);
		table.index(['job_id'], 'job_interruptions_job_id');
	});
	if (!(await knex.schema.hasColumn('jobs', 'claimed_at')))
		await knex.schema.alterTable('jobs', (table) => table.bigInteger('claimed_at'));
	// The same for all that are on trial, and unique: so there is one.
	if (!(await knex.schema.hasColumn('jobs', 'trial')))
		await knex.schema.alterTable('jobs', (table) => table.string('trial', 16));
	if (!(await hasIndex(knex, 'jobs', 'jobs_trial')))
		await knex.schema.alterTable('jobs', (table) => table.unique(['trial'], { indexName: 'jobs_trial' }));
}
