import type { Database } from '@stowage/database';
import type { Files, Notifications } from '@stowage/plugin-api';
import type { Accounts } from './accounts/accounts.js';
import type { KnownClients } from './accounts/knownClients.js';
import type { SecondFactors } from './accounts/secondFactors.js';
import type { Sessions } from './accounts/sessions.js';
import type { Archives } from './archives/createArchives.js';
import type { Audit } from './audit/createAudit.js';
import type { Bodies } from './bodies/createBodies.js';
import type { Config } from './config/schema.js';
import type { EventStreams } from './events/EventStreams.js';
import type { Trash } from './files/trash.js';
import type { FileVersions } from './files/versions.js';
import type { Drain } from './http/connections/Drain.js';
import type { JobService } from './jobs/createJobs.js';
import type { Leases } from './leases/createLeases.js';
import type { LiveProcesses } from './leases/LiveProcesses.js';
import type { DatabaseReserve } from './limits/databaseReserve.js';
import type { FairQueue } from './limits/FairQueue.js';
import type { Probe } from './limits/Probe.js';
import type { Links } from './links/createLinks.js';
import type { Log } from './log.js';
import type { Members } from './members/createMembers.js';
import type { MemberChanges } from './members/MemberChanges.js';
import type { SharedFolders } from './members/SharedFolders.js';
import type { HomeMoves } from './moving/createHomeMoves.js';
import type { Pasting } from './pasting/createPasting.js';
import type { Quotas } from './quotas/createQuotas.js';
import type { PermittedTransfers, TransferSetting } from './responses/PermittedTransfers.js';
import type { SearchIndex } from './search/SearchIndex.js';
import type { Guests, Pass } from './shares/createGuests.js';
import type { Shares } from './shares/createShares.js';
import type { GuestMemory } from './shares/guestMemory.js';
import type { ShareUses } from './shares/ShareUses.js';
import type { ShareCookies } from './shares/shareCookies.js';
import type { Thumbnails } from './thumbnails/createThumbnails.js';
import type { Tickets } from './tickets/createTickets.js';
import type { Transfers } from './tickets/Transfers.js';
import type { AuditedRoots } from './trees/roots/auditedRoots.js';
import type { Roots } from './trees/roots/Roots.js';
import type { MountedStorage } from './trees/storage/MountedStorage.js';
import type { Trees } from './trees/Trees.js';
import type { TrashBin } from './trees/trash/TrashBin.js';
import type { Admission } from './uploads/admission/Admission.js';
import type { HourlyLimits } from './uploads/admission/HourlyLimits.js';
import type { InFlightUploads } from './uploads/InFlightUploads.js';
import type { ResumableUploads } from './uploads/resumable/createResumableUploads.js';

/** The services that routes use. */
export interface Services {
	config: Config;
	version: string;
	log: Log;
	drain: Drain;
	audit: Audit;
	bodies: Bodies;
	database: Database;
	/** How many seconds the database took to answer just now. */
	databaseProbe: Probe<number>;
	databaseReserve: DatabaseReserve;
	storage: MountedStorage;
	roots: Roots;
	searchIndex: SearchIndex;
	rootAdministration: AuditedRoots;
	accounts: Accounts;
	secondFactors: SecondFactors;
	sessions: Sessions;
	knownClients: KnownClients;
	files: Files;
	links: Links;
	members: Members;
	sharedFolders: SharedFolders;
	memberChanges: MemberChanges;
	shares: Shares;
	guests: Guests;
	guestMemory: GuestMemory;
	shareCookies: ShareCookies;
	/** What is sent to and received from guests of shares, and what is sent by temporary links, by their tokens. */
	shareTransfers: PermittedTransfers<Pass>;
	linkTransfers: PermittedTransfers<string>;
	/** What is sent or received only while a setting permits it, which a reload of the configuration may change. */
	settingTransfers: PermittedTransfers<TransferSetting>;
	shareUses: ShareUses;
	trash: Trash;
	trashBin: TrashBin;
	versions: FileVersions;
	archives: Archives;
	tickets: Tickets;
	transfers: Transfers;
	/** The queue of walks through folders: searches, and the lists of archives. */
	walkQueue: FairQueue;
	/** The queue of parts of listings. */
	listingQueue: FairQueue;
	/** The queue of changes that are one call each. */
	changeQueue: FairQueue;
	thumbnails: Thumbnails;
	notifications: Notifications;
	jobs: JobService;
	leases: Leases;
	liveProcesses: LiveProcesses;
	pasting: Pasting;
	homeMoves: HomeMoves;
	streams: EventStreams;
	resumableUploads: ResumableUploads;
	inFlightUploads: InFlightUploads;
	/** The time of day, milliseconds since the epoch: for all that is stored. */
	now(): number;
	/** Milliseconds of a monotonic clock: for what a correction of the time of day must not lengthen. */
	monotonic(): number;
	admission: Admission;
	trees: Trees;
	uploadLimits: HourlyLimits;
	quotas: Quotas;
}
