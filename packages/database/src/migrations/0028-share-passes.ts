import type { Knex } from 'knex';
import { isMysql } from '../connection/dialect.js';
import { hasIndex } from './hasIndex.js';

/** Adds indexes by which those who download from a share or send to it, which strangers make many of, are counted without being read. */
export async function indexSharePasses(knex: Knex): Promise<void> {
	if (!(await hasIndex(knex, 'share_passes', 'share_passes_touched')))
		await knex.raw('create index share_passes_touched on share_passes (share_id, touched_at)');
	if (!(await hasIndex(knex, 'uploads', 'uploads_share_staged')))
		await knex.raw('create index uploads_share_staged on uploads (share_id, staged_id)');
	if (await hasIndex(knex, 'uploads', 'uploads_share'))
		await knex.raw(`drop index uploads_share${isMysql(knex) ? ' on uploads' : ''}`);
}
