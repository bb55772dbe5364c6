import type { Knex } from 'knex';
import { hasIndex } from './hasIndex.js';

/** So that the folders with members of one user are found without reading those of all. */
export async function indexFoldersWithMembers(knex: Knex): Promise<void> {
	if (!(await hasIndex(knex, 'temp_links', 'temp_links_user_share')))
		await knex.raw('create index temp_links_user_share on temp_links (user_id, share_id)');
}
