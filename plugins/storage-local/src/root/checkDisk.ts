import * as fs from 'node:fs';
import { close, open, unlink } from '../system/descriptors.js';
import { ignoreMissing, isSystemError } from '../system/systemErrors.js';
import type { Disk } from './Disk.js';
import { randomName, scratchPrefix, stagingFolder } from './privateFolder.js';

/** Reads the marker again, and creates and removes an empty file. A full disk counts as available. */
export async function checkDisk(disk: Disk): Promise<void> {
	using root = await disk.root.open();
	await disk.root.assertMarker(root);
	using staging = await disk.privateFolder(stagingFolder, 'path');
	const path = staging.at(scratchPrefix + randomName());
	const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
	try {
		await close(await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600));
	} catch (error) {
		if (!isSystemError(error, 'ENOSPC', 'EDQUOT')) throw error;
		return;
	}
	await unlink(path).catch(ignoreMissing);
}
