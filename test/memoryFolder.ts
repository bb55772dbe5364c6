import { mkdtemp, rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Teardown } from './serverProcess.js';

/** Where Linux has a file system in memory: holes of a file cost nothing there, and thousands of small files little. */
const inMemory = '/dev/shm';

/**
 * An empty folder for this much data, in memory if there is plenty and on a disk otherwise; for tests that do not
 * depend on disks. It is removed after the test.
 */
export async function memoryFolder(t: Teardown, megabytes = 256): Promise<string> {
	const space = await statfs(inMemory).catch(() => undefined);
	const room = Math.min(space === undefined ? 0 : space.bavail * space.bsize, os.freemem() / 4);
	const make = (place: string) => mkdtemp(path.join(place, 'stowage-'));
	const onDisk = () => make(os.tmpdir());
	const folder = room >= megabytes * 1024 ** 2 ? await make(inMemory).catch(onDisk) : await onDisk();
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}
