import { isStartupMistake } from '@stowage/core';
import { isFailure } from '@stowage/rules';

/** EX_CONFIG of sysexits.h: a supervisor need not try again before the configuration was changed. */
const exitConfig = 78;

/** Thrown by a command that has printed its error already. */
export class ExitCode extends Error {
	constructor(readonly code: number) {
		super(`The command ended with ${code}.`);
	}
}

/** The message of an error, in one sentence, and the exit code; a stack is shown only for a bug. */
export function explain(error: unknown): { message: unknown; code: number } {
	if (error instanceof ExitCode) return { message: undefined, code: error.code };
	if (isStartupMistake(error)) return { message: error.message, code: exitConfig };
	if (isFailure(error)) return { message: error.message, code: 1 };
	if (isListenFault(error)) {
		const reason = error.code === 'EADDRINUSE' ? 'is already in use' : `can't be used (${error.code})`;
		const port = error.port === undefined ? '' : `:${error.port}`;
		return { message: `The address ${error.address}${port} ${reason}.`, code: 1 };
	}
	if (isUnknownHost(error)) return { message: `The address ${error.hostname} is not known (${error.code}).`, code: 1 };
	return { message: error, code: 1 };
}

/** The errors of Node when it can't listen. */
function isListenFault(error: unknown): error is Error & { code: string; address: string; port?: number } {
	return error instanceof Error && 'syscall' in error && error.syscall === 'listen' && 'address' in error;
}

/** The errors of Node when the host name to listen on can't be resolved. */
function isUnknownHost(error: unknown): error is Error & { code: string; hostname: string } {
	return error instanceof Error && 'syscall' in error && error.syscall === 'getaddrinfo' && 'hostname' in error;
}
