import type { Knex } from 'knex';
import { addAccounts } from './0001-accounts.js';
import { addSmallRows } from './0002-small-rows.js';
import { addUploads } from './0003-uploads.js';
import { addLinks } from './0004-links.js';
import { addTickets } from './0005-tickets.js';
import { addQuotas } from './0006-quotas.js';
import { addJobs } from './0007-jobs.js';
import { addSessionClients } from './0008-session-clients.js';
import { addRoots } from './0009-roots.js';
import { addLeases } from './0010-leases.js';
import { addPublishing } from './0011-publishing.js';
import { addEvents } from './0012-events.js';
import { addCredentials } from './0013-credentials.js';
import { addHomeMoves } from './0014-home-moves.js';
import { addJobQueues } from './0015-job-queues.js';
import { addOrderedJobs } from './0016-ordered-jobs.js';
import { addLinkIndexes } from './0017-link-indexes.js';
import { addJobInterruptions } from './0018-job-interruptions.js';
import { addAccountFacts } from './0019-account-facts.js';
import { addUploadStarts } from './0020-upload-starts.js';
import { renameSmallRows } from './0021-key-values.js';
import { addTrash } from './0022-trash.js';
import { addVersions } from './0023-versions.js';
import { addUploadConflicts } from './0024-upload-conflicts.js';
import { addShares } from './0025-shares.js';
import { addShareDownloads } from './0026-share-downloads.js';
import { addReceivedUploads } from './0027-received-uploads.js';
import { addVersionPaths } from './0027-version-paths.js';
import { indexSharePasses } from './0028-share-passes.js';
import { addMembers } from './0029-members.js';
import { addUploadPayers } from './0030-upload-payers.js';
import { addUploadFolders } from './0031-upload-folders.js';
import { addShareReceipts } from './0032-share-receipts.js';
import { addHomeUsage } from './0033-home-usage.js';
import { addMemberChanges } from './0034-member-changes.js';
import { addNodes } from './0035-nodes.js';
import { foldersWithMembers, indexFoldersWithMembers } from './0036-member-index.js';
import { addProcessAbilities } from './0037-process-abilities.js';
import { addUserTurns } from './0038-user-turns.js';
import { addBoundedReads, boundedReads } from './0039-bounded-reads.js';
import { indexTrashKinds, trashKinds } from './0040-trash-kinds.js';
import { addPassedTrials } from './0041-passed-trials.js';
import { addVersionWriters } from './0042-version-writers.js';
import { addJobNetworks, jobNetworks } from './0043-job-networks.js';
import type { LargeIndex } from './largeIndexes.js';

/** One step of the tables. Once released it never changes: a later step corrects it. */
export interface Migration {
	name: string;
	/**
	 * Runs in a transaction on SQLite. MySQL commits each statement on its own, so there an interrupted step is run again from its
	 * beginning: it must accept what exists already, as `createTable` does.
	 */
	up(knex: Knex): Promise<void>;
	/**
	 * Programs that do not know this step work with its result as before: it adds tables, or columns with a default,
	 * that they need not fill. They go on and start again. From 0033 on a step also has no statement that reads or
	 * changes a row of a table that may be large: in a cluster all nodes would wait for it. @default false
	 */
	olderMayRun?: true;
	/** The indexes that it adds to such tables by `addIndexes`, which leaves them to each node of a cluster. */
	indexes?: readonly LargeIndex[];
}

/** All steps in the order in which they were released. */
export const allMigrations: readonly Migration[] = [
	{ name: '0001-accounts', up: addAccounts },
	{ name: '0002-small-rows', up: addSmallRows },
	{ name: '0003-uploads', up: addUploads },
	{ name: '0004-links', up: addLinks },
	{ name: '0005-tickets', up: addTickets },
	{ name: '0006-quotas', up: addQuotas },
	{ name: '0007-jobs', up: addJobs },
	{ name: '0008-session-clients', up: addSessionClients },
	{ name: '0009-roots', up: addRoots },
	{ name: '0010-leases', up: addLeases },
	{ name: '0011-publishing', up: addPublishing },
	{ name: '0012-events', up: addEvents },
	{ name: '0013-credentials', up: addCredentials },
	{ name: '0014-home-moves', up: addHomeMoves },
	{ name: '0015-job-queues', up: addJobQueues },
	{ name: '0016-ordered-jobs', up: addOrderedJobs },
	{ name: '0017-link-indexes', up: addLinkIndexes },
	{ name: '0018-job-interruptions', up: addJobInterruptions },
	{ name: '0019-account-facts', up: addAccountFacts },
	{ name: '0020-upload-starts', up: addUploadStarts },
	{ name: '0021-key-values', up: renameSmallRows },
	{ name: '0022-trash', up: addTrash },
	{ name: '0023-versions', up: addVersions },
	{ name: '0024-upload-conflicts', up: addUploadConflicts },
	{ name: '0025-shares', up: addShares },
	{ name: '0026-share-downloads', up: addShareDownloads },
	{ name: '0027-received-uploads', up: addReceivedUploads },
	{ name: '0027-version-paths', up: addVersionPaths },
	{ name: '0028-share-passes', up: indexSharePasses },
	{ name: '0029-members', up: addMembers },
	{ name: '0030-upload-payers', up: addUploadPayers },
	{ name: '0031-upload-folders', up: addUploadFolders },
	{ name: '0032-share-receipts', up: addShareReceipts },
	{ name: '0033-home-usage', up: addHomeUsage, olderMayRun: true },
	{ name: '0034-member-changes', up: addMemberChanges, olderMayRun: true },
	{ name: '0035-nodes', up: addNodes, olderMayRun: true },
	{ name: '0036-member-index', up: indexFoldersWithMembers, indexes: [foldersWithMembers], olderMayRun: true },
	{ name: '0037-process-abilities', up: addProcessAbilities, olderMayRun: true },
	{ name: '0038-user-turns', up: addUserTurns, olderMayRun: true },
	{ name: '0039-bounded-reads', up: addBoundedReads, indexes: boundedReads, olderMayRun: true },
	{ name: '0040-trash-kinds', up: indexTrashKinds, indexes: [trashKinds], olderMayRun: true },
	{ name: '0041-passed-trials', up: addPassedTrials, olderMayRun: true },
	{ name: '0042-version-writers', up: addVersionWriters, olderMayRun: true },
	{ name: '0043-job-networks', up: addJobNetworks, indexes: jobNetworks, olderMayRun: true },
];

export const migrationNames: readonly string[] = allMigrations.map(({ name }) => name);
