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
	} else if (isUnknownHost(error)) {
		console.error(`The address ${error.hostname} is not known (${error.code}).`);
	} else {
		console.error(isFailure(error) ? error.message : error);
	}
	process.exit(1);
}

/** What Node throws when it can't listen. */
function isListenFault(error: unknown): error is Error & { code: string; address: string; port?: number } {
	return error instanceof Error && 'syscall' in error && error.syscall === 'listen' && 'address' in error;
}

/** What Node throws when the host to listen on is a name that stands for no address. */
function isUnknownHost(error: unknown): error is Error & { code: string; hostname: string } {
	return error instanceof Error && 'syscall' in error && error.syscall === 'getaddrinfo' && 'hostname' in error;
}
