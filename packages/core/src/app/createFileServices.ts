import type { Database } from '@stowage/database';
import type { Notifications } from '@stowage/plugin-api';
import { anonymousOwner, isFailure } from '@stowage/rules';
import type { Audit } from '../audit/createAudit.js';
import type { Config } from '../config/schema.js';
import type { EventRelay } from '../events/relay/EventRelay.js';
import { auditedFiles } from '../files/audited/auditedFiles.js';
import { auditedTrash } from '../files/audited/auditedTrash.js';
import { auditedVersions } from '../files/audited/auditedVersions.js';
import { whoseFields } from '../files/audited/recordPurge.js';
import { createFiles } from '../files/createFiles.js';
import { followVersions } from '../files/followVersions.js';
import { sharedTrash } from '../files/shared/sharedTrash.js';
import { sharedVersions } from '../files/shared/sharedVersions.js';
import { createTrash } from '../files/trash.js';
import { createFileVersions } from '../files/versions.js';
import type { Leases } from '../leases/createLeases.js';
import type { ProcessIdentity } from '../leases/processIdentity.js';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import { auditedLinks } from '../links/auditedLinks.js';
import { createLinks } from '../links/createLinks.js';
import { rebindTrashedLinks } from '../links/rebindTrashedLinks.js';
import type { Log } from '../log.js';
import { MemberChanges } from '../members/MemberChanges.js';
import { memberAudit } from '../members/memberAudit.js';
import { SharedFolders } from '../members/SharedFolders.js';
import { createQuotas } from '../quotas/createQuotas.js';
import type { SearchIndex } from '../search/SearchIndex.js';
import { FolderFeeds } from '../trees/feeds/FolderFeeds.js';
import { DiskUses } from '../trees/space/DiskUses.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import { Trees } from '../trees/Trees.js';
import { TrashBin } from '../trees/trash/TrashBin.js';
import type { TrashOwner, TrashParts } from '../trees/trash/trashParts.js';
import { rebindTrashedVersions } from '../trees/trash/versions/rebindVersions.js';
import { Versions } from '../trees/trash/versions/Versions.js';

interface Dependencies {
	config: Config;
	database: Database;
	/** Throws until the storage is open. */
	storage: () => MountedStorage;
	searchIndex: SearchIndex;
	audit: Audit;
	relay: EventRelay;
	notifications: Pick<Notifications, 'publish'>;
	leases: Leases;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom' | 'optional'>;
	identity: ProcessIdentity;
	/** Whether other processes may serve over the same database. */
	mayHaveOthers(): boolean;
	log: Log;
	now(): number;
	monotonic(): number;
}

/** The files, and everything that follows their changes: links to them, quotas, pages that show them. */
export function createFileServices(dependencies: Dependencies) {
	const { config, database, storage, audit, relay, leases, identity, log, now, monotonic } = dependencies;
	const { users, uploads, publishedNames } = database;
	const links = auditedLinks(
		createLinks({
			...{ links: database.links, storage, leases, log, now, monotonic },
			databaseReserve: dependencies.databaseReserve,
		}),
		audit,
	);
	/** The name of whom something in the trash belongs to; undefined where another account has it, or that can't be read. */
	const accountOf = async ({ ownerId, ownerName }: TrashOwner): Promise<string | undefined> => {
		if (ownerId === anonymousOwner) return undefined;
		try {
			const user = await users.get(ownerId);
			if (user !== undefined) return user.username;
			return (await users.find(ownerName)) === undefined ? ownerName : undefined;
		} catch (error) {
			if (!isFailure(error)) throw error;
			return undefined;
		}
	};
	const trashParts: TrashParts = {
		store: database.trash,
		versions: database.versions,
		inVain: database.keyValues('trash-in-vain'),
		...{ moves: database.keyValues('version-moves'), leases },
		creators: dependencies.databaseReserve.optional(database.keyValues('file-creators')),
		users,
		storage,
		config,
		databaseReserve: dependencies.databaseReserve,
		onChanged: (userId) => dependencies.notifications.publish({ userId }, { kind: 'trash' }),
		onPurged({ ownerId, size }) {
			// What was visitors' counts for them only while it is not in the trash.
			if (ownerId !== anonymousOwner) quotas.onPurged(ownerId, size);
		},
		async onEnded(kind, entries, reason, owner, member) {
			const action = kind === 'item' ? 'purgeTrash' : 'purgeVersions';
			const whose = owner && (await whoseFields(owner, { accountOf }));
			const detail = member === undefined ? reason : `${reason}, by ${member}`;
			audit.record({ action, entries, detail, ...whose, isConsequence: true }, { outcome: 'ok' });
		},
		async onMovedAcross(record, from, to) {
			await rebindTrashedLinks(database.links, record, from, to);
			await rebindTrashedVersions(database.versions, record, from, to);
		},
		completeMoves: (ownerId) => versionBin.paths.complete(ownerId),
		plannedMoves: (ownerId) => versionBin.paths.planned(ownerId),
		onReplaced: (file) => links.tracker.replaced(file),
		log,
		now,
		monotonic,
	};
	const trashBin = new TrashBin(trashParts);
	const versionBin = new Versions(trashParts, trashBin);
	const quotas = createQuotas({
		...{ config, users, uploads, storage, trash: trashBin, log, now, monotonic },
		isShared: dependencies.mayHaveOthers,
		shared: { store: database.homeUsage, leases, identity, log, monotonic },
	});
	const feeds = new FolderFeeds(storage, log, relay);
	const rootOf = async (username: string) => (await storage().homes.mountOf(username)).name;
	const sharedFolders = new SharedFolders({ store: database.members, storage, rootOf });
	const diskUses = new DiskUses({ dataDir: config.dataDir, identity, mayHaveOthers: dependencies.mayHaveOthers, log });
	const trees = new Trees({
		...{ config, storage, users, quotas, trash: trashBin.eviction, diskUses, feeds },
		memberRights: sharedFolders,
	});
	const { publicListing, dataDir: temporaryFolder } = config;
	const parts = {
		trees,
		storage,
		feeds,
		tracker: followVersions(links.tracker, versionBin),
		trash: trashBin,
		versions: versionBin,
		index: dependencies.searchIndex,
		names: publishedNames,
		log,
		temporaryFolder,
		publicListing,
	};
	const memberChanges = new MemberChanges({ store: database.members, now, log });
	const naming = memberAudit(audit, sharedFolders, memberChanges);
	const files = auditedFiles(createFiles(parts, sharedFolders), naming);
	const names = {
		accountOf,
		rootName: (rootId: string) =>
			storage()
				.mounts()
				.find((mount) => mount.storage.rootId === rootId)?.name,
	};
	const trash = auditedTrash(sharedTrash(createTrash(parts), parts, sharedFolders), audit, names);
	const versions = auditedVersions(sharedVersions(createFileVersions(parts), sharedFolders), naming, names);
	return {
		...{ links, quotas, feeds, diskUses, trees, files, sharedFolders, memberChanges },
		...{ trashBin, trash, versions, versionPaths: versionBin.paths },
	};
}
