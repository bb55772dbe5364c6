import {
	accessSync,
	chmodSync,
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	mkdirSync,
	openSync,
	readSync,
	realpathSync,
	statfsSync,
	statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '@stowage/rules';
import Libsql from 'libsql';
import { codeOf, DatabaseDamaged, DatabaseError, isDiskFault, isUnopened } from '../errors.js';

/**
 * Creates the file and its folder if they are missing, readable by no other user, since they contain secrets. Throws DatabaseError where
 * that can't be, and `unavailable` where their disk fails.
 */
export function prepareFile(path: string, typeOf = fileSystemOf): void {
	try {
		makeFolders(dirname(path));
		assertLocal(path, typeOf(dirname(path)));
		// Made before SQLite opens it: SQLite would take the umask's mode, and gives its -wal and -shm the mode of this file.
		makeFile(path);
		assertRegularFiles(path);
		for (const file of [path, `${path}-wal`, `${path}-shm`]) closeToOthers(file);
	} catch (cause) {
		if (cause instanceof DatabaseError) throw cause;
		if (isDiskFault(cause)) throw unavailableFile(path, cause);
		const code = codeOf(cause);
		const isDenied = code === 'EACCES' || code === 'EPERM';
		const remedy = isDenied ? `. Run this as the server's user, or correct the owner of the file (chown -h).` : '';
		throw new DatabaseError(`The database file cannot be used: ${(cause as Error).message}${remedy}`, { cause });
	}
}

/** NFS, SMB (three generations), Ceph, AFS and OCFS2, by the number that statfs gives. */
const networkTypes = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x00c36400, 0x5346414f, 0x7461636f]);

const fileSystemOf = (folder: string) => statfsSync(folder).type;

/**
 * Locks and shared memory, which keep two processes apart, are known to one machine of a network file system only: the
 * database would be damaged.
 */
function assertLocal(path: string, type: number): void {
	if (!networkTypes.has(type)) return;
	throw new DatabaseError(
		`The SQLite database ${path} lies on a network file system, where two machines would damage it. Set databaseUrl to a file on a disk of this machine, or to a MariaDB.`,
	);
}

/** Throws DatabaseError if there is no such file, or this user may not use it. Creates none. */
export function assertUsable(path: string): void {
	try {
		assertRegularFiles(path);
		accessSync(path, constants.R_OK | constants.W_OK);
	} catch (cause) {
		const code = codeOf(cause);
		if (code === 'ENOENT' || code === 'ENOTDIR') throw new DatabaseError(`There is no database: ${path}`, { cause });
		// Files on a read-only disk can be read.
		if (code === 'EROFS') return;
		if (code !== 'EACCES' && code !== 'EPERM') throw cause;
		const message = `This user may not use the database ${path}: run the command as the server's user, or as root.`;
		throw new DatabaseError(message, { cause });
	}
}

/**
 * Throws DatabaseError unless the database, and each file that SQLite keeps beside it, is a regular file: SQLite would wait for ever at a
 * named pipe. A file beside it must be no link either, and this user must have access to it: SQLite would only say that it can't open the
 * database.
 */
export function assertRegularFiles(path: string): void {
	// SQLite names the files beside a database after the target of a link to it.
	// The system's own: the other one fails with EINVAL where a link is exchanged for a file meanwhile.
	const file = realpathSync.native(path);
	for (const each of ['', '-journal', '-wal', '-shm'].map((ending) => `${file}${ending}`)) {
		const found = lstatSync(each, { throwIfNoEntry: false });
		if (found === undefined) continue;
		if (!found.isFile()) {
			const what = each === file ? 'The database' : 'A file of the database';
			const is = found.isFIFO() ? 'a named pipe' : found.isSymbolicLink() ? 'a link' : 'no file';
			throw new DatabaseError(`${what} is ${is}: ${each}`);
		}
		if (each !== file) assertMayUse(each);
	}
}

/** Root may have opened the database with another program, such as sqlite3, and have left these files behind as its own. */
function assertMayUse(file: string): void {
	try {
		accessSync(file, constants.R_OK | constants.W_OK);
	} catch (cause) {
		const code = codeOf(cause);
		// Another process has closed the database meanwhile; files on a read-only disk can be read.
		if (code === 'ENOENT' || code === 'EROFS') return;
		if (isDiskFault(cause)) throw cause;
		const remedy = `Run this as the server's user, or correct the owner of the file (chown -h).`;
		throw new DatabaseError(`A file of the database cannot be used (${code}): ${file}. ${remedy}`, { cause });
	}
}

/** A connection to the file. Throws DatabaseError where it can't be opened. */
export function openFile(file: string, options: Libsql.Options): Libsql.Database {
	try {
		return new Libsql(file, options);
	} catch (error) {
		throw namedFile(error, file);
	}
}

/** The error with the file's name, if the administrator has to correct something, or the file can't be used now. */
export function namedFile(error: unknown, path: string): unknown {
	if (isUnopened(error)) {
		const message = `The database file cannot be used: ${path} can't be opened. Its folder may be away, of somebody else, or another one than it was.`;
		return new DatabaseError(message, { cause: error });
	}
	const code = codeOf(error);
	const isDamaged = code === 'SQLITE_NOTADB' || code?.startsWith('SQLITE_CORRUPT');
	if (isDamaged) return new DatabaseDamaged(`The database is damaged, or is no database: ${path}`, { cause: error });
	if (!/^SQLITE_(CANTOPEN|IOERR|READONLY|PERM)/.test(code ?? '')) return error;
	return unavailableFile(path, error);
}

/** How long a damaged database is read for a fault of its disk: what lies in its place may have no end. */
const mostReadMs = 10_000;

/**
 * The error, or `unavailable` in place of damage where the file can't be read: SQLite takes the EIO of a disk for damage. Nothing else in
 * this process may have the file open, since closing it drops all locks that this process has on it. Of a file that is no database the
 * beginning is read, which is all that SQLite reads of it.
 */
export function namedDiskFault(error: unknown, path: string, limitMs = mostReadMs): unknown {
	if (!(error instanceof DatabaseDamaged)) return error;
	try {
		readAll(path, codeOf(error.cause) === 'SQLITE_NOTADB' ? 0 : limitMs);
	} catch (cause) {
		if (isDiskFault(cause)) return unavailableFile(path, cause);
	}
	return error;
}

/** Reads a file to its end, or what comes first of it until the time has passed. */
function readAll(path: string, limitMs: number): void {
	const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
	const descriptor = openSync(realpathSync.native(path), flags);
	try {
		// Something else may lie there by now.
		if (!fstatSync(descriptor).isFile()) return;
		const deadline = performance.now() + limitMs;
		const part = Buffer.alloc(1024 * 1024);
		while (readSync(descriptor, part) > 0 && performance.now() < deadline);
	} finally {
		closeSync(descriptor);
	}
}

function unavailableFile(path: string, cause: unknown): Failure {
	const message = `The database is not available right now (${codeOf(cause)}): ${path}, or a file that lies beside it, can't be used.`;
	return new Failure('unavailable', message, { cause, retryAfter: 5 });
}

/** What SQLite needs beside the database to begin with. */
const minFreeBytes = 64 * 1024;

/**
 * Runs work on the file. SQLite says of some files that it can't make or extend them, and not that there is no room:
 * where the disk is full, the error says so.
 */
export async function namingFullDisk<T>(path: string, work: () => T | Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		if (!/^SQLITE_(CANTOPEN|IOERR)/.test(codeOf(error) ?? '') || !isFull(dirname(path))) throw error;
		throw Object.assign(new Error('The disk is full.', { cause: error }), { code: 'SQLITE_FULL' });
	}
}

function isFull(folder: string): boolean {
	try {
		const { blocks, bavail, bsize, files, ffree } = statfsSync(folder);
		// Where the file system doesn't know, these are zeros.
		return (blocks > 0 && bavail * bsize < minFreeBytes) || (files > 0 && ffree === 0);
	} catch {
		return false;
	}
}

/**
 * An existing file is never opened and closed: the system would drop all locks that this process has on it, also those of other
 * connections.
 */
function makeFile(path: string): void {
	try {
		// Over no link: one that leads nowhere would create a file elsewhere.
		if (!statSync(path, { throwIfNoEntry: false })?.isFile()) closeSync(openSync(path, 'wx', 0o600));
	} catch (error) {
		// Another process was first.
		if (codeOf(error) !== 'EEXIST') throw error;
	}
	if (!statSync(path).isFile()) throw new Error(`${path} is no file`);
	accessSync(path, constants.R_OK | constants.W_OK);
}

/** Linux's O_PATH: such a descriptor reads nothing, and closing it drops no locks. */
const pathOnly = 0o10000000;

/** Takes an existing file from all but its owner. What a link leads to is not changed. */
function closeToOthers(file: string): void {
	// Elsewhere nothing can be changed by such a descriptor; the file was created for its owner alone.
	if (process.platform !== 'linux') return;
	let descriptor: number;
	try {
		descriptor = openSync(file, pathOnly | constants.O_NOFOLLOW);
	} catch (error) {
		if (codeOf(error) === 'ENOENT') return;
		throw error;
	}
	try {
		const stat = fstatSync(descriptor);
		// The name in /proc stands for the open file, whatever lies at its path by now.
		if (stat.isFile() && (stat.mode & 0o777) !== 0o600) chmodSync(`/proc/self/fd/${descriptor}`, 0o600);
	} finally {
		closeSync(descriptor);
	}
}

/**
 * Node's own `recursive` never ends where the system says of a folder that is there that it is not, as it does for new ones below /proc.
 */
function makeFolders(folder: string): void {
	if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
	makeFolders(dirname(folder));
	mkdirSync(folder, 0o700);
}
