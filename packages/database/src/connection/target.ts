import { DatabaseError } from './errors.js';

export interface MysqlAddress {
	host: string;
	port: number;
	socketPath: string | undefined;
	user: string;
	password: string;
	database: string;
}

export type DatabaseTarget = { kind: 'sqlite'; path: string } | { kind: 'mysql'; address: MysqlAddress };

const forms = 'sqlite:<path> or mysql://user:password@host:port/name';

/** Parses a database URL. Throws a DatabaseError that never repeats the URL, since it may contain a password. */
export function parseDatabaseUrl(url: string): DatabaseTarget {
	if (url.startsWith('sqlite:')) return { kind: 'sqlite', path: parsePath(url.slice('sqlite:'.length)) };
	if (url.startsWith('mysql://')) return { kind: 'mysql', address: parseAddress(url) };
	throw new DatabaseError(`The database URL must be ${forms}.`);
}

function parsePath(path: string): string {
	// SQLite reads these as a database in memory or on a temporary file, which would forget every account.
	const isNoFile = path === '' || path.startsWith(':') || path.startsWith('file:') || path.includes('\0');
	// The address of a server has a password, and a path is shown to whoever asks for it.
	if (isNoFile || path.includes('://')) {
		throw new DatabaseError('The database URL must name a file: sqlite:<path>');
	}
	return path;
}

/**
 * Throws for a password that is cut off by a character of its own: the address would name another host and database, which are not
 * available, or none.
 */
function assertEncoded(url: string): void {
	const rest = url.slice('mysql://'.length);
	const end = rest.search(/[/?#]/);
	if (end === -1 || rest.startsWith('[')) return;
	const authority = rest.slice(0, end);
	const [path = ''] = rest.slice(end).split(/[?#]/);
	const isCut = authority.includes('@') ? path.includes('@') : rest.includes('@');
	const character = rest.charAt(end);
	if (!isCut || !authority.includes(':')) return;
	throw new DatabaseError(
		`The password in the database URL (databaseUrl) must be percent-encoded: write ${encodeURIComponent(character)} for ${character}, and %40 for @.`,
	);
}

function parseAddress(url: string): MysqlAddress {
	assertEncoded(url);
	if (!URL.canParse(url)) throw new DatabaseError(`The database URL is not valid; it must be ${forms}.`);
	const { hostname, port, username, password, pathname, searchParams } = new URL(url);
	for (const key of searchParams.keys()) {
		// Not repeated, since it may be a part of a password.
		if (key !== 'socket')
			throw new DatabaseError(`The database URL has an option that does not exist; the only one is socket: ${forms}`);
	}
	const database = decoded(pathname.slice(1));
	if (database === '' || username === '') throw new DatabaseError(`The database URL needs a user and a name: ${forms}`);
	return {
		host: hostname.replace(/^\[|\]$/g, '') || 'localhost',
		port: port === '' ? 3306 : Number(port),
		socketPath: searchParams.get('socket') ?? undefined,
		user: decoded(username),
		password: decoded(password),
		database,
	};
}

function decoded(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch (cause) {
		throw new DatabaseError(
			'The database URL has a percent sign that is not followed by two digits: in a password write %25 for it.',
			{ cause },
		);
	}
}
