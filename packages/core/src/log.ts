import { fstatSync } from 'node:fs';
import { escapeJson } from '@stowage/rules';
import { type DestinationStream, type Logger, pino } from 'pino';
import { logFields } from './context.js';

export type Log = Logger;

/**
 * Lines of JSON, each with the request or the job that it belongs to: on standard error, so that standard output contains only the output
 * of a command.
 */
export function createLog(level: string, destination: DestinationStream = standardError()): Log {
	// Names of files and browsers reach the terminal of whoever reads the log.
	const hooks = { streamWrite: escapeJson };
	const timestamp = pino.stdTimeFunctions.isoTime;
	return pino({ level, base: undefined, timestamp, mixin: logFields, hooks }, destination);
}

/** Lines that wait for room, in bytes: later ones are lost. */
const waitingBytes = 2 ** 20;

/**
 * Where the lines of a log go: the journal has their priorities beside them. Lines that can't be written, as into a file on a full disk,
 * end no process: they are written with the first one for which there is room.
 */
export function standardError(): DestinationStream {
	const stream = pino.destination({ dest: 2, sync: true, maxLength: waitingBytes });
	// Nobody could be told.
	stream.on('error', () => {});
	// Without the flush by which pino waits, and holds the process up, until a fatal line is written.
	return isJournal(process.env.JOURNAL_STREAM) ? withPriorities(stream) : { write: (line) => void stream.write(line) };
}

/** Whether standard error is the stream that systemd connected to the journal: it may have been redirected since. */
function isJournal(stream: string | undefined): boolean {
	if (stream === undefined) return false;
	const { dev, ino } = fstatSync(2);
	return stream === `${dev}:${ino}`;
}

/** Priorities of syslog by pino's levels. */
const priorities: Readonly<Record<string, number>> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 };

/** Begins each line with its priority, as in sd-daemon(3), so that `journalctl -p warning` finds it. The journal takes it off. */
export function withPriorities(stream: DestinationStream): DestinationStream {
	return {
		write(line) {
			const [, level = ''] = /^\{"level":(\d+)/.exec(line) ?? [];
			stream.write(`<${priorities[level] ?? 6}>${line}`);
		},
	};
}
