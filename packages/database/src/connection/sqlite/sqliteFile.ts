import { accessSync, chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, DatabaseError } from '../errors.js';

/** Creates the file and its folder if they are missing, readable by no other user, since they contain secrets. */
export function prepareFile(path: string): void {
	try {
		makeFolders(dirname(path));
		// Made before SQLite opens it: SQLite would take the umask's mode, and gives its -wal and -shm the mode of this file.
		makeFile(path);
		for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
	} catch (cause) {
		throw new DatabaseError(`The database file cannot be used: ${(cause as Error).message}`, { cause });
	}
}

/** Throws DatabaseError if there is no such file, or this user may not use it. Creates none. */
export function assertUsable(path: string): void {
	try {
		if (!statSync(path).isFile()) throw new DatabaseError(`The database is no file: ${path}`);
		accessSync(path, constants.R_OK | constants.W_OK);
	} catch (cause) {
		const code = codeOf(cause);
		if (code === 'ENOENT' || code === 'ENOTDIR') throw new DatabaseError(`There is no database: ${path}`, { cause });
		// Files on a read-only disk can be read.
		if (code === 'EROFS') return;
		if (code !== 'EACCES' && code !== 'EPERM') throw cause;
		const says = `This user may not use the database ${path}: run the command as the server's user, or as root.`;
		throw new DatabaseError(says, { cause });
	}
}

/** The error with the file's name, if the administrator has to correct something. */
export function namedFile(error: unknown, path: string): unknown {
	const code = codeOf(error);
	const isDamaged = code === 'SQLITE_NOTADB' || code?.startsWith('SQLITE_CORRUPT');
	return isDamaged ? new DatabaseError(`The database is damaged, or is no database: ${path}`, { cause: error }) : error;
}

/** An existing file is never opened and closed: the system would drop all locks that this process has on it, also those of other connections. */
function makeFile(path: string): void {
	if (statSync(path, { throwIfNoEntry: false })?.isFile()) accessSync(path, constants.R_OK | constants.W_OK);
	else closeSync(openSync(path, 'a', 0o600));
}

/** Node's own `recursive` never ends where the system says of a folder that is there that it is not, as it does for new ones below /proc. */
function makeFolders(folder: string): void {
	if (existsSync(folder)) return;
	makeFolders(dirname(folder));
	mkdirSync(folder, 0o700);
}
