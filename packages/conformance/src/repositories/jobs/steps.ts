import type { JobRunKey, JobStore, NewJob, Stores } from '@stowage/plugin-api';
import type { ExecutionContext } from 'ava';
import { second } from '../rules.js';

export const leaseMs = 10 * second;
export const limits = { jobs: 100, bytes: 1000 };

/** Adds a user; resolves to their id. */
export async function userOf({ users }: Stores, username: string): Promise<string> {
	return (await users.add({ username, secret: 's' })).id;
}

export const jobOf = (id: string, userId: string, more: Partial<NewJob> = {}): NewJob => ({
	...{ id, kind: 'copy', userId, title: 'Copy 3 items', input: '{"items":3}', onRestart: 'resume' },
	...{ network: '192.0.2.1', isLong: false, isOrdered: false, ...more },
});

/** Claims the next job; resolves to its run. */
export async function begin(t: ExecutionContext, jobs: JobStore, slot: string, holder = 'one'): Promise<JobRunKey> {
	const next = await jobs.next('copy');
	if (next === undefined) throw new Error('no job is queued');
	const run = { id: next.id, holder, epoch: next.epoch + 1 };
	t.truthy(await jobs.claim(run, slot, leaseMs));
	return run;
}
