import type { Knex } from 'knex';

/** Which interrupted jobs have gone on since without ending a process: they are no longer tried alone, and still count. */
export async function addPassedTrials(knex: Knex): Promise<void> {
	if (await knex.schema.hasColumn('job_interruptions', 'has_passed')) return;
	await knex.schema.alterTable('job_interruptions', (table) =>
		table.boolean('has_passed').notNullable().defaultTo(false),
	);
}
