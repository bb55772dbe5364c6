import { type Config, createLog, type Log } from '@stowage/core';
import type { Command } from 'commander';
import { plainLog } from '../terminal/plainLog.js';

/** The log of a command that works without a server: sentences, unless the lines of a server are asked for by a flag. */
export function commandLog(command: Command, { log: { level } }: Pick<Config, 'log'>): Log {
	if (command.getOptionValueSource('logLevel') === 'cli') return createLog(level);
	// What is below a warning is about a server's run, and interests those only who ask for it.
	return createLog(level === 'error' ? level : 'warn', plainLog);
}
