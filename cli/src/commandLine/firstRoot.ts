import path from 'node:path';
import { assertFirstApart, type Config, ConfigError, inTime, serverFolders } from '@stowage/core';
import { Failure, isFailure } from '@stowage/rules';

/** The folder of the first root, which the configuration has. Empty where another storage than that of local files has it. */
export function firstLocation({ dataDir, plugins, storage }: Config): string {
	if (storage !== 'local') return '';
	const { root = 'files' } = plugins.get('@stowage/storage-local') ?? {};
	return typeof root === 'string' ? path.resolve(dataDir, root) : '';
}

/** For how long a disk is waited for: one that hangs never answers. */
const answerMs = 5000;

/**
 * Throws ConfigError where the first root would serve files of the server, and `unavailable` where its disk does not answer. What other
 * roots there are only the database says.
 */
export async function checkFirstRoot(config: Config): Promise<void> {
	const location = firstLocation(config);
	const message = `The first storage root, ${location}, can't be examined: there was no answer within ${answerMs / 1000} s. Its disk may be away.`;
	try {
		const comparison = assertFirstApart(location, [], serverFolders(config));
		await inTime(comparison, answerMs, new Failure('unavailable', message));
	} catch (error) {
		if (!isFailure(error, 'invalid')) throw error;
		throw new ConfigError(`The plugin @stowage/storage-local was given a wrong option: root: ${error.message}`);
	}
}
