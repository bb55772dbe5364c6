import type { JobStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { heldJobs } from './heldJobs.js';
import { jobRecords } from './jobRecords.js';
import { waitingJobs } from './waitingJobs.js';

export function jobStore(knex: Knex, now: () => number): JobStore {
	return { ...waitingJobs(knex, now), ...heldJobs(knex, now), ...jobRecords(knex, now) };
}
