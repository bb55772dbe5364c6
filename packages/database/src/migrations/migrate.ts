import type { Knex } from 'knex';
import { DatabaseError } from '../connection/errors.js';
import type { Migration } from './all.js';
import { createTable } from './createTable.js';

interface MigrationRow {
	name: string;
	applied_at: number;
}

/** The applied and the missing migrations of a database. */
interface MigrationState {
	applied: string[];
	pending: Migration[];
}

/** Compares the database with the list. Throws a DatabaseError for a database with migrations that this program does not know. */
export async function migrationState(knex: Knex, migrations: readonly Migration[]): Promise<MigrationState> {
	await createTable(knex, 'migrations', (table) => {
		table.string('name', 191).primary();
		table.bigInteger('applied_at').notNullable();
	});
	const applied = await knex<MigrationRow>('migrations').orderBy('name').pluck('name');
	const unknown = applied.filter((name) => !migrations.some((migration) => migration.name === name));
	if (unknown.length > 0) {
		throw new DatabaseError(
			`This database was written by a newer Stowage: it has ${unknown.join(', ')}. Start that version, or restore an older copy.`,
		);
	}
	return { applied, pending: migrations.filter((migration) => !applied.includes(migration.name)) };
}

/** Runs the pending migrations in order. The caller holds the lock that excludes other processes. */
export async function applyMigrations(knex: Knex, pending: readonly Migration[], now: number): Promise<void> {
	for (const migration of pending) {
		await migration.up(knex);
		await knex<MigrationRow>('migrations').insert({ name: migration.name, applied_at: now });
	}
}
