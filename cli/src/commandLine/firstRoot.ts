import path from 'node:path';
import { assertFirstApart, type Config, ConfigError, serverFolders } from '@stowage/core';
import { isFailure } from '@stowage/rules';

/** The folder of the first root, which the configuration has. Empty where another storage than that of local files has it. */
export function firstLocation({ dataDir, plugins, storage }: Config): string {
	if (storage !== 'local') return '';
	const { root = 'files' } = plugins.get('@stowage/storage-local') ?? {};
	return typeof root === 'string' ? path.resolve(dataDir, root) : '';
}

/** Throws ConfigError where the first root would serve files of the server. What other roots there are only the database says. */
export async function checkFirstRoot(config: Config): Promise<void> {
	try {
		await assertFirstApart(firstLocation(config), [], serverFolders(config));
	} catch (error) {
		if (!isFailure(error, 'invalid')) throw error;
		throw new ConfigError(`The plugin @stowage/storage-local was given a wrong option: root: ${error.message}`);
	}
}
