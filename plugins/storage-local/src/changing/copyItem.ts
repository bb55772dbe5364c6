import type { CopyOptions, StorageItem } from '@stowage/plugin-api';
import { baseName, isWithin, parentPath, type StoragePath } from '@stowage/rules';
import { itemAt } from '../reading/items.js';
import type { Disk } from '../root/Disk.js';
import { randomName, scratchPrefix, stagingFolder } from '../root/privateFolder.js';
import { renameAny } from '../root/renaming.js';
import { closeSync, fsync, lstat, mkdir, open } from '../system/descriptors.js';
import type { Folder } from '../system/Folder.js';
import { readFileFlags, stepInto } from '../system/openFolder.js';
import { rawName } from '../system/rawNames.js';
import { isSystemError, nameTaken, noSuchEntry } from '../system/systemErrors.js';
import { lookAtNames, namesFrom, takeFreeName } from '../writing/freeNames.js';
import { copyFolder, copyRegularFile, syncTree } from './copyTree.js';
import { assertApart, intoItself, itemNow } from './moveItem.js';
import { removeTree } from './removeTree.js';

/** What the copy is called until it is whole. Short, whatever the length of its final name. */
const copyName = 'copy';

/** Copies a file or a whole folder out of sight, makes it durable and publishes it in one step. */
export async function copyItem(
	disk: Disk,
	from: StoragePath,
	to: StoragePath,
	options: CopyOptions,
): Promise<StorageItem> {
	const { signal, otherNames = [] } = options;
	assertApart(from, to);
	signal?.throwIfAborted();
	using source = await disk.parentOf(from, 'pass');
	const item = await itemAt(disk, source, baseName(from));
	if (item.type === 'directory' && isWithin(parentPath(to), from)) throw intoItself();
	using target = await disk.parentOf(to, 'read');
	await assertFree(disk, target, to, otherNames);
	// Awaited here: what `using` holds is given back when the function returns.
	return await withScratch(disk, async (scratch) => {
		const plan = { from: source, name: rawName(baseName(from)), to: scratch, newName: rawName(copyName) };
		if (item.type === 'directory') await copyFolder(disk, plan, options);
		else if ((await copyRegularFile(disk, plan, options)) !== 'copied') throw noSuchEntry(from);
		await assertStillThere(disk, from, item);
		await syncCopy(disk, scratch, item.type);
		signal?.throwIfAborted();
		const copy = await itemAt(disk, scratch, copyName);
		const taken = await takeFreeName(disk, target, namesFrom(to, otherNames), (toName) =>
			renameAny(disk, item.type, { from: scratch, fromName: copyName, to: target, toName }),
		);
		if (taken === undefined) throw nameTaken(to);
		await disk.syncs.sync(target);
		return await itemNow(disk, target, taken.name, copy);
	});
}

/** Refuses names that are all taken before all is copied for nothing; the last word has the rename. */
async function assertFree(disk: Disk, folder: Folder, path: StoragePath, otherNames: Iterable<string>): Promise<void> {
	for await (const { stat } of lookAtNames(disk, folder, namesFrom(path, otherNames))) {
		if (stat === undefined) return;
	}
	throw nameTaken(path);
}

/** Of a folder that was deleted meanwhile only a part may have been copied, and nobody could tell. */
async function assertStillThere(disk: Disk, path: StoragePath, item: StorageItem): Promise<void> {
	// From the root again: it may have gone with a folder above it.
	using folder = await disk.parentOf(path, 'pass');
	if ((await itemAt(disk, folder, baseName(path))).id !== item.id) throw noSuchEntry(path);
}

/** Gives `work` an empty folder out of sight, locked so that nobody sweeps it, and removes it afterwards. */
async function withScratch<T>(disk: Disk, work: (scratch: Folder) => Promise<T>): Promise<T> {
	using staging = await disk.privateFolder(stagingFolder, 'pass');
	for (;;) {
		const name = scratchPrefix + randomName();
		await mkdir(staging.at(name), 0o700);
		try {
			using scratch = await lockScratch(disk, staging, name);
			if (scratch !== undefined) return await work(scratch);
		} finally {
			// What can't be removed now is swept at the next start; the answer does not depend on it.
			await removeTree(disk, staging, rawName(name)).catch(() => {});
		}
	}
}

/** Undefined if a sweep, which can't tell a folder made just now from one that a crash left, came before the lock. */
async function lockScratch(disk: Disk, staging: Folder, name: string): Promise<Folder | undefined> {
	let scratch: Folder | undefined;
	try {
		scratch = await stepInto(staging, name, 'read');
		const isSwept = disk.calls.tryLock(scratch.fd) === false || !(await isThere(staging, name));
		if (!isSwept) return scratch;
	} catch (error) {
		if (!isSystemError(error, 'ENOENT')) {
			scratch?.[Symbol.dispose]();
			throw error;
		}
	}
	scratch?.[Symbol.dispose]();
	return undefined;
}

async function isThere(folder: Folder, name: string): Promise<boolean> {
	try {
		await lstat(folder.at(name));
		return true;
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return false;
		throw error;
	}
}

async function syncCopy(disk: Disk, scratch: Folder, type: 'file' | 'directory'): Promise<void> {
	if (type === 'directory') {
		if (!(await disk.calls.syncFileSystem(scratch.fd))) await syncTree(disk, scratch);
		return;
	}
	const fd = await open(scratch.at(copyName), readFileFlags);
	try {
		await fsync(fd);
	} finally {
		closeSync(fd);
	}
}
