import type { Files } from '@stowage/plugin-api';
import { type ChangeDependencies, sharedChanges } from './sharedChanges.js';
import { sharedReads } from './sharedReads.js';
import { sharedUploads } from './sharedUploads.js';

interface Dependencies extends ChangeDependencies {
	log: { warn(details: object, message: string): void };
}

/**
 * Extends the service to the area of shared folders: each call enters the folder through one gate (`enterFolder`), and
 * is then made in the private area of its owner, which the member sees as far as the folder goes.
 */
export function sharedFiles(files: Files, dependencies: Dependencies): Files {
	return {
		...sharedReads(files, dependencies.folders),
		...sharedChanges(files, dependencies),
		...sharedUploads(files, dependencies),
	};
}
