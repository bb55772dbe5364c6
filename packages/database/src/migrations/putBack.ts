import {
	constants,
	copyFileSync,
	createReadStream,
	createWriteStream,
	fstatSync,
	linkSync,
	readSync,
	realpathSync,
	renameSync,
	rmSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure } from '@stowage/rules';
import Libsql from 'libsql';
import { codeOf, DatabaseError, translated } from '../connection/errors.js';
import { assertUsable, namedFile } from '../connection/sqlite/sqliteFile.js';
import { parseDatabaseUrl } from '../connection/target.js';
import { lackingRoom, sync } from './snapshot.js';

/** What SQLite keeps beside a database and would replay onto whatever lies in its place. */
const replayed = ['-wal', '-journal'];

const besides = [...replayed, '-shm'];

/**
 * The descriptors of a copy of a database, and of what lies beside it: after a process was killed its last commits, or how to roll one
 * back. Whoever opened them closes them.
 */
export interface DatabaseCopy {
	file: number;
	wal: number | undefined;
	journal: number | undefined;
}

/** What each SQLite database begins with. */
const magic = Buffer.from('SQLite format 3\0');

/**
 * Puts a copy in the place of the SQLite database, over which nobody serves. What was there stays as `<name>.replaced-<time>`, with what
 * belongs to it beside it. At any moment, also after a power cut, either of both is there, whole. Resolves to the name of what was there.
 * Throws `invalid` for a database of another kind, and for a copy that is none or is damaged, and `storageFull` where there is no room for
 * it; then nothing has changed.
 */
export async function putBack(url: string, copy: DatabaseCopy, now: Date): Promise<string> {
	const target = parseDatabaseUrl(url);
	if (target.kind !== 'sqlite')
		throw new Failure('invalid', 'Only of an SQLite database there are such copies. Bring your own dump back.');
	const named = resolve(target.path);
	assertUsable(named);
	// The files beside it are named after what a link leads to.
	const file = realpathSync.native(named);
	const partial = `${file}.going-back`;
	try {
		remove(partial, ['', ...besides]);
		const parts = partsOf(copy);
		assertRoom(file, parts);
		for (const part of parts) await write(`${partial}${part.ending}`, part);
		makeWhole(partial);
		sync(partial);
		const former = `${file}.replaced-${now.toISOString().replaceAll(':', '-')}`;
		for (const ending of ['', ...replayed]) keep(`${file}${ending}`, `${former}${ending}`);
		sync(dirname(file));
		// It has its second names by now. One that stayed here would be replayed onto the copy.
		remove(file, besides);
		renameSync(partial, file);
		sync(dirname(file));
		return former;
	} catch (error) {
		throw translated(error);
	} finally {
		remove(partial, ['', ...besides]);
	}
}

interface Part {
	ending: string;
	descriptor: number;
	/** The bytes that it has now: more that come to it meanwhile are not copied. */
	size: number;
}

/** What is copied. Throws `invalid` where that is no database by its first bytes: it may be as large as it likes. */
function partsOf({ file, wal, journal }: DatabaseCopy): Part[] {
	const start = Buffer.alloc(magic.length);
	readSync(file, start, 0, start.length, 0);
	if (!start.equals(magic)) throw noCopy();
	return [
		{ ending: '', descriptor: file },
		{ ending: '-wal', descriptor: wal },
		{ ending: '-journal', descriptor: journal },
	].flatMap(({ ending, descriptor }) => {
		const size = descriptor === undefined ? 0 : fstatSync(descriptor).size;
		return descriptor === undefined || size === 0 ? [] : [{ ending, descriptor, size }];
	});
}

function assertRoom(file: string, parts: readonly Part[]): void {
	const lacking = lackingRoom(
		file,
		parts.reduce((sum, { size }) => sum + size, 0),
	);
	if (lacking === undefined) return;
	throw new Failure('storageFull', `The copy is copied beside the database first, ${lacking}. Make room.`);
}

function write(file: string, { descriptor, size }: Part): Promise<void> {
	const content = createReadStream('', { fd: descriptor, autoClose: false, start: 0, end: size - 1 });
	return pipeline(content, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }));
}

function remove(file: string, endings: readonly string[]): void {
	for (const ending of endings) rmSync(`${file}${ending}`, { force: true });
}

/**
 * Moves what lies beside the file into it: it goes on without that. Throws `invalid` unless it is a whole database of
 * Stowage then.
 */
function makeWhole(file: string): void {
	try {
		const connection = new Libsql(file);
		try {
			const [{ quick_check: finding } = { quick_check: 'no database' }] = connection
				.prepare('PRAGMA quick_check(1)')
				.all() as { quick_check: string }[];
			if (finding !== 'ok') throw new Failure('invalid', `The copy is damaged, and was not put back: ${finding}`);
			if (connection.prepare('select name from migrations').all().length === 0) throw noCopy();
			const [{ busy } = { busy: 1 }] = connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all() as {
				busy: number;
			}[];
			if (busy !== 0) throw new Error(`The log of ${file} could not be moved into it.`);
		} finally {
			connection.close();
		}
	} catch (cause) {
		if (codeOf(cause) === 'SQLITE_ERROR' || namedFile(cause, file) instanceof DatabaseError) throw noCopy(cause);
		throw cause;
	}
}

const noCopy = (cause?: unknown) => new Failure('invalid', 'This is no copy of a database of Stowage.', { cause });

/** Gives a file, if it is there, a second name, or copies it where the disk has no hard links. */
function keep(file: string, former: string): void {
	try {
		linkSync(file, former);
	} catch (error) {
		if (codeOf(error) === 'ENOENT') return;
		if (codeOf(error) === 'EEXIST') throw error;
		copyFileSync(file, former, constants.COPYFILE_EXCL);
		sync(former);
	}
}
