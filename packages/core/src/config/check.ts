import { parseDatabaseUrl } from '@stowage/database';
import { findPlugins } from '../loadPlugins.js';
import type { Config } from './schema.js';

/** Looks at all that can be wrong before anything is opened: the database's address, the plugins and their options. Throws what the start would throw. */
export async function checkConfig(config: Config): Promise<void> {
	parseDatabaseUrl(config.databaseUrl);
	await findPlugins(config);
}
