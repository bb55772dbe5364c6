import Libsql from 'libsql';
import { isLocked } from '../connection/errors.js';

/** The exclusive right to write the index. The system ends it with the process. */
export interface IndexLock {
	release(): void;
}

/** Takes the lock that this file stands for; undefined while another process has it. Nothing is written to the disk to keep it. */
export function lockIndex(file: string): IndexLock | undefined {
	const connection = new Libsql(file, { timeout: 0 });
	try {
		connection.exec('begin exclusive');
		return { release: () => connection.close() };
	} catch (error) {
		connection.close();
		if (isLocked(error)) return undefined;
		throw error;
	}
}
