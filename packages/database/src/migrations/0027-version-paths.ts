import type { Knex } from 'knex';
import { isMysql } from '../connection/dialect.js';
import { hasIndex } from './hasIndex.js';

/**
 * Adds an index by which the versions of one path, and those of a folder in the order of their paths, are found without
 * reading all in it.
 */
export async function addVersionPaths(knex: Knex): Promise<void> {
	// A path is longer than what MySQL indexes: its beginning narrows the search as well.
	const columns = isMysql(knex) ? 'user_id, folder(255), path(255)' : 'user_id, folder, path, version_of';
	if (!(await hasIndex(knex, 'trash', 'trash_user_path')))
		await knex.raw(`create index trash_user_path on trash (${columns})`);
	if (await hasIndex(knex, 'trash', 'trash_user_folder'))
		await knex.raw(`drop index trash_user_folder${isMysql(knex) ? ' on trash' : ''}`);
}
