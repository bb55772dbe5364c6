import { addedRoots } from './unitFolders.js';

/**
 * Root's way to ask the database: this process belongs to the owner of the data folder. The address comes by the channel, since it may
 * contain a password.
 */
process.once('message', (databaseUrl: string) => {
	addedRoots(databaseUrl)
		.then(
			(roots) => ({ roots }),
			(error: unknown) => ({ fault: error instanceof Error ? error.message : String(error) }),
		)
		.then((answer) => process.send?.(answer, () => process.disconnect()));
});
