import type { CopyOptions, StorageItem } from '@stowage/plugin-api';
import { baseName, isWithin, maxListedDepth, parentPath, pathDepth, type StoragePath } from '@stowage/rules';
import { itemAt } from '../reading/items.js';
import type { Disk } from '../root/Disk.js';
import { stagingFolder } from '../root/privateFolder.js';
import { renameAny } from '../root/renaming.js';
import { closeSync, fstat, open } from '../system/descriptors.js';
import { objectId, toItem } from '../system/fileStat.js';
import { type Folder, openChild, readFileFlags } from '../system/openFolder.js';
import { nameTaken, noSuchEntry } from '../system/systemErrors.js';
import { inheritAccess } from '../writing/access.js';
import { claimFreeName, namesFrom, replacement, statNames } from '../writing/freeNames.js';
import { assertReplaceable, onlyFiles, replaceFile } from '../writing/replaceFile.js';
import { parseCopyId, type StagedId } from '../writing/stagedIds.js';
import { CopyObject, discardObject } from './CopyObject.js';
import { type CopyDependencies, copyContents, copySingleFile, syncTree } from './copyTree.js';
import { assertApart, intoItself, itemNow } from './moveItem.js';
import { UnsyncedFiles } from './UnsyncedFiles.js';

/** Copies a file or a folder with its contents in staging, syncs it and publishes it in one step. */
export async function copyItem(
	disk: Disk,
	from: StoragePath,
	to: StoragePath,
	options: CopyOptions,
): Promise<StorageItem> {
	const { signal, otherNames = [], beforeNaming, staged } = options;
	const replacing = replacement(options);
	assertApart(from, to, replacing !== undefined);
	signal?.throwIfAborted();
	using source = await disk.parentOf(from, 'path');
	const item = await itemAt(disk, source, baseName(from));
	if (item.type === 'directory' && replacing !== undefined) throw onlyFiles();
	if (item.type === 'directory' && isWithin(parentPath(to), from)) throw intoItself();
	using target = await disk.parentOf(to, 'read');
	using staging = await disk.privateFolder(stagingFolder, 'path');
	const before = parseCopyId(staged?.id ?? '');
	const found = before && (await CopyObject.find(disk, staging, item.type, before));
	if (before !== undefined && found === undefined) {
		const names = new Set([staged?.name ?? baseName(to), baseName(to)]);
		const published = await findPublished(disk, before, item.type, target, names);
		if (published !== undefined) return published;
	}
	if (replacing !== undefined) {
		await assertReplaceable(disk, target, to, replacing).catch((error: unknown) => {
			found?.[Symbol.dispose]();
			throw error;
		});
	} else if (found === undefined) await assertFree(disk, target, to, otherNames);
	using copy = found ?? (await CopyObject.begin(disk, staging, item.type, staged === undefined ? 'scratch' : 'staged'));
	try {
		if (copy.isNew) await staged?.onBegin(await copy.id());
		// Before it is filled: what is made in it inherits from it.
		await inheritAccess(disk, target, copy.fd, item.type);
		await fill(disk, copy, source, { from, to }, options);
		await assertExists(disk, from, item);
		await syncCopy(disk, copy);
		signal?.throwIfAborted();
		const whole = toItem(copy.name, { ...(await disk.statOf(copy.fd)), type: item.type });
		if (replacing !== undefined) {
			const own = { folder: staging, name: copy.name, object: whole.id };
			await replaceFile(disk, own, { folder: target, path: to, ...replacing }, beforeNaming);
			return await itemNow(disk, target, baseName(to), whole);
		}
		const taken = await claimFreeName(disk, target, namesFrom(to, otherNames), async (toName) => {
			await beforeNaming?.(toName);
			await renameAny(disk, item.type, { from: staging, fromName: copy.name, to: target, toName });
		});
		if (taken === undefined) throw nameTaken(to);
		await disk.syncs.sync(target);
		// Awaited here: `using` releases its resources when the function returns.
		return await itemNow(disk, target, taken.name, whole);
	} catch (error) {
		// Files that can't be removed now are swept at the next start; the result does not depend on it.
		if (staged === undefined) await copy.remove().catch(() => {});
		throw error;
	}
}

/** Removes a staged copy at once. Resolves to the remaining background work, if any. */
export async function discardCopy(disk: Disk, id: string): Promise<(() => Promise<void>) | undefined> {
	const staged = parseCopyId(id);
	if (staged === undefined) return undefined;
	using staging = await disk.privateFolder(stagingFolder, 'path');
	return await discardObject(disk, staging, staged.name);
}

async function fill(
	disk: Disk,
	copy: CopyObject,
	source: Folder,
	{ from, to }: { from: StoragePath; to: StoragePath },
	options: CopyOptions,
): Promise<void> {
	const means: CopyDependencies = { disk, options, maxLevels: maxListedDepth - pathDepth(to) };
	if (copy.type === 'file') {
		const fd = await open(source.at(baseName(from)), readFileFlags);
		try {
			const stats = await fstat(fd);
			if (!stats.isFile()) throw noSuchEntry(from);
			await options.beforeItem?.({ type: 'file', size: Number(stats.size) });
			return await copySingleFile(means, fd, copy.fd);
		} finally {
			closeSync(fd);
		}
	}
	if (options.staged !== undefined) means.unsynced = new UnsyncedFiles(disk, copy.folder);
	using folder = await openChild(source, baseName(from), 'read');
	await options.beforeItem?.({ type: 'directory', size: 0 });
	await copyContents(means, { from: folder, to: copy.folder, path: [], isNew: copy.isNew });
	await means.unsynced?.flush();
}

/**
 * Syncs a folder with all its contents; a file is durable once it is filled. After a failed sync it is unknown which bytes were lost, so
 * the copy can't be used any more.
 */
async function syncCopy(disk: Disk, copy: CopyObject): Promise<void> {
	if (copy.type === 'file') return;
	try {
		if (await disk.calls.syncFileSystem(copy.fd)) return;
		using again = await openChild(copy.folder, '.', 'read');
		await syncTree(disk, again);
	} catch (error) {
		await copy.remove().catch(() => {});
		throw error;
	}
}

/** A copy may have been published by a call that was interrupted after that. */
async function findPublished(
	disk: Disk,
	{ object }: StagedId,
	type: 'file' | 'directory',
	folder: Folder,
	names: Iterable<string>,
): Promise<StorageItem | undefined> {
	for await (const { name, stat } of statNames(disk, folder, names)) {
		if (stat?.type !== type || objectId(stat) !== object) continue;
		await disk.syncs.sync(folder);
		return toItem(name, { ...stat, type });
	}
	return undefined;
}

/** Fails early if all names are taken, before anything is copied; the final decision is the rename's. */
async function assertFree(disk: Disk, folder: Folder, path: StoragePath, otherNames: Iterable<string>): Promise<void> {
	for await (const { stat } of statNames(disk, folder, namesFrom(path, otherNames))) {
		if (stat === undefined) return;
	}
	throw nameTaken(path);
}

/** A folder that was deleted meanwhile may have been copied only in part, which can't be detected. */
async function assertExists(disk: Disk, path: StoragePath, item: StorageItem): Promise<void> {
	// From the root again: it may have been removed with a folder above it.
	using folder = await disk.parentOf(path, 'path');
	if ((await itemAt(disk, folder, baseName(path))).id !== item.id) throw noSuchEntry(path);
}
