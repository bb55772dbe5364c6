import type { MoveOptions, StorageItem } from '@stowage/plugin-api';
import {
	baseName,
	Failure,
	invalidNameMessage,
	isWithin,
	parentPath,
	rootPath,
	type StoragePath,
	withSuffix,
} from '@stowage/rules';
import { itemAt } from '../reading/items.js';
import type { Disk } from '../root/Disk.js';
import { randomName } from '../root/privateFolder.js';
import { renameAny } from '../root/renaming.js';
import { closeSync, fsync, open } from '../system/descriptors.js';
import { objectId } from '../system/fileStat.js';
import { type Folder, openChild, readFileFlags } from '../system/openFolder.js';
import { rawName } from '../system/rawNames.js';
import { fileChanged, isSystemError, nameTaken, noSuchEntry } from '../system/systemErrors.js';
import { claimFreeName, namesFrom, replacement, statIfPresent } from '../writing/freeNames.js';
import { assertReplaceable, onlyFiles, replaceFile } from '../writing/replaceFile.js';

/** Moves in one step and syncs both folders. */
export async function moveItem(
	disk: Disk,
	from: StoragePath,
	to: StoragePath,
	options: MoveOptions,
): Promise<StorageItem> {
	const { otherNames = [], beforeNaming } = options;
	const replacing = replacement(options);
	assertApart(from, to, replacing !== undefined);
	using source = await disk.parentOf(from, 'read');
	const before = await itemAt(disk, source, baseName(from));
	if (before.type === 'directory' && isWithin(parentPath(to), from)) throw intoItself();
	using target = await disk.parentOf(to, 'read');
	if (replacing !== undefined) {
		if (before.type === 'directory') throw onlyFiles();
		await assertReplaceable(disk, target, to, replacing);
		await syncFile(disk, source, before, from);
		const own = { folder: source, name: baseName(from), object: before.id, path: from };
		await replaceFile(disk, own, { folder: target, path: to, ...replacing }, beforeNaming);
		return await itemNow(disk, target, baseName(to), before);
	}
	const isInOneFolder = parentPath(from) === parentPath(to);
	const taken = await claimFreeName(disk, target, namesFrom(to, otherNames), async (toName) => {
		await beforeNaming?.(toName);
		try {
			await renameAny(disk, before.type, { from: source, fromName: baseName(from), to: target, toName });
		} catch (error) {
			if (!isInOneFolder || !isSystemError(error, 'EEXIST')) throw error;
			if (!(await isOtherSpelling(disk, target, before, toName))) throw error;
			await respell(disk, target, before, toName);
		}
	}).catch((error: unknown) => {
		throw isSystemError(error, 'EINVAL') ? impossibleMove(before, from, to) : error;
	});
	if (taken === undefined) throw nameTaken(to);
	await disk.syncs.syncAll([target, source]);
	return await itemNow(disk, target, taken.name, before);
}

/**
 * Whether a taken name is another spelling of the item's own, as on a disk that ignores case: it leads to the item, and no entry has
 * it.
 */
async function isOtherSpelling(disk: Disk, folder: Folder, item: StorageItem, name: string): Promise<boolean> {
	const stat = await statIfPresent(disk, folder, name);
	if (stat === undefined || objectId(stat) !== item.id) return false;
	using again = await openChild(folder, '.', 'read');
	const raw = rawName(name);
	for await (const batch of disk.calls.readNames(again)) if (batch.some((entry) => entry.name === raw)) return false;
	return true;
}

/**
 * Renames an item to another spelling of its name, which the system takes for the same: by way of a third name. A crash between the two
 * renames leaves it under that, which is visible and begins like the new one.
 */
async function respell(disk: Disk, folder: Folder, { name, type }: StorageItem, toName: string): Promise<void> {
	const between = withSuffix(toName, type, ` (${randomName().slice(0, 8)})`);
	await renameAny(disk, type, { from: folder, fromName: name, to: folder, toName: between });
	try {
		await disk.syncs.sync(folder);
		await renameAny(disk, type, { from: folder, fromName: between, to: folder, toName });
	} catch (error) {
		// Somebody else took the new one.
		await renameAny(disk, type, { from: folder, fromName: between, to: folder, toName: name }).catch(() => {});
		throw error;
	}
}

/** Syncs a file that another program may have written. */
async function syncFile(disk: Disk, folder: Folder, { name, id }: StorageItem, path: StoragePath): Promise<void> {
	const fd = await open(folder.at(name), readFileFlags);
	try {
		if (objectId(await disk.statOf(fd)) !== id) throw noSuchEntry(path);
		await fsync(fd);
	} finally {
		closeSync(fd);
	}
}

/** The current state of a moved item: it may have been moved on since, or replaced. */
export async function itemNow(disk: Disk, folder: Folder, name: string, before: StorageItem): Promise<StorageItem> {
	// The move is done, even if the stat fails.
	const after = await itemAt(disk, folder, name).catch(() => undefined);
	return after?.id === before.id ? after : { ...before, name };
}

/** Refuses items that can't be moved or copied in any state of the disk. */
export function assertApart(from: StoragePath, to: StoragePath, isReplacing = false): void {
	if (to === rootPath) throw isReplacing ? fileChanged() : nameTaken(to);
	if (from === rootPath) throw intoItself();
}

/**
 * The error of a move that the system refuses: its paths do not lead into itself, but the target may have been moved
 * there since. A name that the file system does not support is refused alike.
 */
function impossibleMove({ type }: StorageItem, from: StoragePath, to: StoragePath): Failure {
	const mayBeIntoItself = type === 'directory' && parentPath(from) !== parentPath(to);
	return mayBeIntoItself ? intoItself() : new Failure('invalidName', invalidNameMessage);
}

export function intoItself(): Failure {
	return new Failure('invalid', 'A folder cannot be put into itself.');
}
