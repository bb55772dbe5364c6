import { setTimeout as wait } from 'node:timers/promises';
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import Libsql from 'libsql';
import { DatabaseError, isLocked } from './errors.js';
import { plainBindings } from './plainValues.js';

/** How long a statement waits for another process to finish its write before the answer is `unavailable`. */
const busyMs = 5000;

/** libsql waits on the main thread, so it may wait for moments only; the rest of `busyMs` is waited between tries. */
const blockingBusyMs = 20;

/** A connection that carries an error in this field is closed by knex instead of being used again. */
type LibsqlConnection = Libsql.Database & { __knex__disposed?: unknown };

interface SqliteQuery {
	sql: string;
	bindings?: unknown[];
	/** The rows, for a statement that yields rows. */
	response?: unknown;
	/** What a statement that yields none has done, in knex's words. */
	context?: { lastID: number | bigint; changes: number };
}

/** knex's SQLite client over libsql, which carries its binary inside its package and has better-sqlite3's interface. */
export class LibsqlClient extends BetterSqlite3Client {
	override _driver(): unknown {
		return Libsql;
	}

	override acquireRawConnection(): Promise<Libsql.Database> {
		const { filename } = this.connectionSettings as { filename: string };
		return retriedWhileLocked(() => openConnection(filename));
	}

	override async destroyRawConnection(connection: LibsqlConnection): Promise<void> {
		try {
			// libsql keeps the log when it closes. Moved into the database, a copy of the one file is a copy of everything.
			connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
		} catch {
			// Another process is busy with it, or the file is damaged: what the log holds is read from there next time.
		}
		connection.close();
	}

	/** A connection that a failed rollback left inside its transaction is not used again. */
	override async validateConnection(connection: Libsql.Database): Promise<boolean> {
		return connection.open && !connection.inTransaction;
	}

	override prepBindings(bindings: unknown): unknown {
		return plainBindings(bindings);
	}

	override async _query(connection: LibsqlConnection, query: SqliteQuery): Promise<SqliteQuery> {
		const statement = await retriedWhileLocked(() => connection.prepare(query.sql));
		const bindings = this._formatBindings(query.bindings);
		try {
			// The very same statement: one that met a lock stays in progress until it is run again, and then no transaction can be committed.
			await retriedWhileLocked(() => {
				if (statement.reader) query.response = statement.all(bindings);
				else query.context = contextOf(statement.run(bindings));
			});
		} catch (error) {
			if (isLocked(error)) connection.__knex__disposed = error;
			throw error;
		}
		return query;
	}

	/** Takes the write lock at once. Of two transactions that read first and then write, SQLite can only refuse one. */
	override transaction(...definition: unknown[]): ReturnType<BetterSqlite3Client['transaction']> {
		const transaction = super.transaction(...definition);
		transaction.begin = (connection) => transaction.query(connection, 'BEGIN IMMEDIATE;');
		return transaction;
	}
}

function contextOf({ lastInsertRowid, changes }: Libsql.RunResult): SqliteQuery['context'] {
	return { lastID: lastInsertRowid, changes };
}

/** Opens the file and makes it as durable as we promise: what is committed survives a power cut. */
function openConnection(path: string): Libsql.Database {
	const connection = new Libsql(path, { timeout: blockingBusyMs });
	try {
		connection.exec('PRAGMA foreign_keys = ON');
		demandSetting(connection, 'PRAGMA journal_mode = WAL', 'PRAGMA journal_mode', 'wal');
		demandSetting(connection, 'PRAGMA synchronous = FULL', 'PRAGMA synchronous', 2);
		// On macOS a plain fsync leaves the bytes in the drive's cache. Elsewhere this does nothing.
		connection.exec('PRAGMA fullfsync = ON');
		return connection;
	} catch (error) {
		connection.close();
		throw error;
	}
}

function demandSetting(connection: Libsql.Database, set: string, ask: string, wanted: string | number): void {
	connection.exec(set);
	const [row] = connection.prepare(ask).all() as Record<string, unknown>[];
	const actual = Object.values(row ?? {})[0];
	if (actual !== wanted) {
		throw new DatabaseError(
			`The database is not safe against a power cut here: ${ask} answers ${actual}, not ${wanted}.`,
		);
	}
}

async function retriedWhileLocked<T>(work: () => T | Promise<T>): Promise<T> {
	const deadline = Date.now() + busyMs;
	for (;;) {
		try {
			return await work();
		} catch (error) {
			if (!isLocked(error) || Date.now() > deadline) throw error;
			// At random, or two who wait for each other would meet again.
			await wait(5 + Math.random() * 20);
		}
	}
}
