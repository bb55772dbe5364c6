import Mysql2Client from 'knex/lib/dialects/mysql2/index.js';
import mysql2 from 'mysql2';
import { codeOf } from '../errors.js';
import { plainBindings } from '../plainValues.js';

/** How long a statement may take before its server counts as dead. A server that lost its power does not even close the connection. */
const statementMs = 10_000;

/** knex's MySQL client. */
export class MysqlClient extends Mysql2Client {
	override _driver(): unknown {
		return mysql2;
	}

	override prepBindings(bindings: unknown): unknown {
		return plainBindings(bindings);
	}

	override async _query(connection: { destroy(): void }, query: { options?: object }): Promise<unknown> {
		query.options = { timeout: statementMs, ...query.options };
		try {
			return await super._query(connection, query);
		} catch (error) {
			// The driver puts the whole statement with its values into the error, which is logged.
			if (error instanceof Error && 'sql' in error) delete error.sql;
			// A late answer would be taken for the answer to the next statement.
			if (codeOf(error) === 'PROTOCOL_SEQUENCE_TIMEOUT') connection.destroy();
			throw error;
		}
	}
}

/** The same for long work, such as a migration over a large table. */
export class PatientMysqlClient extends MysqlClient {
	override _query(connection: { destroy(): void }, query: { options?: object }): Promise<unknown> {
		query.options = { timeout: undefined, ...query.options };
		return super._query(connection, query);
	}
}
