import type { Knex } from 'knex';
import { addIndexes, type LargeIndex } from './largeIndexes.js';

/** The indexes by which the next job is found among the networks that wait, however many jobs of each there are. */
export const jobNetworks: readonly LargeIndex[] = [
	{ table: 'jobs', index: 'jobs_network', columns: 'status, kind, network, turn, created_at, id' },
	{ table: 'jobs', index: 'jobs_network_queue', columns: 'status, kind, is_long, network, turn, created_at, id' },
	{ table: 'jobs', index: 'jobs_network_begun', columns: 'kind, is_long, network, begun_turn' },
];

/** The network that a job was started from. What older programs add has none, and counts as one of its user's own. */
export async function addJobNetworks(knex: Knex): Promise<void> {
	if (!(await knex.schema.hasColumn('jobs', 'network')))
		await knex.schema.alterTable('jobs', (table) => void table.string('network', 64));
	await addIndexes(knex, jobNetworks);
}
