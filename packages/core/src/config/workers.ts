import os from 'node:os';
import type { Config } from './schema.js';

/** How many processes of this server are to serve. */
export function workerCount({ workers }: Pick<Config, 'workers'>): number {
	return workers === 'auto' ? os.availableParallelism() : workers;
}

/** What each process may have of a limit that is meant for the whole server, which no process counts: together they never have less. */
export function shareOf(limit: number, config: Pick<Config, 'workers'>): number {
	return Math.ceil(limit / workerCount(config));
}
