import type Libsql from 'libsql';
import { isLocked } from '../connection/errors.js';
import { openFile } from '../connection/sqlite/sqliteFile.js';

/** The exclusive right to write the index. The system ends it with the process. */
export interface IndexLock {
	release(): void;
}

/**
 * Asks for the lock that a file stands for, over one connection until it is got: libsql keeps some memory of each that
 * was ever opened.
 */
export class IndexLockFile {
	#waiting: { identity: string; connection: Libsql.Database } | undefined;

	constructor(readonly file: string) {}

	/**
	 * Undefined while another process has it. Nothing is written to the disk to keep it. Another `identity` is another
	 * file of that name.
	 */
	take(identity: string): IndexLock | undefined {
		if (this.#waiting?.identity !== identity) {
			this.#waiting?.connection.close();
			this.#waiting = { identity, connection: openFile(this.file, { timeout: 0 }) };
		}
		const { connection } = this.#waiting;
		try {
			connection.exec('begin exclusive');
		} catch (error) {
			if (isLocked(error)) return undefined;
			this.#waiting = undefined;
			connection.close();
			throw error;
		}
		this.#waiting = undefined;
		return { release: () => connection.close() };
	}
}
