import type { Administrator } from './audit/createAudit.js';
import type { Config } from './config/schema.js';
import type { App, AppOptions } from './createApp.js';
import type { Log } from './log.js';
import type { CommandServices } from './openServices.js';

export {
	checkDatabase,
	fillDatabase,
	filledScope,
	isFilled,
	migrationNames,
	openDatabase,
	putBack,
	type Row,
	readSnapshot,
	type Snapshot,
	type TableRows,
	type Written,
} from '@stowage/database';
export {
	findProgram,
	findSandbox,
	hasInspection,
	hasLeftovers,
	listMounts,
	runAlone,
	type Sandbox,
	type TrashRecord,
	type TrashSelection,
	type UnusableItem,
	type UnusableReason,
	unescapeOctal,
} from '@stowage/plugin-api';
export type { Accounts } from './accounts/accounts.js';
export type { FilesAction } from './accounts/removeUser.js';
export type { SessionInfo } from './accounts/sessions.js';
export { auditFiles, auditFolder } from './audit/auditFolder.js';
export { type AuditRecord, accountFields, auditActions } from './audit/auditLine.js';
export type { Administrator } from './audit/createAudit.js';
export { readAudit } from './audit/readAudit.js';
export { recordCommand } from './audit/recordCommand.js';
export { type Step, walkPath } from './config/access/walkPath.js';
export {
	linkOfOthersIn,
	type Objection,
	undefinedIfGone,
	whyOthersMayAdd,
	whyOthersMayReplace,
	whyOthersMayReplaceOrMake,
	whyOthersMayWrite,
	whyOthersOwn,
} from './config/access/whyOthersMayWrite.js';
export { makeDataDir, processesFolder } from './config/dataDir.js';
export { durationNames, flagOf, settingNames, variableOf } from './config/leaves.js';
export {
	ConfigError,
	type ConfigSources,
	isStartupMistake,
	loadConfig,
	readConfigAt,
	readConfigBytes,
} from './config/load.js';
export { nodeOf } from './config/nodeOf.js';
export type { Reloaded } from './config/reload.js';
export { type Config, durationText, parseByteSize, parseDuration } from './config/schema.js';
export { agreeOnSecret, readKey, readOrMakeSecret } from './config/secret.js';
export { withoutDatabaseUrls, withoutPassword, withoutSecrets } from './config/secrets.js';
export { strangersMay } from './config/strangers.js';
export { workerCount } from './config/workers.js';
export type { App, AppOptions } from './createApp.js';
export type { SiblingListeners, SiblingMessage, Siblings } from './events/siblings.js';
export type { ConnectionSource } from './http/connections/accepting.js';
export { endFailedRequest } from './http/connections/endFailedRequest.js';
export { freeSocket, openSocket, socketPathOf } from './http/connections/unixSocket.js';
export { createPeers, limitAddress, type Peers, peersOf, siteKey } from './http/requests/proxy.js';
export { jobDetail } from './jobs/jobDetail.js';
export { assertUnserved, servingHere } from './leases/assertUnserved.js';
export { byDoubt, findServing, forgottenMs, liveMs } from './leases/LiveProcesses.js';
export { clockFaults, differingSettings, maxNodeClockMs } from './leases/nodeFaults.js';
export { identifyProcess } from './leases/processIdentity.js';
export { inTime } from './limits/inTime.js';
export type { ListedLink } from './links/createLinks.js';
export { type FileHash, hashFiles } from './links/hashFiles.js';
export { linksOf } from './links/linksOf.js';
export { RestoredFiles } from './links/RestoredFiles.js';
export { type KnownLink, relink } from './links/relink.js';
export { createLog, type Log, standardError } from './log.js';
export { type Family, sumFamilies } from './metrics/exposition.js';
export { serveMetrics } from './metrics/serveMetrics.js';
export { homeMoveName } from './moving/homeMoveKind.js';
export { checkConfig } from './plugins/loadPlugins.js';
export type { Services } from './services.js';
export type { ListedShare } from './shares/createShares.js';
export { shellCommand, shellWord } from './shellCommand.js';
export { checkWatch } from './trees/feeds/checkWatch.js';
export { moreWatches } from './trees/feeds/FolderFeeds.js';
export { assertFirstApart } from './trees/roots/assertApart.js';
export { assertUsable } from './trees/roots/assertUsable.js';
export { serverFolders } from './trees/roots/reservedFolders.js';
export type { RootState } from './trees/roots/rootStates.js';
export type { PurgedOfOwner } from './trees/trash/purging/TrashPurge.js';
export { assignTrash, findOwnersByName, recoverTrash, unknownTrash } from './trees/trash/recording/recoverTrash.js';
export { unrecordedOn } from './trees/trash/recording/UnrecordedItems.js';
export { unrecordedFolder } from './trees/trash/trashPaths.js';
export { removeVisitorFile, type VisitorFile, visitorFiles } from './trees/visitorFiles.js';
export type { UnfinishedUpload } from './uploads/resumable/createResumableUploads.js';

/**
 * Builds the server with its database, storage and plugins. Errors of the configuration or a plugin are thrown here, before it
 * listens. Imported by this call, so that the help of a command does not wait for the server's code.
 */
export async function createApp(config: Config, options?: AppOptions): Promise<App> {
	const server = await import('./createApp.js');
	return server.createApp(config, options);
}

/** Opens the services for a command, which serves nothing. */
export async function openCommandServices(
	config: Config,
	given: { log: Log; administrator?: Administrator },
): Promise<CommandServices> {
	const opening = await import('./openServices.js');
	return opening.openCommandServices(config, given);
}
