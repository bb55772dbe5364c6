import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** Long work that survives its page, its session and the process. */
export async function addJobs(knex: Knex): Promise<void> {
	await createTable(knex, 'jobs', (table) => {
		table.string('id', 64).primary();
		table.string('kind', 64).notNullable();
		// No foreign key: the process that runs the job of a removed user must still find the row, and frees its slot when the run has ended.
		table.string('user_id', 36).notNullable();
		table.text('title').notNullable();
		table.text('input', 'mediumtext').notNullable();
		table.text('saved', 'mediumtext');
		table.bigInteger('input_bytes').notNullable();
		table.bigInteger('saved_bytes').notNullable();
		table.string('on_restart', 16).notNullable();
		table.string('status', 16).notNullable();
		table.boolean('is_cancel_requested').notNullable();
		table.double('done').notNullable();
		table.double('total').notNullable();
		table.string('unit', 16).notNullable();
		table.double('speed');
		table.double('time_left');
		table.text('detail', 'mediumtext');
		table.text('error');
		table.integer('attempt').notNullable();
		table.integer('interruptions').notNullable();
		table.bigInteger('turn').notNullable();
		table.bigInteger('begun_turn');
		// Null unless it runs. Unique, so that no two run in one.
		table.string('slot', 80).unique({ indexName: 'jobs_slot' });
		table.string('holder', 191);
		table.integer('epoch').notNullable();
		table.bigInteger('lease_until');
		table.bigInteger('created_at').notNullable();
		table.bigInteger('start_time');
		table.bigInteger('end_time');
		table.bigInteger('updated_at').notNullable();
		table.index(['status', 'kind', 'turn', 'created_at'], 'jobs_next');
		table.index(['kind', 'begun_turn'], 'jobs_begun_turn');
		table.index(['user_id', 'kind', 'turn'], 'jobs_user_turn');
		table.index(['user_id', 'end_time'], 'jobs_user_end');
		table.index(['updated_at'], 'jobs_updated');
	});
}
