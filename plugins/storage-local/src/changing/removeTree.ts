import type { Disk } from '../root/Disk.js';
import { randomName, scratchPrefix } from '../root/privateFolder.js';
import { readlink, rename, rmdir, unlink } from '../system/descriptors.js';
import { forEachConcurrently } from '../system/forEachConcurrently.js';
import { type Folder, openChild } from '../system/openFolder.js';
import { pathPart, type RawName, rawName } from '../system/rawNames.js';
import { isSystemError } from '../system/systemErrors.js';

/** Concurrent removals in one folder. */
const removalConcurrency = 8;

/** How deep a removal goes with all folders on its way open. What is deeper is moved to its beginning and removed from there. */
const maxOpenFolders = 64;

/**
 * Removes the object of that name and, of a folder, its contents, however deep it is; symbolic links are removed, not
 * their targets. What is mounted in it is left, with the folders around it: its files are in use in another place. Files
 * that another process removes meanwhile are no failure. Stops half-way when the disk is being closed.
 */
export async function removeTree(disk: Disk, folder: Folder, name: RawName): Promise<void> {
	const removal: Removal = { disk, folder, names: [name], left: 0 };
	for (let next = removal.names.pop(); next !== undefined && !disk.isClosing; next = removal.names.pop()) {
		if (!(await removeUnlessFolder(removal, folder, next))) await removeFolder(removal, folder, next, 1);
	}
}

interface Removal {
	disk: Disk;
	/** Where it began. */
	folder: Folder;
	/** What is still to be removed there. */
	names: RawName[];
	/** How much is mounted in what was removed so far. */
	left: number;
}

async function removeUnlessFolder(removal: Removal, folder: Folder, name: RawName): Promise<boolean> {
	try {
		await unlink(folder.at(pathPart(name)));
	} catch (error) {
		// The error for a folder: EISDIR on Linux, EPERM according to POSIX.
		if (isSystemError(error, 'EISDIR', 'EPERM')) return false;
		// A file that is mounted here.
		if (isSystemError(error, 'EBUSY')) await leave(removal, folder, name);
		else if (!isSystemError(error, 'ENOENT')) throw error;
	}
	return true;
}

async function removeFolder(removal: Removal, folder: Folder, name: RawName, depth: number): Promise<void> {
	// More than one round if another process with the folder open creates something in it.
	for (let round = 0; round < 3 && !removal.disk.isClosing; round++) {
		const { left } = removal;
		await removeContents(removal, folder, name, depth);
		if (removal.left > left) return;
		try {
			return await rmdir(folder.at(pathPart(name)));
		} catch (error) {
			if (isSystemError(error, 'ENOENT')) return;
			if (!isSystemError(error, 'ENOTEMPTY', 'EEXIST')) throw error;
		}
	}
}

async function removeContents(removal: Removal, folder: Folder, name: RawName, depth: number): Promise<void> {
	const { disk } = removal;
	using inner = await openChild(folder, pathPart(name), 'read');
	// Asked of the open folder: it may have been mounted just now.
	if (disk.calls.mountOf(inner.fd) !== disk.calls.mountOf(folder.fd)) return leave(removal, folder, name);
	for await (const batch of disk.calls.readNames(inner)) {
		const folders: RawName[] = [];
		await forEachConcurrently(removalConcurrency, batch, async (entry) => {
			if (disk.isClosing) return;
			const isGone = entry.type !== 'directory' && (await removeUnlessFolder(removal, inner, entry.name));
			if (!isGone) folders.push(entry.name);
		});
		// One after another: in parallel, a wide tree would have more folders open than a process may.
		for (const inside of folders) {
			if (depth < maxOpenFolders || !(await moveUp(removal, inner, inside))) {
				await removeFolder(removal, inner, inside, depth + 1);
			}
		}
	}
}

async function leave(removal: Removal, folder: Folder, name: RawName): Promise<void> {
	removal.left++;
	const above = folder.isNamedByDescriptor ? await readlink(folder.path) : folder.path;
	removal.disk.onMountLeft(`${above}/${pathPart(name)}`);
}

/** False where the system refuses that, such as for a mount point. */
async function moveUp({ folder, names }: Removal, from: Folder, name: RawName): Promise<boolean> {
	const free = rawName(`${scratchPrefix}${randomName()}`);
	try {
		await rename(from.at(pathPart(name)), folder.at(pathPart(free)));
	} catch (error) {
		return isSystemError(error, 'ENOENT');
	}
	names.push(free);
	return true;
}
