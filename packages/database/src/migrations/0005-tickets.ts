import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** Download tickets, by the hash of their token. */
export async function addTickets(knex: Knex): Promise<void> {
	await createTable(knex, 'tickets', (table) => {
		table.string('token_hash', 64).primary();
		table.string('holder', 191).notNullable();
		table.text('facts', 'mediumtext').notNullable();
		table.text('selection', 'mediumtext').notNullable();
		table.bigInteger('bytes').notNullable();
		table.boolean('is_ended').notNullable();
		table.bigInteger('ends_at').notNullable();
		table.bigInteger('expires_at').notNullable();
		// With the bytes, so that they are summed from the index alone.
		table.index(['holder', 'bytes'], 'tickets_holder');
		table.index(['ends_at'], 'tickets_ends_at');
		table.index(['expires_at'], 'tickets_expires_at');
	});
}
