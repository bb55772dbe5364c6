import type { Knex } from 'knex';
import { correctionOf } from './DatabaseClock.js';

/** Whether the database is MySQL or MariaDB rather than SQLite. */
export function isMysql(knex: Knex): boolean {
	return (knex.client as Knex.Client).dialect === 'mysql';
}

/**
 * The time of day for values that several processes compare, as an expression in a statement: that of the server, or for a file that of
 * the machine which all of its processes share. If `now` is not the real clock, as in a test, the same difference is added to the
 * server's.
 */
export function databaseTime(knex: Knex, now: () => number): Knex.Raw {
	if (!isMysql(knex)) return knex.raw('?', [now()]);
	// Of UTC: `unix_timestamp` would go back for an hour in autumn.
	return knex.raw("(timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000 + ?)", [
		now() + correctionOf(knex) - Date.now(),
	]);
}
