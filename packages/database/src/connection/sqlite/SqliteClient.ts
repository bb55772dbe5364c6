import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import SyncLibsql from 'libsql';
import Libsql from 'libsql/promise';
import { DatabaseError, isLocked } from '../errors.js';
import { plainBindings } from '../plainValues.js';
import type { ConnectionTurns } from './ConnectionTurns.js';
import { PreparedStatements } from './PreparedStatements.js';
import { namingFullDisk } from './sqliteFile.js';

/**
 * libsql has as many threads as the machine has cores, and one that waits for a lock blocks the commit that would free it: the rest of
 * the time is waited between attempts.
 */
const blockingBusyMs = 20;

/** Reads wait for a file that another process is just opening or putting right, and for moments only: they run on the main thread. */
const readerBusyMs = 20;

/** How long a statement waits for another process before the answer is `unavailable`. */
const busyMs = 5000;
const leastAttempts = 20;

/** The parts of libsql's connection that run on threads of their own. Its types name none of their results. */
interface Connection {
	/** A connection with an error in this field is closed by knex instead of being used again. */
	__knex__disposed?: unknown;
	readonly inTransaction: boolean;
	readonly statements: PreparedStatements<Statement>;
	exec(sql: string): Promise<void>;
	prepare(sql: string): Promise<Statement>;
	close(): void;
}

interface Statement {
	/** Whether it yields rows. */
	readonly reader: boolean;
	all(bindings: unknown[]): Promise<unknown[]>;
	/** Runs on the calling thread. */
	run(bindings: unknown[]): { lastInsertRowid: number | bigint; changes: number };
}

interface SqliteQuery {
	sql: string;
	bindings?: unknown[];
	/** The rows, for a statement that yields rows. */
	response?: unknown;
	/** The result of a statement without rows, in knex's words. */
	context?: { lastID: number | bigint; changes: number };
}

/**
 * knex's SQLite client over libsql, which contains its binary inside its package. Its one connection writes: what waits
 * for another process or for the disk, the beginning and the commit of each transaction, does so on a thread of
 * libsql's. Clients have it in turns. Plain reads go to `reads` and wait for no write.
 */
export class SqliteClient extends BetterSqlite3Client {
	/** Set before the first query. Undefined in a transaction: it reads its own writes. */
	reads: Knex.Client | undefined;

	/** For several reads as of one moment, each time over a connection of their own: others read what is there by then. As `reads`. */
	moments: Knex | undefined;

	/** Set before the first query. Undefined in a transaction, which has its turn. */
	turns: ConnectionTurns | undefined;

	override _driver(): unknown {
		return Libsql;
	}

	override acquireRawConnection(): Promise<Connection> {
		const { filename } = this.connectionSettings as { filename: string };
		return namingFullDisk(filename, () => retriedWhileLocked(() => openConnection(filename)));
	}

	override async acquireConnection(): Promise<Connection> {
		await this.turns?.take();
		try {
			return (await super.acquireConnection()) as Connection;
		} catch (error) {
			this.turns?.release();
			throw error;
		}
	}

	override async releaseConnection(connection: Connection): Promise<void> {
		try {
			await super.releaseConnection(connection);
		} finally {
			this.turns?.release();
		}
	}

	override async destroyRawConnection(connection: Connection): Promise<void> {
		try {
			// libsql keeps the log when it closes. Moved into the database, a copy of the one file is a copy of everything.
			await connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
		} catch {
			// Another process is using it, or the file is damaged: the log is read next time.
		}
		connection.statements.clear();
		connection.close();
	}

	/** A connection that a failed rollback left inside its transaction is not used again. */
	override async validateConnection(connection: Connection): Promise<boolean> {
		return !connection.inTransaction;
	}

	override async destroy(callback: () => void): Promise<void> {
		// Before the log is moved into the database, which waits for readers.
		await this.reads?.destroy(() => {});
		await this.moments?.destroy();
		await super.destroy(callback);
	}

	override runner(builder: object): unknown {
		return this.reads !== undefined && isRead(builder) ? this.reads.runner(builder) : super.runner(builder);
	}

	override prepBindings(bindings: unknown): unknown {
		return plainBindings(bindings);
	}

	override async _query(connection: Connection, query: SqliteQuery): Promise<SqliteQuery> {
		const { filename } = this.connectionSettings as { filename: string };
		const bindings = this._formatBindings(query.bindings);
		await namingFullDisk(filename, () => {
			if (/^(begin|commit|rollback|savepoint|release)\b/i.test(query.sql)) return execPatiently(connection, query.sql);
			const isWithin = connection.inTransaction || /^pragma\b/i.test(query.sql);
			return isWithin ? run(connection, query, bindings) : runAlone(connection, query, bindings);
		});
		return query;
	}

	/** Takes the write lock at once. Of two transactions that read first and then write, SQLite has to refuse one. */
	override transaction(...definition: unknown[]): ReturnType<BetterSqlite3Client['transaction']> {
		const transaction = super.transaction(...definition);
		transaction.begin = (connection) => transaction.query(connection, 'BEGIN IMMEDIATE;');
		return transaction;
	}
}

type ReadConnection = SyncLibsql.Database & {
	/** Set by knex on a connection that is to be closed, as in `Connection`. */
	__knex__disposed?: unknown;
	readonly statements: PreparedStatements<SyncLibsql.Statement>;
};

interface ReadQuery {
	sql: string;
	bindings?: unknown[];
	/** The rows. */
	response?: unknown;
}

/** knex's SQLite client for reads, over connections that are never written with: in WAL no writer blocks them. */
export class SqliteReader extends BetterSqlite3Client {
	override _driver(): unknown {
		return SyncLibsql;
	}

	override acquireRawConnection(): Promise<ReadConnection> {
		const { filename } = this.connectionSettings as { filename: string };
		const open = () => {
			const connection = new SyncLibsql(filename, { timeout: readerBusyMs });
			connection.exec('PRAGMA query_only = ON');
			return Object.assign(connection, { statements: new PreparedStatements<SyncLibsql.Statement>() });
		};
		return namingFullDisk(filename, () => retriedWhileLocked(open));
	}

	override async destroyRawConnection(connection: ReadConnection): Promise<void> {
		connection.statements.clear();
		connection.close();
	}

	override prepBindings(bindings: unknown): unknown {
		return plainBindings(bindings);
	}

	/** As that of `SqliteClient`. */
	override async validateConnection(connection: ReadConnection): Promise<boolean> {
		return !connection.inTransaction;
	}

	override async _query(connection: ReadConnection, query: ReadQuery): Promise<ReadQuery> {
		const { filename } = this.connectionSettings as { filename: string };
		const bindings = this._formatBindings(query.bindings);
		await namingFullDisk(filename, async () => {
			// It takes no lock.
			if (/^(begin|commit|rollback)\b/i.test(query.sql)) connection.exec(query.sql);
			else await read(connection, query, bindings);
		});
		return query;
	}
}

/**
 * A statement that found the file locked is in progress still. If another one were run in its place, the connection would see no later
 * change for as long as the first one exists: the same one is run again, and a connection that gave up is not used any more.
 */
async function read(connection: ReadConnection, query: ReadQuery, bindings: unknown[]): Promise<void> {
	const { sql } = query;
	const statement = connection.statements.take(sql) ?? (await retriedWhileLocked(() => connection.prepare(sql)));
	try {
		query.response = await retriedWhileLocked(() => statement.all(bindings));
	} catch (error) {
		connection.__knex__disposed = error;
		throw error;
	}
	connection.statements.giveBack(sql, statement, bindings);
}

/** Runs a statement in a transaction of its own: by itself it would wait for its lock and its sync on the main thread. */
async function runAlone(connection: Connection, query: SqliteQuery, bindings: unknown[]): Promise<void> {
	try {
		await execPatiently(connection, 'BEGIN IMMEDIATE');
		await run(connection, query, bindings);
		await connection.exec('COMMIT');
	} catch (error) {
		// The connection is closed in any case, which rolls back too, and the first error is the cause.
		if (connection.inTransaction) await connection.exec('ROLLBACK').catch(() => {});
		// The statement may be in progress still, and would keep later ones from being committed.
		connection.__knex__disposed = error;
		throw error;
	}
}

function execPatiently(connection: Connection, sql: string): Promise<void> {
	return retriedWhileLocked(() => connection.exec(sql));
}

async function run(connection: Connection, query: SqliteQuery, bindings: unknown[]): Promise<void> {
	const { sql } = query;
	const statement = connection.statements.take(sql) ?? (await connection.prepare(sql));
	if (statement.reader) {
		query.response = await statement.all(bindings);
	} else {
		const { lastInsertRowid, changes } = statement.run(bindings);
		query.context = { lastID: lastInsertRowid, changes };
	}
	connection.statements.giveBack(sql, statement, bindings);
}

/** Whether a statement only reads, by its first word. */
function isRead(builder: object): boolean {
	const { _method: method, sql } = builder as { _method?: string; sql?: unknown };
	return typeof sql === 'string' ? /^select\b/i.test(sql) : ['select', 'first', 'pluck'].includes(method ?? '');
}

/** Opens the file with the durability that we promise: committed data survives a power cut. */
async function openConnection(path: string): Promise<Connection> {
	const connection = Object.assign(new Libsql(path, { timeout: blockingBusyMs }), {
		statements: new PreparedStatements(),
	}) as Libsql & Connection;
	try {
		await connection.exec('PRAGMA foreign_keys = ON');
		await assertSetting(connection, 'PRAGMA journal_mode = WAL', 'PRAGMA journal_mode', 'wal');
		await assertSetting(connection, 'PRAGMA synchronous = FULL', 'PRAGMA synchronous', 2);
		// On macOS a plain fsync leaves the bytes in the drive's cache. Elsewhere this does nothing.
		await connection.exec('PRAGMA fullfsync = ON');
		return connection;
	} catch (error) {
		connection.close();
		throw error;
	}
}

async function assertSetting(connection: Connection, set: string, ask: string, wanted: string | number): Promise<void> {
	await connection.exec(set);
	const [row] = (await (await connection.prepare(ask)).all([])) as Record<string, unknown>[];
	const actual = Object.values(row ?? {})[0];
	if (actual !== wanted) {
		throw new DatabaseError(
			`The database is not safe against a power cut here: ${ask} answers ${actual}, not ${wanted}.`,
		);
	}
}

/**
 * Tries again while another process locks the file, without blocking other requests between the attempts. A process that had no processor
 * time for seconds has not waited yet: a number of attempts belongs to it.
 */
async function retriedWhileLocked<T>(work: () => T | Promise<T>): Promise<T> {
	const deadline = performance.now() + busyMs;
	for (let attempts = 1; ; attempts++) {
		try {
			return await work();
		} catch (error) {
			if (!isLocked(error) || (attempts >= leastAttempts && performance.now() > deadline)) throw error;
			// At random, or two who wait for each other would meet again.
			await wait(5 + Math.random() * 20);
		}
	}
}
