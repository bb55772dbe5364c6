import type { Knex } from 'knex';
import { addIndex, type LargeIndex } from './largeIndexes.js';

/** The index by which a user's deleted items are listed and summed without reading their versions, of which there may be very many. */
export const trashKinds: LargeIndex = {
	table: 'trash',
	index: 'trash_user_kind',
	columns: 'user_id, version_of, deleted_at, id, state, bytes, entries',
};

export async function indexTrashKinds(knex: Knex): Promise<void> {
	await addIndex(knex, trashKinds);
}
