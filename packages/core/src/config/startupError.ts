import { DatabaseError } from '@stowage/database';
import { ConfigError } from './load.js';

/** Whether only an administrator can mend what stopped the start, so that trying again is of no use. */
export function isStartupMistake(error: unknown): error is Error {
	return error instanceof ConfigError || error instanceof DatabaseError;
}
