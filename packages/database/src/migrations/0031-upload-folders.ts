import type { Knex } from 'knex';

/** Which shared folder an upload goes to, whatever its name is by then. */
export async function addUploadFolders(knex: Knex): Promise<void> {
	if (!(await knex.schema.hasColumn('uploads', 'folder_id')))
		await knex.schema.alterTable('uploads', (table) => void table.string('folder_id', 36));
}
