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
import type { Folder } from '../system/Folder.js';
import { isSystemError, nameTaken } from '../system/systemErrors.js';
import { namesFrom, takeFreeName } from '../writing/freeNames.js';

/** Moves in one step and makes both folders durable. */
export async function moveItem(
	disk: Disk,
	from: StoragePath,
	to: StoragePath,
	{ otherNames = [], beforeNaming }: MoveOptions,
): Promise<StorageItem> {
	assertApart(from, to);
	using source = await disk.parentOf(from, 'read');
	const before = await itemAt(disk, source, baseName(from));
	if (before.type === 'directory' && isWithin(parentPath(to), from)) throw intoItself();
	using target = await disk.parentOf(to, 'read');
	const taken = await takeFreeName(disk, target, namesFrom(to, otherNames), async (toName) => {
		await beforeNaming?.(toName);
		await renameAny(disk, before.type, { from: source, fromName: baseName(from), to: target, toName });
	}).catch((error: unknown) => {
		throw isSystemError(error, 'EINVAL') ? impossibleMove(before, from, to) : error;
	});
	if (taken === undefined) throw nameTaken(to);
	await disk.syncs.sync(target);
	await disk.syncs.sync(source);
	return await itemNow(disk, target, taken.name, before);
}

/** What was brought into a folder, as it is now: somebody may have moved it on since, or put something else in its place. */
export async function itemNow(disk: Disk, folder: Folder, name: string, before: StorageItem): Promise<StorageItem> {
	// The move is done, and stays so when a look at it fails.
	const after = await itemAt(disk, folder, name).catch(() => undefined);
	return after?.id === before.id ? after : { ...before, name };
}

/** Refuses what can't be moved or copied whatever is on the disk. */
export function assertApart(from: StoragePath, to: StoragePath): void {
	if (to === rootPath) throw nameTaken(to);
	if (from === rootPath) throw intoItself();
}

/** By the paths it was no move into itself, but somebody may have moved the target there since; a name that the file system can't hold is refused alike. */
function impossibleMove({ type }: StorageItem, from: StoragePath, to: StoragePath): Failure {
	const mayBeIntoItself = type === 'directory' && parentPath(from) !== parentPath(to);
	return mayBeIntoItself ? intoItself() : new Failure('invalidName', invalidNameMessage);
}

export function intoItself(): Failure {
	return new Failure('invalid', 'A folder cannot be put into itself.');
}
