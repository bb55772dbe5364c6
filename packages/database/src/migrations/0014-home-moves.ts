import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** Homes that are being moved to another storage root, and the processes that have acknowledged that. */
export async function addHomeMoves(knex: Knex): Promise<void> {
	await createTable(knex, 'home_moves', (table) => {
		table.string('name', 255).primary();
		table.string('job_id', 64).notNullable();
		// A new one for each run of the job: late writes of an earlier run have no effect.
		table.string('run_id', 64).notNullable();
		table.boolean('is_frozen').notNullable();
		table.index(['job_id'], 'home_moves_job_id');
	});
	await createTable(knex, 'home_move_processes', (table) => {
		table.string('run_id', 64).notNullable();
		table.string('holder', 191).notNullable();
		table.boolean('has_stopped').notNullable();
		table.bigInteger('seen_at').notNullable();
		table.primary(['run_id', 'holder']);
	});
}
