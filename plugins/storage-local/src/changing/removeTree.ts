import { forEachConcurrently } from '@stowage/plugin-api';
import type { Disk } from '../root/Disk.js';
import { randomName, scratchPrefix } from '../root/privateFolder.js';
import { lstat, readlink, rename, rmdir, unlink } from '../system/descriptors.js';
import { exists, type Folder, openChild } from '../system/openFolder.js';
import { pathPart, type RawName, rawName } from '../system/rawNames.js';
import { isSystemError } from '../system/systemErrors.js';

/** Concurrent removals in one folder. */
const removalConcurrency = 8;

/** How deep a removal goes with all folders on its way open. What is deeper is moved to its beginning and removed from there. */
const maxOpenFolders = 64;

/**
 * Removes the object of that name and, of a folder, its contents, however deep it is; symbolic links are removed, not
 * their targets. What is mounted in it is left, with the folders around it: its files are in use in another place. Files
 * that another process removes meanwhile are no failure. What can't be removed is left likewise, reported, and its first error thrown once
 * all else is gone. Stops half-way when the disk is being closed.
 */
export async function removeTree(disk: Disk, folder: Folder, name: RawName): Promise<void> {
	const removal: Removal = { disk, folder, names: [name], left: 0, failed: 0 };
	for (let next = removal.names.pop(); next !== undefined && !disk.isClosing; next = removal.names.pop()) {
		if (!(await removeUnlessFolder(removal, folder, next))) await removeFolder(removal, folder, next, 1);
	}
	const { first, failed } = removal;
	if (first === undefined) return;
	disk.onNotRemoved({ ...first, count: failed });
	throw first.error;
}

/** Removes what is in the folder of what was removed. What is left of it is not tried again until the next start. */
export async function removeDiscarded(disk: Disk, folder: Folder, name: RawName): Promise<void> {
	disk.removals.add(name);
	await removeTree(disk, folder, name);
	if (!(await exists(folder, pathPart(name)))) disk.removals.delete(name);
}

interface Removal {
	disk: Disk;
	/** Where it began. */
	folder: Folder;
	/** What is still to be removed there. */
	names: RawName[];
	/** How much was left of what is done: what is mounted, and what could not be removed. */
	left: number;
	/** How much of it could not be removed, and the first of that. */
	failed: number;
	first?: { place: string; error: unknown };
}

async function removeUnlessFolder(removal: Removal, folder: Folder, name: RawName): Promise<boolean> {
	try {
		await unlink(folder.at(pathPart(name)));
	} catch (error) {
		if (isSystemError(error, 'EISDIR')) return false;
		// That of a folder according to POSIX, and on Linux of what is immutable or another user's in a sticky folder.
		if (isSystemError(error, 'EPERM') && (await isFolder(folder, name))) return false;
		// A file that is mounted here.
		if (isSystemError(error, 'EBUSY')) await leaveMounted(removal, folder, name);
		else if (!isSystemError(error, 'ENOENT')) await leave(removal, folder, name, error);
	}
	return true;
}

async function isFolder(folder: Folder, name: RawName): Promise<boolean> {
	try {
		return (await lstat(folder.at(pathPart(name)))).isDirectory();
	} catch {
		return false;
	}
}

async function removeFolder(removal: Removal, folder: Folder, name: RawName, depth: number): Promise<void> {
	try {
		await removeFolderIfPossible(removal, folder, name, depth);
	} catch (error) {
		if (!isSystemError(error, 'ENOENT')) await leave(removal, folder, name, error);
	}
}

async function removeFolderIfPossible(removal: Removal, folder: Folder, name: RawName, depth: number): Promise<void> {
	// More than one round if another process with the folder open creates something in it.
	for (let round = 0; round < 3 && !removal.disk.isClosing; round++) {
		const { left } = removal;
		await removeContents(removal, folder, name, depth);
		if (removal.left > left) return;
		try {
			return await rmdir(folder.at(pathPart(name)));
		} catch (error) {
			if (!isSystemError(error, 'ENOTEMPTY', 'EEXIST')) throw error;
		}
	}
}

async function removeContents(removal: Removal, folder: Folder, name: RawName, depth: number): Promise<void> {
	const { disk } = removal;
	using inner = await openChild(folder, pathPart(name), 'read');
	// Asked of the open folder: it may have been mounted just now.
	if (disk.calls.mountOf(inner.fd) !== disk.calls.mountOf(folder.fd)) return leaveMounted(removal, folder, name);
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

async function leaveMounted(removal: Removal, folder: Folder, name: RawName): Promise<void> {
	removal.left++;
	removal.disk.onMountLeft(await placeOf(removal, folder, name));
}

async function leave(removal: Removal, folder: Folder, name: RawName, error: unknown): Promise<void> {
	removal.left++;
	removal.failed++;
	// Claimed before the wait.
	const isFirst = removal.failed === 1;
	if (isFirst) removal.first = { place: await placeOf(removal, folder, name), error };
}

/** Where an object is, for the administrator. */
async function placeOf({ disk }: Removal, folder: Folder, name: RawName): Promise<string> {
	try {
		const above = folder.isNamedByDescriptor ? await readlink(folder.path) : folder.path;
		return `${above}/${pathPart(name)}`;
	} catch (error) {
		// The system tells no path of over 4,095 bytes.
		if (!isSystemError(error, 'ENAMETOOLONG')) throw error;
		return `${disk.root.path}/.../${pathPart(name)}`;
	}
}

/** Moves an item up into the folder of the removal. False where the system refuses that, such as for a mount point. */
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
