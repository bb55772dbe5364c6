import { closeSync, constants, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Libsql from 'libsql';

/** The number of copies that are kept of one database; older ones are removed when a new one is made. */
const keptSnapshots = 3;

/**
 * Copies the whole database next to itself as `<name>.<time>.before-<migration>` and resolves to the copy's path once it would
 * survive a power cut. The caller holds the write lock, so that the copy is what the migration begins with.
 */
export function makeSnapshot(path: string, migration: string, now: Date): string {
	const folder = dirname(path);
	const prefix = `${basename(path)}.`;
	const partial = join(folder, `${prefix}partial`);
	// A colon in a name cannot be copied to a Windows share.
	const snapshot = join(folder, `${prefix}${now.toISOString().replaceAll(':', '-')}.before-${migration}`);
	rmSync(partial, { force: true });
	closeSync(openSync(partial, 'wx', 0o600));
	vacuumInto(path, partial);
	sync(partial);
	renameSync(partial, snapshot);
	for (const old of snapshotsOf(path).slice(0, -keptSnapshots)) rmSync(old);
	sync(folder);
	return snapshot;
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
		connection.prepare('VACUUM INTO ?').run([copy]);
	} finally {
		connection.close();
	}
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
