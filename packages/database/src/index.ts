export { DatabaseError } from './connection/errors.js';
export { parseDatabaseUrl } from './connection/target.js';
export { type Migration, migrationNames } from './migrations/all.js';
export { type Database, type DatabaseOptions, openDatabase } from './open.js';
export type { Row } from './portable/Row.js';
export { RowDigest } from './portable/RowDigest.js';
export { readSnapshot, type Snapshot } from './portable/readRows.js';
export { fillDatabase, type TableRows, type Written } from './portable/writeRows.js';
export { sessionAbsoluteMs, sessionIdleMs } from './stores/sessions.js';
