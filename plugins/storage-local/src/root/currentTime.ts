import * as fs from 'node:fs';
import { closeSync, lstat, open, unlink } from '../system/descriptors.js';
import { ignoreMissing } from '../system/systemErrors.js';
import type { Disk } from './Disk.js';
import { randomName, scratchPrefix, stagingFolder } from './privateFolder.js';

/** The time that a new file gets: on a network file system it is the server's. */
export async function currentTime(disk: Disk): Promise<number> {
	using staging = await disk.privateFolder(stagingFolder, 'path');
	const path = staging.at(scratchPrefix + randomName());
	const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
	closeSync(await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600));
	try {
		return (await lstat(path)).ctimeMs;
	} finally {
		await unlink(path).catch(ignoreMissing);
	}
}
