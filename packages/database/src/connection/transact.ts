import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import { isDeadlock } from './errors.js';

const tries = 12;

/** The longest pauses after the first attempt and after any attempt. */
const firstPauseMs = 20;
const longestPauseMs = 320;

/**
 * Runs `work` in one transaction that may write. It is run again when the database broke it off to resolve a deadlock,
 * or for what another node of its cluster has committed, so it must do nothing but query the database.
 */
export async function transact<T>(knex: Knex, work: (transaction: Knex.Transaction) => Promise<T>): Promise<T> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await knex.transaction(work);
		} catch (error) {
			if (!isDeadlock(error) || !mayRepeat(attempt)) throw error;
			await pauseAfter(attempt);
		}
	}
}

/** Whether what the database has broken off is tried again after this many attempts. */
export function mayRepeat(attempt: number): boolean {
	return attempt < tries;
}

/** Waits before another attempt: at random, or two that met once meet again; longer each time, since they may be many. */
export function pauseAfter(attempt: number): Promise<void> {
	return wait(Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1)));
}
