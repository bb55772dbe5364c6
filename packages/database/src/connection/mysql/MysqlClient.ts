import { setTimeout as wait } from 'node:timers/promises';
import Mysql2Client from 'knex/lib/dialects/mysql2/index.js';
import mysql2 from 'mysql2';
import { codeOf, hasNoConnectionLeft, isDeadlock } from '../errors.js';
import { plainBindings } from '../plainValues.js';
import { mayRepeat, pauseAfter } from '../transact.js';

/** How long a statement may take before its server counts as dead. A server that lost its power does not even close the connection. */
const statementMs = 10_000;

/** For how long a connection is asked for again that the server has no room for. Whoever waits gets the first one that is free here. */
const fullServerMs = 5_000;

interface MysqlConnection {
	destroy(): void;
	/** Set by knex for as long as a transaction has the connection. */
	__knexTxId?: string;
}

/** knex's MySQL client. */
export class MysqlClient extends Mysql2Client {
	override _driver(): unknown {
		return mysql2;
	}

	override prepBindings(bindings: unknown): unknown {
		return plainBindings(bindings);
	}

	override async acquireRawConnection(): Promise<unknown> {
		const deadline = performance.now() + fullServerMs;
		for (;;) {
			try {
				return await super.acquireRawConnection();
			} catch (error) {
				if (!hasNoConnectionLeft(error) || performance.now() > deadline) throw error;
				// At random, or all processes that lack one would ask together.
				await wait(50 + Math.random() * 100);
			}
		}
	}

	override async _query(connection: MysqlConnection, query: { options?: object }): Promise<unknown> {
		query.options = { timeout: statementMs, ...query.options };
		for (let attempt = 1; ; attempt++) {
			try {
				return await super._query(connection, query);
			} catch (error) {
				// The driver puts the whole statement with its values into the error, which is logged.
				if (error instanceof Error && 'sql' in error) delete error.sql;
				// A late answer would be taken for the answer to the next statement.
				if (codeOf(error) === 'PROTOCOL_SEQUENCE_TIMEOUT') connection.destroy();
				// A transaction is gone as a whole and repeated by `transact`.
				if (connection.__knexTxId !== undefined || !isDeadlock(error) || !mayRepeat(attempt)) throw error;
				await pauseAfter(attempt);
			}
		}
	}
}

/** The same for long work, such as a migration over a large table. */
export class PatientMysqlClient extends MysqlClient {
	override async _query(connection: MysqlConnection, query: { options?: object }): Promise<unknown> {
		query.options = { timeout: undefined, ...query.options };
		const { beforeStatement } = this.config as { beforeStatement?: () => Promise<void> };
		await beforeStatement?.();
		return super._query(connection, query);
	}
}
