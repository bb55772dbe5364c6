import type { PublishedNameStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';
import { deleteInParts, keepLatest } from '../inParts.js';

interface PublishedNameRow {
	staged_id: string;
	name: string;
	written_at: number;
}

/** Names that are remembered, of files whose names were taken. */
const mostNames = 200_000;

export function publishedNameStore(knex: Knex, now: () => number, most = mostNames): PublishedNameStore {
	const names = () => knex<PublishedNameRow>('published_names');
	return {
		async set(stagedId, name) {
			await names()
				.insert(plainRow({ staged_id: stagedId, name, written_at: now() }))
				.onConflict('staged_id')
				.merge(['name', 'written_at']);
		},
		async find(stagedId) {
			return (
				await names()
					.where(plainRow({ staged_id: stagedId }))
					.first('name')
			)?.name;
		},
		async sweep(setBefore) {
			const old = await deleteInParts(knex, 'published_names', (rows) => rows.where('written_at', '<', setBefore));
			return old + (await keepLatest(knex, { table: 'published_names', column: 'written_at', most }));
		},
	};
}
