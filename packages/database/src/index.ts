export { DatabaseError } from './connection/errors.js';
export { parseDatabaseUrl } from './connection/target.js';
export type { Migration } from './migrations/all.js';
export { type Database, type DatabaseOptions, openDatabase } from './open.js';
export { sessionAbsoluteMs, sessionIdleMs } from './stores/sessions.js';
