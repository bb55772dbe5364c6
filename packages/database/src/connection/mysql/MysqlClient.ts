import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import Mysql2Client from 'knex/lib/dialects/mysql2/index.js';
import mysql2, { type ConnectionOptions } from 'mysql2';
import { hasNoConnectionLeft, isDeadlock, wasReset } from '../errors.js';
import { plainBindings } from '../plainValues.js';
import { mayRepeat, pauseAfter } from '../transact.js';

/** How long a statement may take before its server counts as dead. A server that lost its power does not even close the connection. */
const statementSeconds = 10;

/**
 * How long the server lets a statement of this client wait or run: less, so that the server has ended it before it is given up here.
 * A server does not notice that the other end of a connection has gone while a statement waits for a lock, so all that were given up
 * would wait on there, fill the server with connections, and take effect after all once the lock is free. The first counts for each
 * wait for a lock.
 */
export const serverLimits = { lockWaitSeconds: 8, statementSeconds: 9 };

/** How long it may take to establish a connection. */
const connectSeconds = 5;

/**
 * For how long a connection is requested again while the server has no room or no time for it. Whoever waits gets the
 * first one that is free here.
 */
const fullServerMs = 5_000;

interface MysqlConnection {
	destroy(): void;
	/** Set by knex for as long as a transaction has the connection. */
	__knexTxId?: string;
}

/** knex's MySQL client. */
export class MysqlClient extends Mysql2Client {
	/** How long a statement may take; undefined without a limit. */
	get limitSeconds(): number | undefined {
		return statementSeconds;
	}

	override _driver(): unknown {
		const createConnection = (settings: ConnectionOptions) => {
			const connection = mysql2.createConnection(settings);
			const stop = afterSeconds(connectSeconds, () => {
				(connection as unknown as { stream: Socket }).stream.destroy(noAnswer('ETIMEDOUT'));
			});
			connection.once('connect', stop).once('error', stop);
			return connection;
		};
		return { createConnection };
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
				const isForNow = hasNoConnectionLeft(error) || wasReset(error);
				if (!isForNow || performance.now() > deadline) throw error;
				// At random, or all processes that lack one would ask together.
				await wait(50 + Math.random() * 100);
			}
		}
	}

	override async _query(connection: MysqlConnection, query: object): Promise<unknown> {
		for (let attempt = 1; ; attempt++) {
			try {
				return await inTime(connection, this.limitSeconds, super._query(connection, query));
			} catch (error) {
				// The driver puts the whole statement with its values into the error, which is logged.
				if (error instanceof Error && 'sql' in error) delete error.sql;
				// A transaction is gone as a whole and repeated by `transact`.
				if (connection.__knexTxId !== undefined || !isDeadlock(error) || !mayRepeat(attempt)) throw error;
				await pauseAfter(attempt);
			}
		}
	}
}

/** A client for long work, such as a migration over a large table. */
export class PatientMysqlClient extends MysqlClient {
	override get limitSeconds(): undefined {
		return undefined;
	}

	override async _query(connection: MysqlConnection, query: object): Promise<unknown> {
		const { beforeStatement } = this.config as { beforeStatement?: () => Promise<void> };
		await beforeStatement?.();
		return super._query(connection, query);
	}
}

/** Ends the connection where its server does not answer in time. */
async function inTime<T>(connection: MysqlConnection, seconds: number | undefined, answer: Promise<T>): Promise<T> {
	if (seconds === undefined) return answer;
	let stop = () => {};
	const late = new Promise<never>((_, reject) => {
		stop = afterSeconds(seconds, () => {
			// A late answer would be taken for the answer to the next statement.
			connection.destroy();
			reject(noAnswer('PROTOCOL_SEQUENCE_TIMEOUT'));
		});
	});
	try {
		return await Promise.race([answer, late]);
	} finally {
		stop();
	}
}

/**
 * Calls `then` after so many seconds, between which this process reads what has arrived: one that stood still itself, or has
 * hardly a processor, takes no server for dead whose answer is there. Returns what ends the wait.
 */
function afterSeconds(seconds: number, then: () => void): () => void {
	let left = seconds;
	const step = () => {
		left--;
		if (left <= 0) then();
		else timer = setTimeout(step, 1000);
	};
	let timer = setTimeout(step, 1000);
	return () => clearTimeout(timer);
}

/** The driver's error for a server that does not answer. */
function noAnswer(code: 'ETIMEDOUT' | 'PROTOCOL_SEQUENCE_TIMEOUT'): Error {
	return Object.assign(new Error('The database server did not answer in time.'), { code });
}
