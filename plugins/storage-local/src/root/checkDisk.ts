import * as fs from 'node:fs';
import { close, open, statfs, unlink } from '../system/descriptors.js';
import { isSystemError } from '../system/systemErrors.js';
import type { Disk } from './Disk.js';
import { randomName, scratchPrefix, stagingFolder } from './privateFolder.js';

/** Bytes that may still be written: 0 if no new file can be created. */
export async function freeBytes(disk: Disk): Promise<number> {
	using root = await disk.root.open();
	const { bavail, bsize, files, ffree } = await statfs(root.path);
	return files > 0 && ffree === 0 ? 0 : bavail * bsize;
}

/** The size of the whole file system in bytes. */
export async function totalBytes(disk: Disk): Promise<number> {
	using root = await disk.root.open();
	const { blocks, bsize } = await statfs(root.path);
	return blocks * bsize;
}

/** Reads the marker again, and creates and removes an empty file. A full disk counts as available. */
export async function checkDisk(disk: Disk): Promise<void> {
	using root = await disk.root.open();
	await disk.root.assertMarker(root);
	using staging = await disk.privateFolder(stagingFolder, 'pass');
	const path = staging.at(scratchPrefix + randomName());
	const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
	try {
		await close(await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600));
		await unlink(path);
	} catch (error) {
		if (!isSystemError(error, 'ENOSPC', 'EDQUOT')) throw error;
	}
}
