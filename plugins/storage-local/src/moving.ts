import type { StorageItem } from '@stowage/plugin-api';
import { baseName, Failure, isWithin, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from './Disk.js';
import { nameTaken } from './faults.js';
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
	await renameAny(disk, before.type, renaming);
	await disk.syncs.sync(target);
	await disk.syncs.sync(source);
	const after = await itemAt(disk, target, to).catch(() => undefined);
	// Somebody may have moved it on by now, or put something else in its place.
	return after?.id === before.id ? after : { ...before, name: baseName(to) };
}

/** Refuses what can't be moved or copied whatever is on the disk. */
export function demandApart(from: StoragePath, to: StoragePath): void {
	if (to === rootPath || from === to) throw nameTaken(to);
	if (from === rootPath) throw intoItself();
}

export function intoItself(): Failure {
	return new Failure('invalid', 'A folder cannot be put into itself.');
}
