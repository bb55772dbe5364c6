export { DatabaseError, DatabaseFull, DatabaseUnavailable, isDiskFault, isOfDatabase } from './connection/errors.js';
export { parseDatabaseUrl } from './connection/target.js';
export { type Migration, migrationNames } from './migrations/all.js';
export type { DatabaseCopy } from './migrations/putBack.js';
export type { Database, DatabaseOptions } from './open.js';
export type { DatabaseFindings } from './portable/checkDatabase.js';
export { filledScope } from './portable/filledScope.js';
export type { Row } from './portable/Row.js';
export type { Snapshot } from './portable/readRows.js';
export type { TableRows, Written } from './portable/writeRows.js';
export type { IndexedItem } from './searchIndex/blocks.js';
export { DamagedIndexError } from './searchIndex/DamagedIndexError.js';
export { homeOf } from './searchIndex/homeOf.js';
export type { IndexLock } from './searchIndex/IndexLockFile.js';
export type { BlockQuery, IndexedBlock, IndexedRoot, IndexReader, StaleMark } from './searchIndex/IndexReader.js';
export type { IndexWriter, KnownFolder, Relisted, WaitingMark } from './searchIndex/IndexWriter.js';
export type { SearchIndexFile } from './searchIndex/searchIndexFile.js';
export { sessionAbsoluteMs, sessionIdleMs } from './stores/accounts/sessions.js';

// Each is loaded by its call, with the database's program: who checks an address or a configuration needs none, and a start needs no more
// than to open one.

export const openDatabase: typeof import('./open.js').openDatabase = async (url, options) =>
	(await import('./open.js')).openDatabase(url, options);

export const checkDatabase: typeof import('./portable/checkDatabase.js').checkDatabase = async (url, liveMs) =>
	(await import('./portable/checkDatabase.js')).checkDatabase(url, liveMs);

export const readSnapshot: typeof import('./portable/readRows.js').readSnapshot = async (url, read) =>
	(await import('./portable/readRows.js')).readSnapshot(url, read);

export const fillDatabase: typeof import('./portable/writeRows.js').fillDatabase = async (url, names, batches) =>
	(await import('./portable/writeRows.js')).fillDatabase(url, names, batches);

export const isFilled: typeof import('./portable/writeRows.js').isFilled = async (url, key) =>
	(await import('./portable/writeRows.js')).isFilled(url, key);

export const putBack: typeof import('./migrations/putBack.js').putBack = async (url, copy, now) =>
	(await import('./migrations/putBack.js')).putBack(url, copy, now);

export const searchIndexFile: typeof import('./searchIndex/searchIndexFile.js').searchIndexFile = async (folder) =>
	(await import('./searchIndex/searchIndexFile.js')).searchIndexFile(folder);
