import { Failure, isFailure } from '@stowage/rules';
import { KnexTimeoutError } from 'knex/lib/util/timeout.js';

/**
 * The database cannot be used as it is: damaged, written by a newer program, unsafe or wrongly named. Trying again does not help, so
 * the server does not start; the message explains to the administrator what is wrong.
 */
export class DatabaseError extends Error {
	override readonly name = 'DatabaseError';
}

/** The file is no database, or parts of it are lost. */
export class DatabaseDamaged extends DatabaseError {}

/** The database is away, or too busy: neither the fault of who asked nor of what they asked about. */
export class DatabaseUnavailable extends Failure {
	constructor(cause: unknown) {
		super('unavailable', 'The database is not available right now.', { cause, retryAfter: 5 });
	}
}

/** The disk of the database is full: as little the fault of who asked, and not the same as a full storage or home. */
export class DatabaseFull extends Failure {
	constructor(cause: unknown) {
		super('storageFull', 'The disk of the database is full.', { cause });
	}
}

/** Whether this is so because the database can't be used for now; whoever reports it may have said a sentence of their own. */
export function isOfDatabase(error: unknown): boolean {
	if (error instanceof DatabaseUnavailable || error instanceof DatabaseFull) return true;
	return error instanceof Error && error.cause !== undefined && isOfDatabase(error.cause);
}

const uniqueViolations = new Set([
	'SQLITE_CONSTRAINT_UNIQUE',
	'SQLITE_CONSTRAINT_PRIMARYKEY',
	'ER_DUP_ENTRY',
	'ER_DUP_ENTRY_WITH_KEY_NAME',
]);
const missingReferences = new Set(['SQLITE_CONSTRAINT_FOREIGNKEY', 'ER_NO_REFERENCED_ROW', 'ER_NO_REFERENCED_ROW_2']);
const fullDisks = new Set(['SQLITE_FULL', 'ER_DISK_FULL', 'ER_RECORD_FILE_FULL']);
// libsql reads an error's code after it has closed the statement: now and then a lock that was not had is `SQLITE_OK`, 'not an error'.
const locked = new Set(['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_OK']);
const deadlocked = new Set([
	'ER_LOCK_DEADLOCK',
	'ER_CHECKREAD', // the row was changed meanwhile, for servers that compare snapshots
]);
const timedOut = new Set(['PROTOCOL_SEQUENCE_TIMEOUT', 'ER_LOCK_WAIT_TIMEOUT', 'ER_QUERY_TIMEOUT']);
const noConnectionLeft = new Set([
	'ER_CON_COUNT_ERROR',
	'ER_TOO_MANY_USER_CONNECTIONS',
	'ER_USER_LIMIT_REACHED', // the limit of one account
]);
const unavailable = new Set([
	...noConnectionLeft,
	'SQLITE_CANTOPEN',
	'SQLITE_IOERR',
	'SQLITE_READONLY',
	'ER_ERROR_DURING_COMMIT', // a Galera node that left its cluster before it knew whether the others have the transaction
	'ER_LOCK_WAIT_TIMEOUT',
	'ER_OPTION_PREVENTS_STATEMENT',
	'ER_OUTOFMEMORY',
	'ER_QUERY_TIMEOUT', // a limit of the server, for MySQL; for MariaDB it is an interrupted statement
	'ER_READ_ONLY_MODE',
	'ECONNREFUSED',
	'ECONNRESET',
	'EPIPE',
	'ETIMEDOUT',
	'EHOSTUNREACH',
	'ENETUNREACH',
	'ENOTFOUND',
	'EAI_AGAIN',
	'ENOENT', // the socket of a server that is not running
	'PROTOCOL_CONNECTION_LOST',
	'PROTOCOL_SEQUENCE_TIMEOUT',
]);

/**
 * What a server says by the standard's codes (SQLSTATE), also where its error is a number that the driver has no name for:
 * the driver knows MySQL's numbers only, and MariaDB has some of its own.
 */
const interruptedState = '70100'; // a killed statement or connection, or a limit of the server
const statementTimeout = 1969; // MariaDB's limit, which is one of these
const deadlockStates = new Set(['40000', '40001']);
const connectionStates = '08';
/** A state of the connection as well, but its statement is too large each time. */
const tooLargeForConnection = 'ER_NET_PACKET_TOO_LARGE';

/** How servers name the system's error in those of files, logs and engines, whatever number these have. */
const noRoomLeft = /\b(errno:?|Errcode:|error) 28\b|No space left on device|Disk quota exceeded/;
/** The state of errors that the standard does not know. The texts of others may have a value of the statement in them. */
const generalState = 'HY000';

/** Translates a driver's error, for both dialects: to a Failure if there is a matching one, else to the error itself. */
export function translated(error: unknown): unknown {
	if (isFailure(error) || error instanceof DatabaseError) return error;
	if (hasCode(error, uniqueViolations)) return new Failure('alreadyExists', 'It exists already.', { cause: error });
	if (hasCode(error, missingReferences)) return new Failure('notFound', 'It is no longer there.', { cause: error });
	if (isOfFullDisk(error)) return new DatabaseFull(error);
	if (isUnavailable(error)) return new DatabaseUnavailable(error);
	return error;
}

export function isUniqueViolation(error: unknown): boolean {
	return hasCode(error, uniqueViolations);
}

/** Whether another process is writing to the file right now. */
export function isLocked(error: unknown): boolean {
	return hasCode(error, locked);
}

/** Whether a statement waited too long: its server or another one is busy with something that excludes it. */
export function isTimeout(error: unknown): boolean {
	return (
		error instanceof KnexTimeoutError || hasCode(error, timedOut) || serverError(error)?.errno === statementTimeout
	);
}

/** Whether the server refused a connection because it has as many as it may have. */
export function hasNoConnectionLeft(error: unknown): boolean {
	return hasCode(error, noConnectionLeft);
}

/** Whether the server, or its system, broke a connection off. */
export function wasReset(error: unknown): boolean {
	return codeOf(error) === 'ECONNRESET';
}

/** Whether the database rolled the transaction back in favour of another one; it may be retried at once. */
export function isDeadlock(error: unknown): boolean {
	return hasCode(error, deadlocked) || deadlockStates.has(serverError(error)?.sqlState ?? '');
}

export function isUnavailable(error: unknown): boolean {
	// mysql2 marks whatever ended a connection as fatal, also where it has no code for it.
	const isFatal = error instanceof Error && 'fatal' in error && error.fatal === true;
	return (
		isFatal ||
		error instanceof KnexTimeoutError ||
		isUnopened(error) ||
		isLocked(error) ||
		isDeadlock(error) ||
		isInterrupted(error) ||
		hasCode(error, unavailable)
	);
}

/** Whether the server, or who runs it, ended the connection or the statement. */
function isInterrupted(error: unknown): boolean {
	const { sqlState = '' } = serverError(error) ?? {};
	if (sqlState === interruptedState) return true;
	return sqlState.startsWith(connectionStates) && codeOf(error) !== tooLargeForConnection;
}

function isOfFullDisk(error: unknown): boolean {
	if (hasCode(error, fullDisks)) return true;
	const server = serverError(error);
	return server?.sqlState === generalState && noRoomLeft.test(server.message);
}

/** The error as a database server has sent it; undefined for errors of the driver, the system and of SQLite. */
function serverError(error: unknown): { errno: number; sqlState: string; message: string } | undefined {
	if (!(error instanceof Error && 'errno' in error && 'sqlState' in error)) return undefined;
	const { errno, sqlState } = error;
	if (typeof errno !== 'number' || typeof sqlState !== 'string') return undefined;
	const text = 'sqlMessage' in error ? error.sqlMessage : undefined;
	return { errno, sqlState, message: typeof text === 'string' ? text : error.message };
}

/**
 * Whether libsql could not open the file, as when it is missing or another folder has taken the place of its own. Such
 * errors have no code.
 */
export function isUnopened(error: unknown): boolean {
	return error instanceof Error && error.message.startsWith('ConnectionFailed(');
}

/** The system's codes for a disk that is away or fails. */
const diskFaults = new Set(['EIO', 'ENODEV', 'ENXIO', 'ESTALE', 'EHOSTDOWN', 'ETIMEDOUT', 'ENOTCONN']);

/** Whether the system reports a disk that is away or fails, which may come back by itself. */
export function isDiskFault(error: unknown): boolean {
	return hasCode(error, diskFaults);
}

function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
	const code = codeOf(error);
	// SQLite refines its codes at the end: SQLITE_IOERR_FSYNC, SQLITE_BUSY_RECOVERY.
	return code !== undefined && (codes.has(code) || codes.has(code.split('_').slice(0, 2).join('_')));
}

/** The driver's code of an error, such as `SQLITE_NOTADB` or `ER_ACCESS_DENIED_ERROR`; `ER_4025` where it has no name for it. */
export function codeOf(error: unknown): string | undefined {
	const server = serverError(error);
	if (server !== undefined && !hasName(error)) return `ER_${server.errno}`;
	if (!hasName(error)) return undefined;
	// libsql does not know all of SQLite's refined codes, whose last byte is the general one.
	const [, refined] = /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(error.code) ?? [];
	return (refined === undefined ? undefined : generalCodes.get(Number(refined) & 0xff)) ?? error.code;
}

function hasName(error: unknown): error is Error & { code: string } {
	return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

/** Names of SQLite's error codes. */
const generalCodes: ReadonlyMap<number, string> = new Map([
	[3, 'SQLITE_PERM'],
	[5, 'SQLITE_BUSY'],
	[6, 'SQLITE_LOCKED'],
	[8, 'SQLITE_READONLY'],
	[10, 'SQLITE_IOERR'],
	[11, 'SQLITE_CORRUPT'],
	[13, 'SQLITE_FULL'],
	[14, 'SQLITE_CANTOPEN'],
	[26, 'SQLITE_NOTADB'],
]);

/** Wraps the store: errors of the database become Failures such as `unavailable` and `alreadyExists`. */
export function guarded<Store extends object>(store: Store): Store {
	const methods = Object.entries(store).map(([name, method]) => [name, guardedMethod(method)]);
	return Object.fromEntries(methods) as Store;
}

function guardedMethod(method: (...values: unknown[]) => Promise<unknown>) {
	return async (...values: unknown[]): Promise<unknown> => {
		try {
			return await method(...values);
		} catch (error) {
			throw translated(error);
		}
	};
}
