import type { Disk } from './Disk.js';
import { closeSync, lstat, open } from './descriptors.js';
import type { Folder } from './Folder.js';
import { isFault } from './faults.js';
import { readFileFlags } from './opening.js';
import { scratchPrefix, stagingFolder, trashFolder } from './privateFolder.js';
import { pathPart, type RawName } from './rawNames.js';
import { removeTree } from './removeTree.js';

/** Where no lock tells whether somebody still works on it, only what nobody began within a day is swept. */
const dayMs = 24 * 60 * 60 * 1000;

/** Finishes removals and drops copies that a crash left half-way. Uploads are left alone: they may go on. */
export async function sweepLeftovers(disk: Disk): Promise<void> {
	using trash = await disk.privateFolder(trashFolder, 'read');
	await sweep(disk, trash, async () => true);
	using staging = await disk.privateFolder(stagingFolder, 'read');
	await sweep(disk, staging, (name) => isAbandoned(disk, staging, name));
}

async function sweep(disk: Disk, folder: Folder, mayGo: (name: RawName) => Promise<boolean>): Promise<void> {
	for await (const batch of disk.calls.readNames(folder)) {
		for (const { name } of batch) {
			try {
				if (await mayGo(name)) await removeTree(disk, folder, name);
			} catch {
				// One that can't be removed, such as another user's, must not keep the others.
			}
		}
	}
}

async function isAbandoned(disk: Disk, staging: Folder, name: RawName): Promise<boolean> {
	if (!name.startsWith(scratchPrefix)) return false;
	try {
		const fd = await open(staging.at(pathPart(name)), readFileFlags);
		try {
			const isFree = disk.calls.tryLock(fd);
			if (isFree !== undefined) return isFree;
		} finally {
			closeSync(fd);
		}
		return (await lstat(staging.at(pathPart(name)))).ctimeMs < Date.now() - dayMs;
	} catch (error) {
		if (isFault(error, 'ENOENT')) return false;
		throw error;
	}
}
