import type { Knex } from 'knex';
import { isMysql } from '../connection/dialect.js';
import { hasIndex } from './hasIndex.js';

/**
 * Versions of files, which are items of the trash that belong to a file: `folder` is that of their path, so that those
 * in one folder are found.
 */
export async function addVersions(knex: Knex): Promise<void> {
	if (!(await knex.schema.hasColumn('trash', 'version_of'))) {
		await knex.schema.alterTable('trash', (table) => {
			table.string('version_of', 255);
			table.string('replaced_id', 255);
			table.bigInteger('mtime');
			table.text('folder', 'mediumtext');
		});
	}
	// A path is longer than what MySQL indexes.
	const folder = isMysql(knex) ? 'folder(255)' : 'folder';
	for (const [index, columns] of [
		['trash_user_version_of', 'user_id, version_of'],
		['trash_user_folder', `user_id, ${folder}`],
	] as const) {
		if (!(await hasIndex(knex, 'trash', index))) await knex.raw(`create index ${index} on trash (${columns})`);
	}
}
