import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import Libsql from 'libsql';
import { plainBindings } from '../plainValues.js';
import { retriedWhileLocked } from './retriedWhileLocked.js';

/** Reads wait for a file that another process is just opening or putting right, and for moments only: they run on the main thread. */
const blockingBusyMs = 20;

interface ReadQuery {
	sql: string;
	bindings?: unknown[];
	/** The rows. */
	response?: unknown;
}

/** knex's SQLite client for reads outside of transactions, over a connection that is never written with: in WAL no writer blocks it. */
export class SqliteReader extends BetterSqlite3Client {
	override _driver(): unknown {
		return Libsql;
	}

	override acquireRawConnection(): Promise<Libsql.Database> {
		const { filename } = this.connectionSettings as { filename: string };
		return retriedWhileLocked(() => {
			const connection = new Libsql(filename, { timeout: blockingBusyMs });
			connection.exec('PRAGMA query_only = ON');
			return connection;
		});
	}

	override prepBindings(bindings: unknown): unknown {
		return plainBindings(bindings);
	}

	override async _query(connection: Libsql.Database, query: ReadQuery): Promise<ReadQuery> {
		const bindings = this._formatBindings(query.bindings);
		await retriedWhileLocked(() => {
			query.response = connection.prepare(query.sql).all(bindings);
		});
		return query;
	}
}
