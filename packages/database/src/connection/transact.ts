import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import { isDeadlock } from './errors.js';

const tries = 5;

/** Longest pause after the first attempt; the next ones may be longer. */
const pauseMs = 20;

/**
 * Runs `work` in one transaction that may write. It is run again when the database broke it off to resolve a deadlock, so it must do
 * nothing but query the database.
 */
export async function transact<T>(knex: Knex, work: (transaction: Knex.Transaction) => Promise<T>): Promise<T> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await knex.transaction(work);
		} catch (error) {
			if (attempt === tries || !isDeadlock(error)) throw error;
			// At random, or those who met once meet again.
			await wait(Math.random() * pauseMs * attempt);
		}
	}
}
