import { DamagedIndexError } from './DamagedIndexError.js';
import type { IndexConnection } from './IndexConnection.js';

/** Another form of the tables needs another number: an index with a different one is made anew. */
const schemaVersion = 1;

/**
 * `words` has the trigrams of each block's names by the number of the block, and nothing else: blocks with all
 * trigrams of a term are read and compared. Numbers of blocks begin with that of their home, so that a search reads
 * only its own part of each list.
 */
const tables = `
	create table states(key text primary key, value text not null) strict;
	create table roots(id integer primary key, root_id text not null unique, checked_at integer) strict;
	create table homes(id integer primary key, root integer not null, path text not null, unique(root, path)) strict;
	create table folders(
		id integer primary key, root integer not null, path text not null, parent integer, home integer not null,
		mtime integer, listed_at integer not null, parts integer not null, is_closed integer not null
	) strict;
	create unique index folders_by_path on folders(root, path);
	create index folders_by_parent on folders(parent);
	create table blocks(
		id integer primary key, folder integer not null, part integer not null, digest text not null,
		folded text not null, items text not null
	) strict;
	create unique index blocks_by_folder on blocks(folder, part);
	create virtual table words using fts5(folded, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1');
	create table stale(
		n integer primary key autoincrement, root integer not null, path text not null, kind text not null, unique(root, path, kind)
	) strict;
	create table positions(file text primary key, position integer not null) strict;
`;

/** Makes the tables of a new file. Throws DamagedIndexError for a file with others. */
export async function prepareIndex(connection: IndexConnection): Promise<void> {
	await connection.exec('pragma journal_mode = wal');
	// A power cut loses the last changes as a whole, which is found out: folders are compared with the disk after one.
	await connection.exec('pragma synchronous = normal');
	await connection.exec('pragma journal_size_limit = 4194304');
	const version = await versionOf(connection);
	if (version === schemaVersion) return;
	if (version !== 0) throw new DamagedIndexError(`The search index has the version ${version}.`);
	await connection.transaction(() => connection.exec(`${tables} pragma user_version = ${schemaVersion};`));
}

/** Throws DamagedIndexError unless the tables are the ones that this program knows. */
export async function assertVersion(connection: IndexConnection): Promise<void> {
	const version = await versionOf(connection);
	if (version !== schemaVersion) throw new DamagedIndexError(`The search index has the version ${version}.`);
}

async function versionOf(connection: IndexConnection): Promise<number> {
	const [row] = await connection.all<{ user_version: number }>('pragma user_version');
	return row?.user_version ?? 0;
}
