import type { Database } from '@stowage/database';
import type { Server, StorageProvider } from '@stowage/plugin-api';
import { anonymousOwner, isFailure, publicRoot } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import { ensureFolder } from './folders.js';

/**
 * Opens the storage of the configuration: the root that the database knows and no other, so that an empty mount point is never taken for it. A new database
 * takes over the root it meets.
 */
export async function openStorage(
	server: Server,
	config: Config,
	database: Database,
	log: Log,
): Promise<StorageProvider> {
	const known = await database.roots.find(config.storage);
	const storage = await server.providers.storage.get(config.storage).open(known);
	try {
		if (known === undefined) {
			await database.roots.set(config.storage, storage.rootId);
			log.info(
				{ storage: config.storage, rootId: storage.rootId },
				'this storage root belongs to this database from now on',
			);
		}
		await ensureTrees(storage, log);
		return storage;
	} catch (error) {
		await storage.close();
		throw error;
	}
}

async function ensureTrees(storage: StorageProvider, log: Log): Promise<void> {
	try {
		await ensureFolder(storage, publicRoot(null));
		await ensureFolder(storage, publicRoot(anonymousOwner));
	} catch (error) {
		if (!isFailure(error)) throw error;
		// A disk that is not there yet is no reason not to start: its calls answer 503 until it is.
		log.warn({ err: error }, 'the storage root is not available');
	}
}
