import { Failure, formatListSize } from '@stowage/rules';
import type { Knex } from 'knex';
import { isMysql } from '../connection/dialect.js';
import { codeOf, DatabaseError, isUnavailable, translated } from '../connection/errors.js';
import { plainRow } from '../connection/plainValues.js';
import { parseDatabaseUrl } from '../connection/target.js';
import { allMigrations } from '../migrations/all.js';
import { keyHash } from '../stores/keyHash.js';
import { filledScope } from './filledScope.js';
import { mysqlRows } from './mysqlRows.js';
import { bytesExpression, pageBytes, pageRows, rowsAtOnce } from './pages.js';
import type { Row } from './Row.js';
import { RowDigest } from './RowDigest.js';
import { readSnapshot } from './readRows.js';

export interface TableRows {
	table: string;
	rows: readonly Row[];
}

/** The number of rows written to each table, and a digest of their content. */
export type Written = ReadonlyMap<string, { count: number; digest: string }>;

/** A statement has a bound for its values; that for its bytes is `pageBytes`, unless one row alone has more. */
const statementRows = 100;

/** What a statement has beside the values of one row. */
const frameBytes = 4096;

interface Filling {
	migrations: readonly string[];
	tables: readonly string[];
	/** For `isFilled`. */
	key?: string;
	/** What it throws leaves the database empty. */
	check?: (written: Written) => void;
}

/** From this migration on there is a table for such a key. */
const keyValuesMigration = '0021-key-values';

/**
 * Fills an empty database of either kind with the rows of tables of these migrations, all of them or none, reads them back and compares.
 * Throws a DatabaseError for a database that is not empty, and for unknown migrations, and `invalid` for what are no rows of its tables.
 */
export async function fillDatabase(
	url: string,
	{ migrations, tables, key, check }: Filling,
	batches: AsyncIterable<TableRows>,
): Promise<Written> {
	const unknown = migrations.filter((name) => !allMigrations.some((migration) => migration.name === name));
	if (unknown.length > 0)
		throw new DatabaseError(`This comes from a newer Stowage: it has ${unknown.join(', ')}. Use that version.`);
	if (migrations.some((_name, at) => !migrations.includes(allMigrations[at]?.name ?? '')))
		throw new Failure('invalid', 'Its list of migrations has gaps: no Stowage has written this.');
	try {
		const knex = await open(url, migrations);
		try {
			return await knex.transaction(async (transaction) => {
				const written = await fill(transaction, tables, batches);
				check?.(written);
				if (key !== undefined && migrations.includes(keyValuesMigration))
					await transaction('key_values').insert({
						...{ scope: filledScope, key_hash: keyHash(key), value: 'true' },
						expires_at: Number.MAX_SAFE_INTEGER,
					});
				return written;
			});
		} finally {
			await knex.destroy();
		}
	} catch (error) {
		throw translated(error);
	}
}

/** Whether the database was filled by a call with that key, which is still there. */
export async function isFilled(url: string, key: string): Promise<boolean> {
	try {
		return await readSnapshot(url, async ({ tables, rows }) => {
			if (!tables.includes('key_values')) return false;
			for await (const some of rows('key_values'))
				if (some.some(({ scope, key_hash }) => scope === filledScope && key_hash === keyHash(key))) return true;
			return false;
		});
	} catch (error) {
		// There is none yet, or it is none: who fills it says so.
		if (error instanceof DatabaseError) return false;
		throw error;
	}
}

async function open(url: string, migrations: readonly string[]): Promise<Knex> {
	const target = parseDatabaseUrl(url);
	const known = allMigrations.filter(({ name }) => migrations.includes(name));
	try {
		if (target.kind === 'sqlite') {
			const { openSqlite } = await import('../connection/sqlite/openSqlite.js');
			return await openSqlite(target.path, known, Date.now);
		}
		const { openMysql } = await import('../connection/mysql/openMysql.js');
		return await openMysql(target.address, known, Date.now, 1);
	} catch (error) {
		if (!(error instanceof DatabaseError) || !error.message.includes('newer Stowage')) throw error;
		throw new DatabaseError('The database to fill is not empty: it has tables already. Name an empty one.', {
			cause: error,
		});
	}
}

async function fill(
	transaction: Knex.Transaction,
	tables: readonly string[],
	batches: AsyncIterable<TableRows>,
): Promise<Written> {
	const given = new Map<string, RowDigest>();
	for (const table of tables) {
		await fitting(table, () => assertEmpty(transaction, table));
		given.set(table, new RowDigest());
	}
	const most = isMysql(transaction) ? await maxStatementBytes(transaction) : Number.POSITIVE_INFINITY;
	// Each character of a value may be escaped by another one.
	for await (const { table, rows } of inStatements(batches, Math.min(pageBytes, most / 4))) {
		const digest = given.get(table);
		if (digest === undefined) throw new DatabaseError(`There are rows of a table that was not named: ${table}`);
		await fitting(table, async () => {
			const plain = rows.map((row) => plainRow({ ...row }));
			for (const row of plain) {
				assertTaken(table, row, most);
				digest.add(row);
			}
			await transaction(table).insert(plain);
		});
	}
	const written = new Map<string, { count: number; digest: string }>();
	for (const [table, { count, digest }] of given) {
		const found = new RowDigest();
		for await (const row of allRows(transaction, table)) found.add(row);
		if (found.count !== count || found.digest !== digest)
			throw new DatabaseError(`The rows of ${table} are not the same when they are read back. Nothing was written.`);
		written.set(table, { count, digest });
	}
	return written;
}

/** The rows in batches that one statement can bear, however they arrive. */
async function* inStatements(batches: AsyncIterable<TableRows>, maxBytes: number): AsyncGenerator<TableRows> {
	let waiting: { table: string; rows: Row[]; bytes: number } | undefined;
	for await (const { table, rows } of batches) {
		for (const row of rows) {
			const bytes = bytesOf(row);
			const fits = waiting?.table === table && waiting.rows.length < statementRows && waiting.bytes + bytes <= maxBytes;
			if (!fits && waiting !== undefined) yield waiting;
			if (!fits || waiting === undefined) waiting = { table, rows: [], bytes: 0 };
			waiting.rows.push(row);
			waiting.bytes += bytes;
		}
	}
	if (waiting !== undefined) yield waiting;
}

function bytesOf(row: Row): number {
	return Object.values(row).reduce<number>(
		(sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 8),
		0,
	);
}

async function maxStatementBytes(transaction: Knex.Transaction): Promise<number> {
	const [[found]] = await transaction.raw('select @@max_allowed_packet as bytes');
	return Number(found.bytes);
}

/** Throws for a row that is too large for a statement: the server would only end the connection in the middle of it. */
function assertTaken(table: string, row: Row, most: number): void {
	const bytes = bytesOf(row);
	if (2 * bytes + frameBytes <= most || escapedBytes(row) + frameBytes <= most) return;
	throw new DatabaseError(
		`The database server does not take a row of ${table} with ${formatListSize(bytes)}: raise its max_allowed_packet. Nothing was written.`,
	);
}

/** How many bytes the values have in a statement. */
function escapedBytes(row: Row): number {
	const escaped = Object.values(row)
		.join('')
		.match(/[\0\b\t\n\r\x1a"'\\]/g);
	return bytesOf(row) + (escaped?.length ?? 0);
}

/** Throws `invalid` where the database, or its driver, refuses a table, a column or a value. Those may come from a forged backup. */
async function fitting(table: string, work: () => Promise<void>): Promise<void> {
	try {
		await work();
	} catch (cause) {
		const isRefused = /^(SQLITE_(ERROR|CONSTRAINT|MISMATCH|TOOBIG)|ER_(?!NET_PACKET_TOO_LARGE))/.test(
			codeOf(cause) ?? '',
		);
		const isKnown = translated(cause) !== cause || isUnavailable(cause);
		if (isKnown || !(isRefused || cause instanceof TypeError)) throw cause;
		const message = `These are no rows of a table of Stowage: ${table}. It, a column or a value is another one.`;
		throw new Failure('invalid', message, { cause });
	}
}

async function* allRows(transaction: Knex.Transaction, table: string): AsyncGenerator<Row> {
	if (isMysql(transaction)) {
		for await (const rows of mysqlRows(transaction, table)) yield* rows;
		return;
	}
	const columns = Object.keys(await transaction(table).columnInfo());
	const bytes = transaction.raw(bytesExpression(columns.map(() => '??')), columns);
	for (let last = Number.MIN_SAFE_INTEGER; ; ) {
		const next = (count: number) => transaction(table).where('rowid', '>', last).orderBy('rowid').limit(count);
		const sizes: { bytes: number }[] = await next(pageRows).select({ bytes });
		if (sizes.length === 0) return;
		const page = next(rowsAtOnce(sizes.map((row) => row.bytes)));
		const found: (Row & { 'row id': number })[] = await page.select('*', { 'row id': 'rowid' });
		last = found.at(-1)?.['row id'] as number;
		for (const { 'row id': _, ...row } of found) yield row;
	}
}

async function assertEmpty(transaction: Knex.Transaction, table: string): Promise<void> {
	if ((await transaction(table).first('*')) === undefined) return;
	throw new DatabaseError(`The database to fill is not empty: its table ${table} has rows. Name an empty one.`);
}
