export { DatabaseError } from './errors.js';
export type { Migration } from './migrations.js';
export { type Database, type DatabaseOptions, openDatabase } from './open.js';
export { sessionAbsoluteMs, sessionIdleMs } from './sessions.js';
export { parseDatabaseUrl } from './target.js';
