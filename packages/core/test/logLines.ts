import { pino } from 'pino';
import type { Log } from '../src/log.js';

/** A log that collects its lines. */
export function logLines(): { log: Log; lines: string[] } {
	const lines: string[] = [];
	return { log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }), lines };
}
