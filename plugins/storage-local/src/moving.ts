import type { StorageItem } from '@stowage/plugin-api';
import {
	baseName,
	Failure,
	invalidNameMessage,
	isWithin,
	parentPath,
	rootPath,
	type StoragePath,
} from '@stowage/rules';
import type { Disk } from './Disk.js';
import type { Folder } from './Folder.js';
import { isFault, nameTaken } from './faults.js';
import { itemAt } from './items.js';
import { renameAny } from './publishing.js';

/** Moves in one step and makes both folders durable. */
export async function moveItem(disk: Disk, from: StoragePath, to: StoragePath): Promise<StorageItem> {
	demandApart(from, to);
	using source = await disk.parentOf(from, 'read');
	const before = await itemAt(disk, source, from);
	if (before.type === 'directory' && isWithin(to, from)) throw intoItself();
	using target = await disk.parentOf(to, 'read');
	const renaming = { from: source, fromName: baseName(from), to: target, toName: baseName(to) };
	await renameAny(disk, before.type, renaming).catch((error: unknown) => {
		throw isFault(error, 'EINVAL') ? impossibleMove(before, from, to) : error;
	});
	await disk.syncs.sync(target);
	await disk.syncs.sync(source);
	return await itemNow(disk, target, to, before);
}

/** What was brought to `path`, as it is now: somebody may have moved it on since, or put something else in its place. */
export async function itemNow(
	disk: Disk,
	folder: Folder,
	path: StoragePath,
	before: StorageItem,
): Promise<StorageItem> {
	const after = await itemAt(disk, folder, path).catch(() => undefined);
	return after?.id === before.id ? after : { ...before, name: baseName(path) };
}

/** Refuses what can't be moved or copied whatever is on the disk. */
export function demandApart(from: StoragePath, to: StoragePath): void {
	if (to === rootPath || from === to) throw nameTaken(to);
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
