import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/**
 * Events that one process publishes for the pages of others, and which processes have such pages. Rows of both last for a minute or so.
 */
export async function addEvents(knex: Knex): Promise<void> {
	await createTable(knex, 'events', (table) => {
		table.string('process', 191).notNullable();
		table.bigInteger('number').notNullable();
		table.text('payload').notNullable();
		table.bigInteger('created_at').notNullable();
		table.primary(['process', 'number']);
		table.index(['created_at'], 'events_created_at');
	});
	await createTable(knex, 'event_listeners', (table) => {
		table.string('process', 191).primary();
		table.boolean('polls_folders').notNullable();
		table.bigInteger('renewed_at').notNullable();
	});
}
