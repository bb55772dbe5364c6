import type { Knex } from 'knex';

/** Clocks differ by less, and leases end no later than that from when they should. */
export const clockSkewMs = 60_000;

/** When a lease ends that is taken or renewed now; `time` is that of the database. */
export function untilIn(knex: Knex, time: Knex.Raw, leaseMs: number): Knex.Raw {
	return knex.raw('? + ?', [time, leaseMs]);
}

/** Whether a lease has expired. A lease that ends later than any new one was taken while the clock was wrong: it would last for years. */
export function isOver(knex: Knex, column: string, time: Knex.Raw, leaseMs: number): Knex.Raw {
	return knex.raw('(?? <= ? or ?? > ? + ?)', [column, time, column, time, leaseMs + clockSkewMs]);
}
