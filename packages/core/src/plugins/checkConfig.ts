import { parseDatabaseUrl } from '@stowage/database';
import type { Config } from '../config/schema.js';
import { findPlugins } from './loadPlugins.js';

/** Looks at all that can be wrong before anything is opened: the database's address, the plugins and their options. Throws what the start would throw. */
export async function checkConfig(config: Config): Promise<void> {
	parseDatabaseUrl(config.databaseUrl);
	await findPlugins(config);
}
