import type { HomeStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { plainRow } from '../connection/plainValues.js';

interface HomeRow {
	name: string;
	root_id: string;
}

export function homeStore(knex: Knex): HomeStore {
	const homes = () => knex<HomeRow>('homes');
	const find = async (name: string) => (await homes().where(plainRow({ name })).first())?.root_id;
	return {
		find,
		async place(name, rootId) {
			await homes()
				.insert(plainRow({ name, root_id: rootId }))
				.onConflict('name')
				.ignore();
			return (await find(name)) ?? rootId;
		},
		async set(name, rootId) {
			await homes()
				.insert(plainRow({ name, root_id: rootId }))
				.onConflict('name')
				.merge(['root_id']);
		},
		async list(rootId) {
			const rows = await homes()
				.where(plainRow({ root_id: rootId }))
				.orderBy('name')
				.select('name');
			return rows.map(({ name }) => name);
		},
	};
}
