/** knex ships its dialects as classes to extend, but without types; and its error alone, which loads nothing else. */
declare module 'knex/lib/dialects/better-sqlite3/index.js' {
	import { Knex } from 'knex';

	export default class BetterSqlite3Client extends Knex.Client {
		_driver(): unknown;
		_query(connection: unknown, query: unknown): Promise<unknown>;
		_formatBindings(bindings: unknown[] | undefined): unknown[];
		runner(builder: object): unknown;
		acquireConnection(): Promise<unknown>;
		releaseConnection(connection: unknown): Promise<void>;
		destroy(callback: () => void): Promise<void>;
		transaction(...definition: unknown[]): Knex.Transaction & SqliteTransaction;
	}

	interface SqliteTransaction {
		begin(connection: unknown): Promise<unknown>;
		query(connection: unknown, sql: string): Promise<unknown>;
	}
}

declare module 'knex/lib/dialects/mysql2/index.js' {
	import { Knex } from 'knex';

	export default class Mysql2Client extends Knex.Client {
		_driver(): unknown;
		_query(connection: unknown, query: unknown): Promise<unknown>;
	}
}

declare module 'knex/lib/util/timeout.js' {
	export class KnexTimeoutError extends Error {}
}
