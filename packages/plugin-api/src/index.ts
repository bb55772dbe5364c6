export {
	type Area,
	baseName,
	type Entry,
	Failure,
	isFailure,
	joinPath,
	type Owner,
	parentPath,
	parsePath,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
export { z } from 'zod';
export * from './disk/durableFiles.js';
export * from './disk/localFile.js';
export * from './disk/makeFolders.js';
export * from './disk/regularFile.js';
export * from './disk/systemMounts.js';
export * from './limits/forEachConcurrently.js';
export * from './limits/MemoryPool.js';
export * from './limits/Semaphore.js';
export * from './limits/timeLimit.js';
export * from './limits/Yielder.js';
export * from './plugins/afterStart.js';
export * from './plugins/definePlugin.js';
export * from './plugins/idempotencyKey.js';
export * from './plugins/route.js';
export * from './plugins/server.js';
export * from './programs/findProgram.js';
export * from './programs/limitedProgram.js';
export * from './programs/programEnd.js';
export { runAlone } from './programs/runAlone.js';
export { findSandbox, type Sandbox, type SandboxOptions } from './programs/sandbox/findSandbox.js';
export { moduleFiles } from './programs/sandbox/moduleFiles.js';
export { beginMark, type LentDescriptor, type SandboxNeeds } from './programs/sandbox/needs.js';
export * from './providers/archives.js';
export * from './providers/auth.js';
export * from './providers/renderers.js';
export * from './services/files.js';
export * from './services/findById.js';
export * from './services/jobs.js';
export * from './services/notifications.js';
export * from './services/retryWhileLocked.js';
export * from './storage/abilities.js';
export * from './storage/firstBytes.js';
export * from './storage/storage.js';
export * from './stores/accounts/secondFactors.js';
export * from './stores/accounts/sessions.js';
export * from './stores/accounts/users.js';
export * from './stores/coordination/events.js';
export * from './stores/coordination/jobs.js';
export * from './stores/coordination/keyValues.js';
export * from './stores/coordination/leases.js';
export * from './stores/coordination/limits.js';
export * from './stores/coordination/processes.js';
export * from './stores/files/homes.js';
export * from './stores/files/homeUsage.js';
export * from './stores/files/idempotency.js';
export * from './stores/files/links.js';
export * from './stores/files/members.js';
export * from './stores/files/publishedNames.js';
export * from './stores/files/roots.js';
export * from './stores/files/shares.js';
export * from './stores/files/shareUses.js';
export * from './stores/files/tickets.js';
export * from './stores/files/trash.js';
export * from './stores/files/uploads.js';
export * from './stores/files/versions.js';
export * from './stores/Stores.js';
