import { setTimeout as wait } from 'node:timers/promises';
import Libsql from 'libsql/promise';
import { codeOf, isLocked, translated } from '../connection/errors.js';
import { areKept } from '../connection/sqlite/PreparedStatements.js';
import { DamagedIndexError } from './DamagedIndexError.js';

/** The parts of libsql's connection that run on threads of their own. Its types name none of their results. */
interface Statement {
	all(bindings: readonly (string | number | null)[]): Promise<unknown[]>;
}

type Value = string | number | null;

/** Prepared statements of one text that are kept while nobody uses them. */
const maxIdle = 8;

/** How long a statement waits for another process, in all. */
const busyMs = 2000;

/**
 * A connection to the index. All of its statements run on a thread of libsql's, also those that write: each of them
 * ends with `returning`, since one without rows would run on the main thread.
 */
export class IndexConnection {
	readonly #database: Libsql;
	/** Prepared statements that are not in use, by their text. */
	readonly #idle = new Map<string, Statement[]>();

	private constructor(path: string) {
		this.#database = new Libsql(path, { timeout: 5 });
	}

	static async open(path: string): Promise<IndexConnection> {
		return named(async () => new IndexConnection(path));
	}

	/** The rows of one statement. Each row is an object by the names of its columns. */
	async all<Row>(sql: string, ...bindings: Value[]): Promise<Row[]> {
		const idle = this.#idle.get(sql) ?? [];
		this.#idle.set(sql, idle);
		let statement: Statement | undefined;
		return named(async () => {
			// One that found the file locked is in progress still, and is run again: beside another one the connection would see no
			// later change. One call at a time has a statement: a second one would bind its values to it while the rows of the first are
			// read, and each would get rows of the other.
			statement ??= idle.pop() ?? ((await this.#database.prepare(sql)) as unknown as Statement);
			const rows = (await statement.all(bindings)) as Row[];
			if (idle.length < maxIdle && areKept(bindings)) idle.push(statement);
			return rows;
		});
	}

	/** Several statements without values and rows. */
	async exec(sql: string): Promise<void> {
		await named(async () => {
			await this.#database.exec(sql);
		});
	}

	/** All that `work` writes, or nothing. There is one such at a time. */
	async transaction<T>(work: () => Promise<T>): Promise<T> {
		await this.exec('begin immediate');
		try {
			const result = await work();
			await this.exec('commit');
			return result;
		} catch (error) {
			await this.exec('rollback').catch(() => {
				// The database has rolled back already, or is gone: the first error says why.
			});
			throw error;
		}
	}

	close(): void {
		this.#database.close();
	}
}

/** Tries again while another process locks the file, and translates errors. */
async function named<T>(work: () => Promise<T>): Promise<T> {
	const deadline = performance.now() + busyMs;
	for (;;) {
		try {
			return await work();
		} catch (error) {
			if (/^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error) ?? ''))
				throw new DamagedIndexError('The search index is damaged.', { cause: error });
			if (!isLocked(error) || performance.now() > deadline) throw translated(error);
			await wait(5 + Math.random() * 20);
		}
	}
}
