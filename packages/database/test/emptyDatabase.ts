import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Knex } from 'knex';
import { openSqlite } from '../src/connection/sqlite/openSqlite.js';
import { openDatabase } from '../src/index.js';
import { allMigrations } from '../src/migrations/all.js';
import { temporaryFolder } from './temporaryFolder.js';

let emptyDatabase: Promise<Buffer> | undefined;

/** Creates a migrated, empty SQLite database from a copy in memory. Running the migrations for each test would take ten times as long. */
export async function placeDatabase(file: string): Promise<void> {
	emptyDatabase ??= makeDatabase();
	await writeFile(file, await emptyDatabase, { mode: 0o600, flag: 'wx' });
}

/** Opens one, for what is below the stores' interfaces. It is closed and removed with the test. */
export async function openEmpty(t: ExecutionContext): Promise<Knex> {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const file = join(folder.path, 'stowage.db');
	await placeDatabase(file);
	const knex = await openSqlite(file, allMigrations, Date.now);
	t.teardown(() => knex.destroy());
	return knex;
}

async function makeDatabase(): Promise<Buffer> {
	const folder = await mkdtemp(join(tmpdir(), 'stowage-database-'));
	try {
		const file = join(folder, 'stowage.db');
		const database = await openDatabase(`sqlite:${file}`);
		// Closing moves the write-ahead log into the file.
		await database.close();
		return await readFile(file);
	} finally {
		await rm(folder, { recursive: true });
	}
}
