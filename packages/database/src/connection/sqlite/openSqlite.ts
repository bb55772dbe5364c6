import { resolve } from 'node:path';
import knex, { type Knex } from 'knex';
import type { Migration } from '../../migrations/all.js';
import {
	type AssertUnserved,
	applyMigrations,
	assertMayMigrate,
	incompatibleOf,
	type MigrationRow,
	makeMigrationsTable,
	migrationState,
} from '../../migrations/migrate.js';
import { hasPartial, makeSnapshot, removePartial } from '../../migrations/snapshot.js';
import { commonSettings } from '../commonSettings.js';
import { DatabaseDamaged, DatabaseError, isLocked } from '../errors.js';
import { ConnectionTurns, type TurnClient } from './ConnectionTurns.js';
import { SqliteClient, SqliteReader } from './SqliteClient.js';
import { namedDiskFault, namedFile, prepareFile } from './sqliteFile.js';

/** How long a starting process waits for another one that is migrating. */
const migrationWaitMs = 600_000;

/** Callers that read as of moments of their own at once; others wait. */
const mostMoments = 4;

/** Opens the file, checks its integrity, and brings its tables up to date. `client` names whom the running code works for. */
export async function openSqlite(
	path: string,
	migrations: readonly Migration[],
	now: () => number,
	client = (): TurnClient => ({ client: '', network: '' }),
	assertUnserved: AssertUnserved = async () => {},
): Promise<Knex> {
	const file = resolve(path);
	prepareFile(file);
	const database = connect(file, client);
	try {
		await assertWhole(database);
		await retryWhileLocked(() => migrate(database, file, migrations, now, assertUnserved));
		return database;
	} catch (error) {
		await database.destroy();
		const says = namedDiskFault(namedFile(error, file), file);
		throw says === error && error instanceof DatabaseError
			? new DatabaseError(`${error.message} (${file})`, { cause: error })
			: says;
	}
}

function connect(filename: string, client: () => TurnClient): Knex {
	const settings = {
		connection: { filename },
		useNullAsDefault: true,
		// A second writer could only wait for the lock of the first one, and reads take no time in which another could begin.
		pool: { min: 1, max: 1 },
		...commonSettings,
	};
	const database = knex({ client: SqliteClient, ...settings });
	const own = database.client as SqliteClient;
	own.turns = new ConnectionTurns(client);
	own.reads = knex({ client: SqliteReader, ...settings }).client;
	own.moments = knex({ client: SqliteReader, ...settings, pool: { min: 0, max: mostMoments } });
	return database;
}

/** Damage that is found now is one clear message; found later it is a wrong response to a client. */
async function assertWhole(database: Knex): Promise<void> {
	const rows: { quick_check: string }[] = await database.raw('PRAGMA quick_check(1)');
	const finding = rows[0]?.quick_check;
	if (finding !== 'ok') throw new DatabaseDamaged(`The database is damaged: ${finding}`);
}

/** Another process may be migrating, which takes as long as its tables are large. */
async function retryWhileLocked(work: () => Promise<void>): Promise<void> {
	const deadline = performance.now() + migrationWaitMs;
	for (;;) {
		try {
			return await work();
		} catch (error) {
			if (!isLocked(error) || performance.now() > deadline) throw error;
		}
	}
}

async function migrate(
	database: Knex,
	file: string,
	migrations: readonly Migration[],
	now: () => number,
	assertUnserved: AssertUnserved,
): Promise<void> {
	if (await isUpToDate(database, migrations)) return removeLeftPartial(database, file);
	// With foreign keys on, a step that makes a table anew would delete the rows that refer to it. Inside a transaction it cannot be set.
	await database.raw('PRAGMA foreign_keys = OFF');
	await database.transaction(async (transaction) => {
		const state = await migrationState(transaction, migrations);
		const { applied, pending } = state;
		const [first] = pending;
		if (first === undefined) return;
		await assertMayMigrate(state, async () => [], assertUnserved);
		if (applied.length > 0) makeSnapshot(file, first.name, new Date(now()));
		await makeMigrationsTable(transaction);
		await applyMigrations(transaction, pending, now());
		const orphans: unknown[] = await transaction.raw('PRAGMA foreign_key_check');
		if (orphans.length > 0) throw new Error(`The migration left ${orphans.length} rows that refer to nothing.`);
	});
	await database.raw('PRAGMA foreign_keys = ON');
}

/** What is left of a snapshot costs room, and no start: where it can't be removed it stays. */
async function removeLeftPartial(database: Knex, file: string): Promise<void> {
	if (!hasPartial(file)) return;
	const removing = database.transaction(async (transaction) => {
		// Knex calls this also where the transaction did not begin; but then it takes no statement.
		await transaction.raw('select 1');
		removePartial(file);
	});
	await removing.catch(() => undefined);
}

/** Looks without the lock that a transaction waits for, which another process may hold for long. */
async function isUpToDate(database: Knex, migrations: readonly Migration[]): Promise<boolean> {
	// A file that is new, or can't be read, is the matter of who migrates it.
	const rows = await database<MigrationRow>('migrations')
		.select()
		.catch((): MigrationRow[] => []);
	const applied = new Set(rows.map(({ name }) => name));
	return migrations.every(({ name }) => applied.has(name)) && incompatibleOf(rows, migrations).length === 0;
}
