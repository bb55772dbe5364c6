import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '@stowage/rules';
import { codeOf } from '../connection/errors.js';
import { assertRegularFiles } from '../connection/sqlite/sqliteFile.js';
import { DamagedIndexError } from './DamagedIndexError.js';
import { type IndexLock, IndexLockFile } from './IndexLockFile.js';
import { IndexReader } from './IndexReader.js';
import { IndexWriter } from './IndexWriter.js';

/** The index of names: a file of its own, which is a cache. */
export interface SearchIndexFile {
	/** The exclusive right to write; undefined while another process has it. */
	lock(): Promise<IndexLock | undefined>;
	/** Opens it for the holder of the lock. One that is damaged or of another version is removed and made anew. */
	write(): Promise<IndexWriter>;
	/** Throws where there is none that can be read. */
	read(): Promise<IndexReader>;
	/** Another value for another file; undefined where there is none. */
	identity(): Promise<string | undefined>;
	/** Bytes; 0 where there is none. */
	size(): Promise<number>;
	/** Called by the holder of the lock. */
	remove(): Promise<void>;
}

/** The index in a folder, which is made where it is missing once the index is written. */
export async function searchIndexFile(folder: string): Promise<SearchIndexFile> {
	const file = join(folder, 'names.db');
	const logs = ['-wal', '-shm', '-journal'].map((ending) => `${file}${ending}`);
	const lockFile = new IndexLockFile(join(folder, 'lock.db'));
	const statOf = async (path: string) => {
		try {
			return await stat(path);
		} catch (error) {
			if (codeOf(error) === 'ENOENT') return undefined;
			throw error;
		}
	};
	const remove = async () => {
		// The log last: without its database it is nothing.
		for (const path of [file, ...logs]) await rm(path, { force: true });
	};
	/** SQLite would give it the mode of the umask. */
	const make = async (path: string) => {
		// Over no link, and without waiting at a pipe.
		if ((await statOf(path)) === undefined) await makeNew(path);
		assertRegularFiles(path);
	};
	const identityOf = async (path: string) => {
		const found = await statOf(path);
		return found && `${found.ino}/${found.birthtimeMs}`;
	};
	return {
		async lock() {
			// It may be removed at any time.
			await mkdir(folder, { recursive: true, mode: 0o700 });
			await make(lockFile.file);
			return lockFile.take(`${await identityOf(lockFile.file)}`);
		},
		async write() {
			await make(file);
			try {
				return await IndexWriter.open(file);
			} catch (error) {
				if (!(error instanceof DamagedIndexError)) throw error;
				await remove();
				await make(file);
				return IndexWriter.open(file);
			}
		},
		async read() {
			// SQLite would make one.
			if ((await statOf(file)) === undefined) throw new Failure('unavailable', 'There is no search index.');
			assertRegularFiles(file);
			return IndexReader.open(file);
		},
		identity: () => identityOf(file),
		async size() {
			const sizes = await Promise.all([file, ...logs].map(async (path) => (await statOf(path))?.size ?? 0));
			return sizes.reduce((sum, size) => sum + size, 0);
		},
		remove,
	};
}

async function makeNew(path: string): Promise<void> {
	try {
		await (await open(path, 'wx', 0o600)).close();
	} catch (error) {
		// Another process was first.
		if (codeOf(error) !== 'EEXIST') throw error;
	}
}
