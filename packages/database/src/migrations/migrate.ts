import type { Knex } from 'knex';
import { codeOf, DatabaseError } from '../connection/errors.js';
import type { Migration } from './all.js';
import { createTable } from './createTable.js';

/** A row of the table `migrations`. */
export interface MigrationRow {
	name: string;
	applied_at: number;
	/** Missing in a database of a Stowage that asked nobody. */
	older_may_run?: boolean | number;
}

/** The applied and the missing migrations of a database. */
interface MigrationState {
	applied: string[];
	pending: Migration[];
}

/**
 * Compares the database with the list. Throws a DatabaseError for a database with migrations that this program does not know, unless they
 * all say that older programs may go on.
 */
export async function migrationState(knex: Knex, migrations: readonly Migration[]): Promise<MigrationState> {
	if (!(await knex.schema.hasTable('migrations'))) return { applied: [], pending: [...migrations] };
	const rows = await knex<MigrationRow>('migrations').orderBy('name').select();
	const applied = rows.map(({ name }) => name);
	const incompatible = incompatibleOf(rows, migrations);
	if (incompatible.length > 0)
		throw new DatabaseError(
			`This database was written by a newer Stowage: it has ${incompatible.join(', ')}. Start that version, or restore an older copy.`,
		);
	return { applied, pending: migrations.filter((migration) => !applied.includes(migration.name)) };
}

/** Names of the applied migrations that this program does not know and that do not let older programs go on. */
export function incompatibleOf(rows: readonly MigrationRow[], migrations: readonly Migration[]): string[] {
	return rows
		.filter((row) => !row.older_may_run && !migrations.some(({ name }) => name === row.name))
		.map(({ name }) => name);
}

/** Makes the table in which migrations are recorded. The caller holds the lock that excludes other processes. */
export async function makeMigrationsTable(knex: Knex): Promise<void> {
	await createTable(knex, 'migrations', (table) => {
		table.string('name', 191).primary();
		table.bigInteger('applied_at').notNullable();
		table.boolean('older_may_run').notNullable().defaultTo(false);
	});
	if (!(await knex.schema.hasColumn('migrations', 'older_may_run')))
		await knex.schema.alterTable('migrations', (table) =>
			table.boolean('older_may_run').notNullable().defaultTo(false),
		);
}

/** What a step finds where the statement of a process that died was still running when it looked. */
const doneMeanwhile = new Set([
	'ER_DUP_FIELDNAME',
	'ER_DUP_KEYNAME',
	'ER_TABLE_EXISTS_ERROR',
	'ER_CANT_DROP_FIELD_OR_KEY',
]);

/**
 * Throws what `assertUnserved` throws, where a process that serves over these tables could not go on with them after the pending
 * migrations: it would read and write tables that it does not know. `names` are those of the processes that the database itself lists.
 */
export async function assertMayMigrate(
	{ applied, pending }: MigrationState,
	names: () => Promise<readonly string[]>,
	assertUnserved: AssertUnserved,
): Promise<void> {
	const incompatible = pending.filter(({ olderMayRun }) => olderMayRun !== true);
	if (applied.length === 0 || incompatible.length === 0) return;
	await assertUnserved(await names());
}

/** Throws a DatabaseError where a process serves over the database. `names` are those that the database itself lists. */
export type AssertUnserved = (names: readonly string[]) => Promise<void>;

/** Runs the pending migrations in order. The caller holds the lock that excludes other processes. */
export async function applyMigrations(knex: Knex, pending: readonly Migration[], now: number): Promise<void> {
	for (const migration of pending) {
		await repeated(() => migration.up(knex));
		await knex<MigrationRow>('migrations').insert({
			name: migration.name,
			applied_at: now,
			older_may_run: migration.olderMayRun === true,
		});
	}
}

/** A step accepts what is done already, so it can be run once more. */
async function repeated(step: () => Promise<void>): Promise<void> {
	try {
		await step();
	} catch (error) {
		if (!doneMeanwhile.has(codeOf(error) ?? '')) throw error;
		await step();
	}
}
