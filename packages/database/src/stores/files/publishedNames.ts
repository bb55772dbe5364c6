import type { PublishedNameStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';
import { deleteInParts } from '../inParts.js';

interface PublishedNameRow {
	staged_id: string;
	name: string;
	written_at: number;
}

export function publishedNameStore(knex: Knex, now: () => number): PublishedNameStore {
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
		sweep(setBefore) {
			return deleteInParts(knex, 'published_names', (rows) => rows.where('written_at', '<', setBefore));
		},
	};
}
