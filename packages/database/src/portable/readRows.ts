import { resolve } from 'node:path';
import type { Knex } from 'knex';
import { translated } from '../connection/errors.js';
import { assertUsable, namedFile, openFile } from '../connection/sqlite/sqliteFile.js';
import { parseDatabaseUrl } from '../connection/target.js';
import { allMigrations } from '../migrations/all.js';
import { incompatibleOf, type MigrationRow } from '../migrations/migrate.js';
import { mysqlRows } from './mysqlRows.js';
import { bytesExpression, pageRows, rowsAtOnce } from './pages.js';
import type { Row, Value } from './Row.js';

/** All rows of a database as they were at one moment, whatever is written meanwhile. */
export interface Snapshot {
	readonly kind: 'sqlite' | 'mysql';
	/** Names of the migrations that created its tables. */
	readonly migrations: readonly string[];
	/** Names of migrations of a newer Stowage beside which this one must not run. */
	readonly incompatible: readonly string[];
	/** Names of the tables with rows to copy, first those that others refer to. */
	readonly tables: readonly string[];
	/** The rows of a table in batches, in no order. */
	rows(table: string): AsyncIterable<readonly Row[]>;
}

/** How long the snapshot waits for a process that is just opening the file. */
const busyMs = 5000;

const migrationsTable = 'migrations';

/** What concerns only the processes that use this database now. */
const notCopied: ReadonlySet<string> = new Set([
	migrationsTable,
	'migration_lock',
	'home_measures',
	'home_changes',
	'processes',
	'agreements',
]);

/** Lends a snapshot of the database, which stays in use meanwhile. Changes nothing, and creates no database. */
export async function readSnapshot<T>(url: string, use: (snapshot: Snapshot) => Promise<T>): Promise<T> {
	try {
		const target = parseDatabaseUrl(url);
		if (target.kind === 'sqlite') return await readSqlite(resolve(target.path), use);
		const { connectPatiently } = await import('../connection/mysql/openMysql.js');
		const knex = connectPatiently(target.address);
		try {
			return await readMysql(knex, use);
		} finally {
			await knex.destroy();
		}
	} catch (error) {
		throw translated(error);
	}
}

async function readSqlite<T>(file: string, use: (snapshot: Snapshot) => Promise<T>): Promise<T> {
	assertUsable(file);
	const connection = openFile(file, { timeout: busyMs });
	try {
		connection.exec('PRAGMA query_only = ON');
		const column = (sql: string) => (connection.prepare(sql).all() as { name: string }[]).map(({ name }) => name);
		// In WAL mode the first read begins the snapshot, and blocks no writer.
		connection.exec('BEGIN');
		const names = column(
			"select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'",
		);
		return await use({
			kind: 'sqlite',
			...migrationsIn(
				names.includes(migrationsTable)
					? (connection.prepare('select * from migrations order by name').all() as MigrationRow[])
					: [],
			),
			tables: ordered(names),
			async *rows(table) {
				const bytes = bytesExpression(column(`PRAGMA table_info(${quoted(table)})`).map(quoted));
				const next = (what: string) =>
					connection.prepare(`select ${what} from ${quoted(table)} where rowid > ? order by rowid limit ?`);
				const measure = next(`${bytes} as bytes`);
				const read = next('rowid as "row id", *');
				let last = Number.MIN_SAFE_INTEGER;
				for (;;) {
					const sizes = measure.all([last, pageRows]) as { bytes: number }[];
					if (sizes.length === 0) return;
					const found = read.all([last, rowsAtOnce(sizes.map((row) => row.bytes))]) as Record<string, Value>[];
					last = Number(found.at(-1)?.['row id']);
					yield found.map(({ 'row id': _, ...row }) => row);
					// Reading runs on the main thread: other requests are served between two batches.
					await new Promise((resume) => setImmediate(resume));
				}
			},
		});
	} catch (error) {
		throw namedFile(error, file);
	} finally {
		connection.close();
	}
}

async function readMysql<T>(knex: Knex, use: (snapshot: Snapshot) => Promise<T>): Promise<T> {
	return knex.transaction(
		async (transaction) => {
			const [found] = (await transaction.raw(
				"select table_name as name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE'",
			)) as [{ name: string }[]];
			const names = found.map(({ name }) => name).filter((name) => !name.endsWith('_unfinished'));
			return use({
				kind: 'mysql',
				...migrationsIn(
					names.includes(migrationsTable)
						? await transaction<MigrationRow>(migrationsTable).orderBy('name').select()
						: [],
				),
				tables: ordered(names),
				rows: (table) => mysqlRows(transaction, table),
			});
		},
		// The first read begins the snapshot of such a transaction.
		{ isolationLevel: 'repeatable read' },
	);
}

function migrationsIn(rows: readonly MigrationRow[]): Pick<Snapshot, 'migrations' | 'incompatible'> {
	return { migrations: rows.map(({ name }) => name), incompatible: incompatibleOf(rows, allMigrations) };
}

/** Tables that rows of others refer to, and each to those before it. */
const referredTo: readonly string[] = ['users', 'shares', 'temp_links'];

function ordered(names: readonly string[]): string[] {
	const rank = (name: string) => (referredTo.includes(name) ? referredTo.indexOf(name) : referredTo.length);
	return names.filter((name) => !notCopied.has(name)).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function quoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`;
}
