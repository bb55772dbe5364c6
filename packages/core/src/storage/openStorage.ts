import { anonymousOwner, isFailure, parsePath, publicRoot } from '@stowage/rules';
import type { Log } from '../log.js';
import { ensureFolder } from './folders.js';
import { MountedStorage } from './MountedStorage.js';
import type { Roots } from './Roots.js';

/** All storage roots as one, with the folders that everything else lies in. */
export async function openStorage(roots: Roots, log: Log): Promise<MountedStorage> {
	const storage = new MountedStorage(roots);
	for (const mount of roots.all()) {
		try {
			await ensureFolder(mount.storage, parsePath('users'));
			if (mount !== roots.default) continue;
			await ensureFolder(storage, publicRoot(null));
			await ensureFolder(storage, publicRoot(anonymousOwner));
		} catch (error) {
			if (!isFailure(error)) throw error;
			// A disk that is not there yet is no reason not to start: its calls answer 503 until it is.
			log.warn({ err: error, root: mount.name }, 'the storage root is not available');
		}
	}
	return storage;
}
