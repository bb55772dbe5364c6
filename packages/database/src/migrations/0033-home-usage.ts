import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** What homes with a quota contain, counted by several processes: a measurement, and the changes of each process since. */
export async function addHomeUsage(knex: Knex): Promise<void> {
	await createTable(knex, 'home_measures', (table) => {
		// The id of the user, or `anonymous`.
		table.string('home', 64).primary();
		table.bigInteger('number').notNullable();
		table.bigInteger('bytes').notNullable();
		table.bigInteger('entries').notNullable();
		table.boolean('is_exact').notNullable();
		// By the clock of the database.
		table.bigInteger('measured_at').notNullable();
	});
	await createTable(knex, 'home_changes', (table) => {
		table.string('home', 64).notNullable();
		table.string('process', 191).notNullable();
		table.bigInteger('number').notNullable();
		for (const kind of ['added', 'published', 'removed']) {
			table.bigInteger(`${kind}_bytes`).notNullable();
			table.bigInteger(`${kind}_entries`).notNullable();
		}
		table.bigInteger('touched_at').notNullable();
		table.primary(['home', 'process']);
	});
}
