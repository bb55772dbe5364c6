import type { Knex } from 'knex';
import { addIndex, type LargeIndex } from './largeIndexes.js';

/** The index by which the folders with members of one user are found without reading those of all. */
export const foldersWithMembers: LargeIndex = {
	table: 'temp_links',
	index: 'temp_links_user_share',
	columns: 'user_id, share_id',
};

export async function indexFoldersWithMembers(knex: Knex): Promise<void> {
	await addIndex(knex, foldersWithMembers);
}
