import type { RootStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { plainRow } from '../connection/plainValues.js';

interface RootRow {
	name: string;
	root_id: string;
	created_at: number;
}

export function rootStore(knex: Knex, now: () => number): RootStore {
	const roots = () => knex<RootRow>('storage_roots');
	return {
		async find(name) {
			const row = await roots().where({ name }).first();
			return row?.root_id;
		},
		async set(name, rootId) {
			await roots()
				.insert(plainRow({ name, root_id: rootId, created_at: now() }))
				.onConflict('name')
				.merge(['root_id']);
		},
	};
}
