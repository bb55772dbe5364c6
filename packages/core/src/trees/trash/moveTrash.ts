import { type TrashRecord, trashFolder } from '@stowage/plugin-api';
import { Failure, isFailure, type StoragePath } from '@stowage/rules';
import { copyAcross } from '../across/copyAcross.js';
import { type ItemStorage, ignoreMissing, type Mount } from '../storage/Mounts.js';
import { locateTrashed } from './locateTrashed.js';
import { type TrashParts, trashBatch } from './trashParts.js';
import { trashedPath } from './trashPaths.js';

/**
 * Moves an item to the trash of the root on which its home lies now, where it has its own name after that. Throws `notFound` for one
 * that is in no trash.
 */
export async function moveTrashed(parts: TrashParts, record: TrashRecord, target: Mount): Promise<void> {
	const located = await locateTrashed(parts, record);
	if (located === undefined) throw notInTrash();
	const path = trashedPath(record.id);
	const source = located.mount.storage;
	// Whoever else gives it that name has moved it there, too.
	if (located.path !== path) await source.move(located.path, path).catch(ignoreMissing);
	if (source === target.storage) return;
	try {
		await withTrashFolder(target.storage, () => copyAcross(source, path, target.storage, path, {}));
	} catch (error) {
		// A copy is there whole or not at all: an earlier call was interrupted after it.
		if (!isFailure(error, 'alreadyExists')) throw error;
	}
	await parts.onMovedAcross(record, located.mount, target);
	await parts.store.setRoot(record.id, target.storage.rootId);
	await source.remove(path).catch(ignoreMissing);
}

/** Moves all items of a user to the trash of another root. */
export async function moveAllTrash(
	parts: TrashParts,
	ownerId: string,
	target: Mount,
	signal: AbortSignal,
): Promise<void> {
	const { store, storage } = parts;
	const others = storage()
		.mounts()
		.filter((mount) => mount.storage !== target.storage);
	for (const { rootId } of others.map((mount) => mount.storage)) {
		for (;;) {
			const records = await store.list({ order: 'oldest', limit: trashBatch, ownerId, rootId });
			if (records.length === 0) break;
			for (const record of records) {
				signal.throwIfAborted();
				// It may have been restored or removed meanwhile.
				await moveTrashed(parts, record, target).catch(ignoreMissing);
				const isLeft = (await store.get(record.id))?.rootId === rootId;
				if (isLeft && (await locateTrashed(parts, record)) === undefined) await store.remove([record.id]);
			}
		}
	}
}

/** Runs a move into the trash of a root, whose folders are made if they are missing. */
export async function withTrashFolder<T>(
	storage: Pick<ItemStorage, 'makeDirectory'>,
	move: () => Promise<T>,
	folders: readonly StoragePath[] = [trashFolder],
): Promise<T> {
	try {
		return await move();
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
		for (const folder of folders)
			await storage.makeDirectory(folder).catch((cause: unknown) => {
				// Another call was faster, unless it is the item that is missing: then it fails once more.
				if (!isFailure(cause, 'alreadyExists')) throw cause;
			});
		return move();
	}
}

export const notInTrash = () => new Failure('notFound', 'This is not in the trash any more.');
