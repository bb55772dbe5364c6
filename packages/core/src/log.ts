import { type DestinationStream, type Logger, pino } from 'pino';
import { logFields } from './context.js';

export type Log = Logger;

/** Lines of JSON, each with the request or the job that it belongs to: on standard error, so that standard output stays free for what a command prints. */
export function createLog(level: string, destination: DestinationStream = standardError()): Log {
	return pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime, mixin: logFields }, destination);
}

function standardError(): DestinationStream {
	return pino.destination({ dest: 2, sync: true });
}
