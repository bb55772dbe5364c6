import type { JobStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { endedLimits } from './endedJobs.js';
import { heldJobs } from './heldJobs.js';
import { jobRecords } from './jobRecords.js';
import { waitingJobs } from './waitingJobs.js';

export function jobStore(knex: Knex, now: () => number, ended = endedLimits): JobStore {
	return { ...waitingJobs(knex, now, ended), ...heldJobs(knex, now), ...jobRecords(knex, now) };
}
