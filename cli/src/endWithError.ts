import { isStartupMistake } from '@stowage/core';
import { isFailure } from '@stowage/rules';

/** EX_CONFIG of sysexits.h: a supervisor need not try again before somebody changed something. */
const exitConfig = 78;

/** Says in one sentence what was wrong and ends the process; a stack is shown only for a bug. */
export function endWithError(error: unknown): never {
	if (isStartupMistake(error)) {
		console.error(error.message);
		process.exit(exitConfig);
	}
	if (isListenFault(error)) {
		const reason = error.code === 'EADDRINUSE' ? 'is already in use' : `can't be used (${error.code})`;
		console.error(`The address ${error.address}${error.port === undefined ? '' : `:${error.port}`} ${reason}.`);
	} else {
		console.error(isFailure(error) ? error.message : error);
	}
	process.exit(1);
}

/** What Node throws when it can't listen. */
function isListenFault(error: unknown): error is Error & { code: string; address: string; port?: number } {
	return error instanceof Error && 'syscall' in error && error.syscall === 'listen' && 'address' in error;
}
