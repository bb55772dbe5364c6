import type { Providers } from '@stowage/plugin-api';
import { browseDenial, parsePath, uploadDenial } from '@stowage/rules';
import { createAccounts } from '../accounts/accounts.js';
import { auditedAccounts, auditedSecondFactors } from '../accounts/auditedAccounts.js';
import { createSecondFactors } from '../accounts/secondFactors.js';
import { withMemoryFallback } from '../accounts/withMemoryFallback.js';
import { createArchives, defaultArchiveLimits } from '../archives/createArchives.js';
import { visitorOf } from '../config/strangers.js';
import { shareOf } from '../config/workers.js';
import { EventStreams } from '../events/EventStreams.js';
import { createEncryption } from '../events/encryption.js';
import type { SiblingEvents } from '../events/SiblingEvents.js';
import { createWalkQueue } from '../limits/createWalkQueue.js';
import { Probe } from '../limits/Probe.js';
import { createChangeQueue, createListingQueue } from '../limits/turnQueues.js';
import { auditedMembers } from '../members/auditedMembers.js';
import { createMembers } from '../members/createMembers.js';
import { auditedHomeMoves } from '../moving/auditedHomeMoves.js';
import { assertNotMoving, createHomeMoves } from '../moving/createHomeMoves.js';
import { createPasting } from '../pasting/createPasting.js';
import { PermittedTransfers, type TransferSetting } from '../responses/PermittedTransfers.js';
import type { Services } from '../services.js';
import { auditedShares } from '../shares/auditedShares.js';
import { createGuests, type Guests, type Pass } from '../shares/createGuests.js';
import { createShares } from '../shares/createShares.js';
import { createGuestMemory } from '../shares/guestMemory.js';
import { ShareUses } from '../shares/ShareUses.js';
import { createShareCookies } from '../shares/shareCookies.js';
import { createShareStates } from '../shares/shareStates.js';
import { createThumbnails } from '../thumbnails/createThumbnails.js';
import { openThumbnailCache } from '../thumbnails/DiskThumbnailCache.js';
import { createTickets } from '../tickets/createTickets.js';
import { Transfers } from '../tickets/Transfers.js';
import { auditedRoots } from '../trees/roots/auditedRoots.js';
import { RootAdministration } from '../trees/roots/RootAdministration.js';
import type { DiskUses } from '../trees/space/DiskUses.js';
import { availableSpace } from '../trees/space/freeSpace.js';
import type { VersionPaths } from '../trees/trash/versions/VersionPaths.js';
import { Admission } from '../uploads/admission/Admission.js';
import { HourlyLimits } from '../uploads/admission/HourlyLimits.js';
import { UnfinishedLimit } from '../uploads/admission/UnfinishedLimit.js';
import { createUploadSpace } from '../uploads/admission/uploadSpace.js';
import { InFlightUploads } from '../uploads/InFlightUploads.js';
import { createResumableUploads } from '../uploads/resumable/createResumableUploads.js';

type Uploads = Pick<Services, 'admission' | 'uploadLimits' | 'resumableUploads' | 'inFlightUploads'>;

type Made =
	| keyof Uploads
	| 'accounts'
	| 'archives'
	| 'databaseProbe'
	| 'homeMoves'
	| 'members'
	| 'pasting'
	| 'rootAdministration'
	| 'secondFactors'
	| 'shares'
	| 'guests'
	| 'guestMemory'
	| 'shareCookies'
	| 'shareTransfers'
	| 'linkTransfers'
	| 'settingTransfers'
	| 'shareUses'
	| 'streams'
	| 'thumbnails'
	| 'tickets'
	| 'transfers'
	| 'walkQueue'
	| 'listingQueue'
	| 'changeQueue';

interface Dependencies extends Omit<Services, Made> {
	providers: Providers;
	versionPaths: Pick<VersionPaths, 'completeAll'>;
	/** The key that seals what the database keeps. */
	secret: string;
	siblings: SiblingEvents;
	diskUses: DiskUses;
	/** The name of this process, and whether another one has certainly ended. */
	processes: { name: string; hasEnded(name: string): Promise<boolean> };
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** The services over the files, once the plugins are loaded and the storage is open. */
export function createServices({
	providers,
	secret,
	siblings,
	diskUses,
	processes,
	versionPaths,
	monotonic,
	...given
}: Dependencies): Services {
	const { config, log, audit, database, databaseReserve, storage, roots, sessions, files, notifications, jobs, now } =
		given;
	const { users } = database;
	const share = (limit: number) => shareOf(limit, config);
	const limits = withMemoryFallback(database.limits, siblings);
	const secondFactors = auditedSecondFactors(
		createSecondFactors({ store: database.secondFactors, limits, now }),
		audit,
	);
	const accounts = createAccounts({
		users,
		limits,
		config,
		now,
		auth: () => providers.auth.get(config.auth),
		storage,
		renames: database.keyValues('user-renames'),
		trash: given.trashBin,
		secondFactors,
		leases: given.leases,
		assertNotMoving: (user) => assertNotMoving(jobs, user),
	});
	const states = createShareStates({ store: database.shares, config, log, now, monotonic });
	const { links, sharedFolders } = given;
	const shares = createShares({
		...{ store: database.shares, states, config, storage, links: links.tracker, accounts, databaseReserve, now },
		encryption: createEncryption('shares', secret),
	});
	const members = createMembers({
		...{ store: database.members, users, storage, folders: sharedFolders, links: links.tracker, notifications },
		...{ limits: database.limits, databaseReserve, now },
	});
	const shareUses = new ShareUses({ store: database.shareUses, processes, now, log });
	const guests = createGuests({
		...{ store: database.shares, states, config, storage, links: links.tracker, accounts, uses: shareUses },
	});
	const walkQueue = createWalkQueue(share);
	const listingQueue = createListingQueue(share);
	const changeQueue = createChangeQueue(share);
	const archives = createArchives({
		files,
		format: () => providers.archive.find('zip'),
		walks: walkQueue,
		limits: {
			...defaultArchiveLimits,
			get maxEntries() {
				return config.downloads.maxZipEntries;
			},
		},
	});
	const thumbnails = createThumbnails({
		files,
		trees: given.trees,
		storage: () => storage,
		renderers: providers.renderer,
		cache: openThumbnailCache(config, share, log),
		folder: config.dataDir,
		concurrency: config.thumbnails.concurrency,
		share,
		log,
	});
	const tickets = createTickets({
		store: database.tickets,
		rates: database.limits,
		databaseReserve,
		available: () => availableSpace(storage, config.uploads),
		isSessionValid: sessions.isValid,
		now,
	});
	const visitor = visitorOf(config);
	const isPermitted: Record<TransferSetting, () => boolean> = {
		visitors: () => browseDenial(visitor, 'public') === undefined,
		visitorUploads: () => uploadDenial(visitor, { area: 'public', path: parsePath('') }) === undefined,
		externalViewers: () => config.externalViewers,
	};
	const uploads = createUploads({ ...given, diskUses, monotonic, receiver: guests.receiver });
	return {
		...given,
		...uploads,
		accounts: auditedAccounts(accounts, audit),
		secondFactors,
		members: auditedMembers(members, audit),
		shares: auditedShares(shares, audit),
		guests,
		guestMemory: createGuestMemory(),
		monotonic,
		databaseProbe: new Probe(async () => {
			const startedAt = performance.now();
			await database.ping();
			return (performance.now() - startedAt) / 1000;
		}, monotonic),
		shareCookies: createShareCookies(config, secret, now),
		shareTransfers: new PermittedTransfers<Pass>({
			keyOf: ({ share, password }) => `${share} ${password}`,
			isGood: guests.isGood,
		}),
		linkTransfers: new PermittedTransfers<string>({ keyOf: (token) => token, isGood: links.mayFinish }),
		settingTransfers: new PermittedTransfers<TransferSetting>({
			keyOf: (setting) => setting,
			isGood: async (setting) => isPermitted[setting](),
		}),
		shareUses,
		walkQueue,
		listingQueue,
		changeQueue,
		archives,
		thumbnails,
		tickets,
		transfers: new Transfers({ notifications, tickets, onSessionEnd: sessions.subscribe }),
		streams: new EventStreams(share),
		rootAdministration: auditedRoots(new RootAdministration(roots, database, config, log), audit),
		pasting: createPasting(jobs, {
			...{ files, sharedFolders, walkQueue, log, monotonic },
			uploadLimits: uploads.uploadLimits,
		}),
		homeMoves: auditedHomeMoves(
			createHomeMoves({
				jobs,
				jobStore: database.jobs,
				users,
				roots,
				database,
				config,
				trashBin: given.trashBin,
				versionPaths,
				log,
				monotonic,
			}),
			audit,
			accounts,
		),
	};
}

type UploadDependencies = Pick<Guests, 'receiver'> &
	Pick<
		Dependencies,
		| 'bodies'
		| 'config'
		| 'database'
		| 'databaseReserve'
		| 'diskUses'
		| 'files'
		| 'leases'
		| 'log'
		| 'monotonic'
		| 'now'
		| 'sharedFolders'
		| 'storage'
		| 'trashBin'
		| 'trees'
	>;

function createUploads(dependencies: UploadDependencies): Uploads {
	const space = createUploadSpace(dependencies);
	const uploadLimits = new HourlyLimits(dependencies);
	const unfinished = new UnfinishedLimit(dependencies);
	const admission = new Admission({ ...dependencies, limits: uploadLimits, unfinished, space });
	const resumableUploads = createResumableUploads({ ...dependencies, admission, space });
	return { admission, uploadLimits, resumableUploads, inFlightUploads: new InFlightUploads() };
}
