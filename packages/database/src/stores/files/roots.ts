import type { RootRecord, RootStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Knex } from 'knex';
import { isUniqueViolation } from '../../connection/errors.js';
import { plainRow } from '../../connection/plainValues.js';

interface RootRow {
	name: string;
	root_id: string;
	driver: string;
	location: string | null;
	is_default: boolean | number;
	created_at: number;
}

export function rootStore(knex: Knex, now: () => number): RootStore {
	const roots = () => knex<RootRow>('storage_roots');
	const change = async (name: string, values: Partial<RootRow>) => {
		try {
			if ((await roots().where({ name }).update(plainRow(values))) === 0) throw noSuchRoot(name);
		} catch (error) {
			throw isUniqueViolation(error) ? nameTaken(values.name, error) : error;
		}
	};
	return {
		async list() {
			return (await roots().orderBy(['created_at', 'name'])).map(toRoot);
		},
		async add({ name, rootId, driver, location }) {
			try {
				await roots().insert(
					plainRow({ name, root_id: rootId, driver, location, is_default: false, created_at: now() }),
				);
			} catch (error) {
				throw isUniqueViolation(error) ? nameTaken(name, error) : error;
			}
		},
		rename: (name, newName) => change(name, { name: newName }),
		async relocate(rootId, location) {
			const added = roots()
				.where(plainRow({ root_id: rootId }))
				.whereNotNull('location');
			if ((await added.update(plainRow({ location }))) === 0)
				throw new Failure('notFound', 'There is no such storage root any more.');
		},
		async setDefault(name) {
			// In one statement, so that there is never more than one.
			const known = await roots().where({ name }).first('name');
			if (known === undefined) throw noSuchRoot(name);
			await roots().update({ is_default: knex.raw('case when name = ? then 1 else 0 end', [name]) });
		},
		async remove(name) {
			const removed = await roots().where({ name }).whereNotIn('root_id', knex('homes').select('root_id')).delete();
			if (removed > 0) return;
			if ((await roots().where({ name }).first('name')) === undefined) throw noSuchRoot(name);
			throw new Failure('conflict', `There are homes on ${name}. Move them to another root first.`);
		},
	};
}

function noSuchRoot(name: string): Failure {
	return new Failure('notFound', `There is no storage root ${name}.`);
}

function nameTaken(name: string | undefined, cause: unknown): Failure {
	return new Failure('alreadyExists', `There is a storage root ${name} already.`, { cause });
}

function toRoot(row: RootRow): RootRecord {
	return {
		name: row.name,
		rootId: row.root_id,
		driver: row.driver,
		location: row.location,
		isDefault: Boolean(row.is_default),
		createdAt: Number(row.created_at),
	};
}
