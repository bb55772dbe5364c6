import type { Files } from '@stowage/plugin-api';
import { type ChangeDependencies, sharedChanges } from './sharedChanges.js';
import { sharedReads } from './sharedReads.js';
import { sharedUploads } from './sharedUploads.js';

interface Dependencies extends ChangeDependencies {
	log: { warn(details: object, message: string): void };
}

/**
 * The same calls for the area of shared folders as well: each enters the folder by the one gate (`enterFolder`), and
 * is made there in the private area of its owner, which the member sees as far as the folder goes.
 */
export function sharedFiles(files: Files, dependencies: Dependencies): Files {
	return {
		...sharedReads(files, dependencies.folders),
		...sharedChanges(files, dependencies),
		...sharedUploads(files, dependencies),
	};
}
