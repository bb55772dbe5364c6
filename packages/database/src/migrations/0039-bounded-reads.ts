import type { Knex } from 'knex';
import { addIndexes, type LargeIndex } from './largeIndexes.js';

/** The indexes by which nothing is read whole that strangers or users fill: unfinished uploads, what has ended, what is swept. */
export const boundedReads: readonly LargeIndex[] = [
	{ table: 'uploads', index: 'uploads_user_staged', columns: 'user_id, staged_id, share_id, touched_at' },
	{ table: 'uploads', index: 'uploads_payer_staged', columns: 'payer_id, staged_id' },
	{ table: 'uploads', index: 'uploads_address_staged', columns: 'address, staged_id' },
	{ table: 'uploads', index: 'uploads_staged', columns: 'staged_id, touched_at' },
	{ table: 'tickets', index: 'tickets_ended', columns: 'ends_at, expires_at' },
	{ table: 'sessions', index: 'sessions_last_seen', columns: 'last_seen_at' },
	{ table: 'sessions', index: 'sessions_created', columns: 'created_at' },
	{ table: 'share_passes', index: 'share_passes_swept', columns: 'touched_at' },
	{ table: 'home_measures', index: 'home_measures_measured', columns: 'measured_at' },
	{ table: 'jobs', index: 'jobs_end', columns: 'end_time' },
];

export async function addBoundedReads(knex: Knex): Promise<void> {
	await addIndexes(knex, boundedReads);
}
