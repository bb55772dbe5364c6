import type { Knex } from 'knex';
import type { SqliteClient } from './sqlite/SqliteClient.js';

/**
 * Runs reads by several statements as of one moment, between which others may have their turns and write. For a database file, which is
 * read on the main thread: what a server reads in one statement keeps nobody here waiting.
 */
export function atOneMoment<T>(knex: Knex, read: (moment: Knex) => Promise<T>): Promise<T> {
	const { moments } = knex.client as SqliteClient;
	// A transaction is one moment.
	return moments === undefined ? read(knex) : moments.transaction(read);
}
