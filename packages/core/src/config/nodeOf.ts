import { hostname } from 'node:os';
import type { Config } from './schema.js';

/** The name of this machine among the nodes. */
export function nodeOf({ node }: Pick<Config, 'node'>): string {
	return node === '' ? hostname() : node;
}

/** The name of this node where there may be others: over a database server. Undefined over SQLite. */
export function nodeAmongOthers(config: Pick<Config, 'node' | 'databaseUrl'>): string | undefined {
	return config.databaseUrl.startsWith('sqlite:') ? undefined : nodeOf(config);
}
