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
import type { JobService } from './jobs/createJobs.js';
import type { Leases } from './leases/createLeases.js';
import type { DatabaseReserve } from './limits/databaseReserve.js';
import type { FairQueue } from './limits/FairQueue.js';
import type { Links } from './links/createLinks.js';
import type { Log } from './log.js';
import type { HomeMoves } from './moving/createHomeMoves.js';
import type { Pasting } from './pasting/createPasting.js';
import type { Quotas } from './quotas/createQuotas.js';
import type { Thumbnails } from './thumbnails/createThumbnails.js';
import type { Tickets } from './tickets/createTickets.js';
import type { Transfers } from './tickets/Transfers.js';
import type { MountedStorage } from './trees/MountedStorage.js';
import type { AuditedRoots } from './trees/roots/auditedRoots.js';
import type { Roots } from './trees/roots/Roots.js';
import type { InFlightUploads } from './uploads/InFlightUploads.js';
import type { UploadLimits } from './uploads/limits/uploadLimits.js';
import type { UploadSpace } from './uploads/limits/uploadSpace.js';
import type { ResumableUploads } from './uploads/resumable/createResumableUploads.js';

/** The services that routes use. */
export interface Services {
	config: Config;
	version: string;
	log: Log;
	audit: Audit;
	bodies: Bodies;
	database: Database;
	databaseReserve: DatabaseReserve;
	storage: MountedStorage;
	roots: Roots;
	rootAdministration: AuditedRoots;
	accounts: Accounts;
	secondFactors: SecondFactors;
	sessions: Sessions;
	knownClients: KnownClients;
	files: Files;
	links: Links;
	archives: Archives;
	tickets: Tickets;
	transfers: Transfers;
	/** The queue of walks through folders: searches, and the lists of archives. */
	walkQueue: FairQueue;
	thumbnails: Thumbnails;
	notifications: Notifications;
	jobs: JobService;
	leases: Leases;
	pasting: Pasting;
	homeMoves: HomeMoves;
	streams: EventStreams;
	resumableUploads: ResumableUploads;
	inFlightUploads: InFlightUploads;
	/** The time of day, milliseconds since the epoch: for all that is stored. */
	now(): number;
	uploadSpace: UploadSpace;
	uploadLimits: UploadLimits;
	quotas: Quotas;
}
