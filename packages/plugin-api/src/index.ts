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
export * from './archives.js';
export * from './auth.js';
export * from './files.js';
export * from './findProgram.js';
export * from './jobs.js';
export * from './json.js';
export * from './leases.js';
export * from './limitedProgram.js';
export * from './localFile.js';
export * from './makeFolders.js';
export * from './notifications.js';
export * from './Pace.js';
export * from './parse.js';
export * from './plugin.js';
export * from './renderers.js';
export * from './route.js';
export * from './SharedMemory.js';
export * from './storage.js';
export * from './stores.js';
export * from './watching.js';
