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
	console.error(isFailure(error) ? error.message : error);
	process.exit(1);
}
