import type { Knex } from 'knex';
import { isMysql } from '../connection/dialect.js';
import { hasIndex } from './hasIndex.js';

/** Adds indexes by which a page of links, and the links to an item and to what is below it, are found without reading all. */
export async function addLinkIndexes(knex: Knex): Promise<void> {
	// A path is longer than what MySQL indexes: its beginning narrows the search as well.
	const path = isMysql(knex) ? '(255)' : '';
	for (const [index, columns] of [
		['temp_links_user_path', `user_id, path${path}`],
		['temp_links_user_next_path', `user_id, next_path${path}`],
		['temp_links_user_created', 'user_id, created_at, id'],
		['temp_links_user_expires', 'user_id, expires_at'],
		['temp_links_created', 'created_at, id'],
	] as const) {
		if (!(await hasIndex(knex, 'temp_links', index)))
			await knex.raw(`create index ${index} on temp_links (${columns})`);
	}
}
