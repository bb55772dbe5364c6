import {
	closeSync,
	constants,
	existsSync,
	fsyncSync,
	openSync,
	readdirSync,
	renameSync,
	rmSync,
	statfsSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Failure, formatListSize } from '@stowage/rules';
import Libsql from 'libsql';

/** The number of copies that are kept of one database; older ones are removed when a new one is made. */
const keptSnapshots = 3;

/**
 * Copies the whole database next to itself as `<name>.<time>.before-<migration>` and resolves to the copy's path once it would
 * survive a power cut. The caller holds the write lock, so that the copy is what the migration begins with. Throws `storageFull` where
 * there is no room for it.
 */
export function makeSnapshot(path: string, migration: string, now: Date): string {
	const folder = dirname(path);
	const prefix = `${basename(path)}.`;
	const partial = partialOf(path);
	// A colon in a name cannot be copied to a Windows share.
	const snapshot = join(folder, `${prefix}${now.toISOString().replaceAll(':', '-')}.before-${migration}`);
	removePartial(path);
	try {
		closeSync(openSync(partial, 'wx', 0o600));
		vacuumInto(path, partial);
		sync(partial);
		renameSync(partial, snapshot);
	} catch (error) {
		// On a full disk it would stop the server that goes on without the migration, too.
		removePartial(path);
		throw error;
	}
	for (const old of snapshotsOf(path).slice(0, -keptSnapshots)) rmSync(old);
	sync(folder);
	return snapshot;
}

/** Whether a process that was killed has left a part of a snapshot, or one makes it now. */
export function hasPartial(path: string): boolean {
	return existsSync(partialOf(path));
}

/** Removes such a part. The caller holds the write lock, so that nobody makes it now. */
export function removePartial(path: string): void {
	for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(`${partialOf(path)}${ending}`, { force: true });
}

function partialOf(path: string): string {
	return `${path}.partial`;
}

/** The snapshots of a database, oldest first. */
function snapshotsOf(path: string): string[] {
	const prefix = `${basename(path)}.`;
	return readdirSync(dirname(path))
		.filter((name) => name.startsWith(prefix) && /^\d{4}-.*\.before-/.test(name.slice(prefix.length)))
		.sort()
		.map((name) => join(dirname(path), name));
}

function vacuumInto(path: string, copy: string): void {
	const connection = new Libsql(path);
	try {
		assertRoom(connection, path);
		connection.prepare('VACUUM INTO ?').run([copy]);
	} finally {
		connection.close();
	}
}

function assertRoom(connection: Libsql.Database, path: string): void {
	const [pages, unused, size] = ['page_count', 'freelist_count', 'page_size'].map((name) =>
		Number((connection.prepare(`PRAGMA ${name}`).get() as Record<string, unknown>)[name]),
	) as [number, number, number];
	const lacking = lackingRoom(path, (pages - unused) * size);
	if (lacking === undefined) return;
	throw new Failure(
		'storageFull',
		`Before a migration the database is copied beside itself, ${lacking}. Make room, or go on with the former version.`,
	);
}

/** What a copy beside the database needs, in words, where there is no room for that. */
export function lackingRoom(path: string, needed: number): string | undefined {
	const { blocks, bavail, bsize } = statfsSync(dirname(path));
	// Where the file system doesn't know, these are zeros.
	if (blocks === 0 || bavail * bsize >= needed) return undefined;
	return `which needs ${formatListSize(needed)}; ${formatListSize(bavail * bsize)} are free at ${path}`;
}

/** Returns once a file, or the names in a folder, would survive a power cut. */
export function sync(path: string): void {
	const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}
