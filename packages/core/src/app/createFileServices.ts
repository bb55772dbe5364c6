import type { Database } from '@stowage/database';
import type { Audit } from '../audit/createAudit.js';
import type { Config } from '../config/schema.js';
import type { EventRelay } from '../events/EventRelay.js';
import { auditedFiles } from '../files/auditedFiles.js';
import { createFiles } from '../files/createFiles.js';
import type { Leases } from '../leases/createLeases.js';
import { auditedLinks } from '../links/auditedLinks.js';
import { createLinks } from '../links/createLinks.js';
import type { Log } from '../log.js';
import { createQuotas } from '../quotas/createQuotas.js';
import { FolderFeeds } from '../trees/feeds/FolderFeeds.js';
import type { MountedStorage } from '../trees/MountedStorage.js';
import { Trees } from '../trees/Trees.js';

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
	const quotas = createQuotas({ config, users, uploads, storage, log, now, monotonic });
	const feeds = new FolderFeeds(storage, log, relay);
	const trees = new Trees({ config, storage, users, quotas, feeds });
	const { publicListing, dataDir: temporaryFolder } = config;
	const parts = {
		trees,
		storage,
		feeds,
		watcher: links.watcher,
		names: publishedNames,
		log,
		temporaryFolder,
		publicListing,
	};
	return { links, quotas, feeds, trees, files: auditedFiles(createFiles(parts), audit) };
}
