import type { MoveOptions, StorageItem } from '@stowage/plugin-api';
import {
	baseName,
	Failure,
	invalidNameMessage,
	isWithin,
	parentPath,
	rootPath,
	type StoragePath,
} from '@stowage/rules';
import { itemAt } from '../reading/items.js';
import type { Disk } from '../root/Disk.js';
import { renameAny } from '../root/renaming.js';
import { closeSync, fsync, open } from '../system/descriptors.js';
import { objectId } from '../system/fileStat.js';
import { type Folder, readFileFlags } from '../system/openFolder.js';
import { fileChanged, isSystemError, nameTaken, noSuchEntry } from '../system/systemErrors.js';
import { claimFreeName, namesFrom, replacement } from '../writing/freeNames.js';
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
	const taken = await claimFreeName(disk, target, namesFrom(to, otherNames), async (toName) => {
		await beforeNaming?.(toName);
		await renameAny(disk, before.type, { from: source, fromName: baseName(from), to: target, toName });
	}).catch((error: unknown) => {
		throw isSystemError(error, 'EINVAL') ? impossibleMove(before, from, to) : error;
	});
	if (taken === undefined) throw nameTaken(to);
	await disk.syncs.syncAll([target, source]);
	return await itemNow(disk, target, taken.name, before);
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
