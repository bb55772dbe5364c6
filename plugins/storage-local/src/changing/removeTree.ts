import type { Disk } from '../root/Disk.js';
import { rmdir, unlink } from '../system/descriptors.js';
import { forEachConcurrently } from '../system/forEachConcurrently.js';
import { type Folder, openChild } from '../system/openFolder.js';
import { pathPart, type RawName } from '../system/rawNames.js';
import { isSystemError } from '../system/systemErrors.js';

/** Concurrent removals in one folder. */
const removalConcurrency = 8;

/**
 * Removes the object of that name and, of a folder, its contents; symbolic links are removed, not their targets. Files that another
 * process removes meanwhile are no failure. Stops half-way when the disk is being closed.
 */
export async function removeTree(disk: Disk, folder: Folder, name: RawName): Promise<void> {
	if (!(await removeUnlessFolder(folder, name))) await removeFolder(disk, folder, name);
}

async function removeUnlessFolder(folder: Folder, name: RawName): Promise<boolean> {
	try {
		await unlink(folder.at(pathPart(name)));
	} catch (error) {
		// The error for a folder: EISDIR on Linux, EPERM according to POSIX.
		if (isSystemError(error, 'EISDIR', 'EPERM')) return false;
		if (!isSystemError(error, 'ENOENT')) throw error;
	}
	return true;
}

async function removeFolder(disk: Disk, folder: Folder, name: RawName): Promise<void> {
	// More than one round if another process with the folder open creates something in it.
	for (let round = 0; round < 3 && !disk.isClosing; round++) {
		await removeContents(disk, folder, name);
		try {
			return await rmdir(folder.at(pathPart(name)));
		} catch (error) {
			if (isSystemError(error, 'ENOENT')) return;
			if (!isSystemError(error, 'ENOTEMPTY', 'EEXIST')) throw error;
		}
	}
}

async function removeContents(disk: Disk, folder: Folder, name: RawName): Promise<void> {
	using inner = await openChild(folder, pathPart(name), 'read');
	for await (const batch of disk.calls.readNames(inner)) {
		const folders: RawName[] = [];
		await forEachConcurrently(removalConcurrency, batch, async (entry) => {
			if (disk.isClosing) return;
			const isGone = entry.type !== 'directory' && (await removeUnlessFolder(inner, entry.name));
			if (!isGone) folders.push(entry.name);
		});
		// One after another: in parallel, a wide tree would have more folders open than a process may.
		for (const inside of folders) await removeFolder(disk, inner, inside);
	}
}
