import { mkdtemp, rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Teardown } from './serverProcess.js';

/** Where Linux has a file system in memory: holes of a file cost nothing there, and tens of thousands of small files little. */
const inMemory = '/dev/shm';

/** Far more than what is put there and is no hole. */
const roomBytes = 512 * 1024 ** 2;

/** An empty folder in memory where there is room, for what says nothing about disks; else a temporary one. It goes with the test. */
export async function memoryFolder(t: Teardown): Promise<string> {
	const space = await statfs(inMemory).catch(() => undefined);
	const hasRoom = space !== undefined && space.bavail * space.bsize >= roomBytes;
	const make = (place: string) => mkdtemp(path.join(place, 'stowage-'));
	const folder = hasRoom ? await make(inMemory).catch(() => make(os.tmpdir())) : await make(os.tmpdir());
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}
