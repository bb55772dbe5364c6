import type { Database } from '@stowage/database';
import type { Audit } from '../audit/createAudit.js';
import type { Config } from '../config/schema.js';
import type { EventRelay } from '../events/EventRelay.js';
import { auditedFiles } from '../files/auditedFiles.js';
import { auditedTrash } from '../files/auditedTrash.js';
import { createFiles } from '../files/createFiles.js';
import { createTrash } from '../files/trash.js';
import type { Leases } from '../leases/createLeases.js';
import { auditedLinks } from '../links/auditedLinks.js';
import { createLinks } from '../links/createLinks.js';
import { rebindTrashedLinks } from '../links/rebindTrashedLinks.js';
import type { Log } from '../log.js';
import { createQuotas } from '../quotas/createQuotas.js';
import { FolderFeeds } from '../trees/feeds/FolderFeeds.js';
import type { MountedStorage } from '../trees/MountedStorage.js';
import { Trees } from '../trees/Trees.js';
import { TrashBin } from '../trees/trash/TrashBin.js';

interface Dependencies {
	config: Config;
	database: Database;
	/** Throws until the storage is open. */
	storage: () => MountedStorage;
	audit: Audit;
	relay: EventRelay;
	leases: Leases;
	log: Log;
	now(): number;
	monotonic(): number;
}

/** The files, and everything that follows their changes: links to them, quotas, pages that show them. */
export function createFileServices(dependencies: Dependencies) {
	const { config, database, storage, audit, relay, leases, log, now, monotonic } = dependencies;
	const { users, uploads, publishedNames } = database;
	const links = auditedLinks(createLinks({ links: database.links, storage, leases, log, now, monotonic }), audit);
	const trashBin = new TrashBin({
		store: database.trash,
		storage,
		config,
		onPurged: ({ ownerId, ownerName, size }) =>
			quotas.onPurged({ kind: 'user', id: ownerId, username: ownerName }, size),
		onBrought: (record, from, to) => rebindTrashedLinks(database.links, record, from, to),
		log,
		now,
		monotonic,
	});
	const quotas = createQuotas({ config, users, uploads, storage, trash: trashBin, log, now, monotonic });
	const feeds = new FolderFeeds(storage, log, relay);
	const trees = new Trees({ config, storage, users, quotas, trash: trashBin, feeds });
	const { publicListing, dataDir: temporaryFolder } = config;
	const parts = {
		trees,
		storage,
		feeds,
		watcher: links.watcher,
		trash: trashBin,
		names: publishedNames,
		log,
		temporaryFolder,
		publicListing,
	};
	const files = auditedFiles(createFiles(parts), audit);
	return { links, quotas, feeds, trees, files, trashBin, trash: auditedTrash(createTrash(parts), audit) };
}
