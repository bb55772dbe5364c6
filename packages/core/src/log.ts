import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Lines of JSON on standard error, so that standard output stays free for what a command prints. */
export function createLog(level: string): Log {
	return pino(
		{ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
		pino.destination({ dest: 2, sync: true }),
	);
}
