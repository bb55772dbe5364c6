import * as fs from 'node:fs';
import { close, lstat, open, unlink } from '../system/descriptors.js';
import { ignoreMissing, isSystemError } from '../system/systemErrors.js';
import type { Disk } from './Disk.js';
import { randomName, scratchPrefix, stagingFolder } from './privateFolder.js';

/** The time that a new file gets: on a network file system it is the server's. */
export function currentTime(disk: Disk): Promise<number> {
	return withScratchFile(disk, async (path) => (await lstat(path)).ctimeMs);
}

/** Reads the marker again, and creates and removes an empty file. A full disk counts as available. */
export async function checkDisk(disk: Disk): Promise<void> {
	using root = await disk.root.open();
	await disk.root.assertMarker(root);
	try {
		await withScratchFile(disk, async () => {});
	} catch (error) {
		if (!isSystemError(error, 'ENOSPC', 'EDQUOT')) throw error;
	}
}

/** Creates an empty file in the staging folder, and removes it after `use`. */
async function withScratchFile<T>(disk: Disk, use: (path: string) => Promise<T>): Promise<T> {
	using staging = await disk.privateFolder(stagingFolder, 'path');
	const path = staging.at(scratchPrefix + randomName());
	const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
	await close(await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600));
	try {
		return await use(path);
	} finally {
		await unlink(path).catch(ignoreMissing);
	}
}
