import { setTimeout as wait } from 'node:timers/promises';
import { type StorageProvider, type TrashRecord, trashFolder } from '@stowage/plugin-api';
import { Failure, isFailure, type StoragePath, undefinedIf } from '@stowage/rules';
import { copiesFolder, newTree } from '../across/copies.js';
import { copyAcross } from '../across/copyAcross.js';
import { cannotCopyAll, walkHome } from '../across/walkHome.js';
import { availableSpace, createSpaceGuards } from '../space/freeSpace.js';
import { ensureFolder } from '../storage/folders.js';
import { type ItemStorage, ignoreMissing, type Mount } from '../storage/Mounts.js';
import { locateTrashed } from './locateTrashed.js';
import { writeNotes } from './recording/TrashNotes.js';
import { type TrashParts, trashBatch, warnOfTrash } from './trashParts.js';
import { trashedLinkPath, trashedPath } from './trashPaths.js';
import { BeingMoved } from './versions/PlannedMoves.js';

/** How long the move of a whole trash rests before it tries again what it could not move, at first and at most. */
const restMs = { first: 1_000, most: 60_000 };

/**
 * Moves an item to the trash of the root on which its home lies now, where it has its own name after that. Throws `notFound` for one
 * that is in no trash, `conflict` for a folder with something that a copy would lack, which stays where it is, and `locked` while its
 * versions are on their way.
 */
export async function moveTrashed(parts: TrashParts, record: TrashRecord, target: Mount): Promise<void> {
	await (await copyTrashed(parts, record, target))?.();
}

/**
 * Copies an item to the trash of another root. Resolves to a function that removes the original, or to undefined where it has been moved
 * already. After each step a row leads to the item, whichever of the two that names (`locateTrashed`), and nothing stays that no row
 * leads to: the copy is there before the original leaves its trash, the original has left it before the row names the copy, and without a
 * row the copy is removed. Both throw as `moveTrashed` does.
 */
async function copyTrashed(
	parts: TrashParts,
	record: TrashRecord,
	target: Mount,
): Promise<(() => Promise<void>) | undefined> {
	const located = await locateTrashed(parts, record);
	if (located === undefined) throw notInTrash();
	const path = trashedPath(record.id);
	const source = located.mount.storage;
	// Whoever else gives it that name has moved it there, too.
	if (located.path !== path) await source.move(located.path, path).catch(ignoreMissing);
	if (source === target.storage) return undefined;
	const orMovedByOthers = async (work: () => Promise<void>): Promise<boolean> => {
		try {
			await work();
			return false;
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
			// Another call has moved it there, restored it or removed it meanwhile.
			const found = await locateTrashed(parts, record);
			if (found === undefined) throw notInTrash();
			if (found.mount.storage !== target.storage) throw error;
			return true;
		}
	};
	if (await orMovedByOthers(() => copyBetween(parts, record, located.mount, target))) return undefined;
	return async () => void (await orMovedByOthers(() => leaveFormer(parts, record, source, target.storage)));
}

async function copyBetween(parts: TrashParts, record: TrashRecord, from: Mount, to: Mount): Promise<void> {
	const path = trashedPath(record.id);
	const [source, target] = [from.storage, to.storage];
	// By a wrong path its versions would not be found.
	if ((await parts.completeMoves(record.ownerId)).leadTo(trashedLinkPath(record.id))) throw new BeingMoved();
	await assertCopyable(source, path, record);
	// It is there whole or not at all: an earlier call was interrupted after it.
	if ((await undefinedIf(target.stat(path), 'notFound')) !== undefined) return parts.onMovedAcross(record, from, to);
	// What is deleted takes nobody's trash, and nothing of what is kept free.
	const { user: guard } = createSpaceGuards(
		() => availableSpace(target, parts.config.uploads),
		async () => false,
	);
	const grants = guard.beginGrants();
	const options = { beforeBytes: grants.reserve, keepsAccess: true };
	try {
		await withTrashFolder(target, () => copyAcross(source, path, target, path, options));
	} catch (error) {
		// Another call was faster.
		if (!isFailure(error, 'alreadyExists')) throw error;
	} finally {
		grants.end();
	}
	await parts.onMovedAcross(record, from, to);
	await target.stat(path);
}

/** Takes an item out of the trash of a root, in which it was, once it is in that of another one. */
async function leaveFormer(
	parts: TrashParts,
	record: TrashRecord,
	source: StorageProvider,
	target: StorageProvider,
): Promise<void> {
	const path = trashedPath(record.id);
	// It may have been removed since it was copied.
	await target.stat(path);
	const aside = await setAside(source, path);
	const hasRow = await parts.store.setRoot(record.id, target.rootId);
	// Restored or removed for good while it was copied.
	if (!hasRow) await target.remove(path).catch(ignoreMissing);
	// What can't be removed now is swept.
	if (aside !== undefined) await source.remove(aside).catch((error: unknown) => warnOfTrash(parts, error));
	if (!hasRow) throw notInTrash();
}

/** Throws `conflict` for a folder in the trash with links and the like, which no list has: they would go with the original. */
async function assertCopyable(source: StorageProvider, path: StoragePath, record: TrashRecord): Promise<void> {
	if ((await source.stat(path)).type !== 'directory') return;
	try {
		for await (const _ of walkHome(source, path, new AbortController().signal));
	} catch (error) {
		throw isFailure(error, 'conflict') ? cannotCopyAll(record.path, error) : error;
	}
}

/** Takes an item out of the trash of a root in one step, to where a sweep removes it. Undefined if it was not there. */
async function setAside(storage: StorageProvider, path: StoragePath): Promise<StoragePath | undefined> {
	const aside = newTree();
	await ensureFolder(storage, copiesFolder);
	const moved = await undefinedIf(storage.move(path, aside), 'notFound');
	return moved === undefined ? undefined : aside;
}

/**
 * Moves all items of a user to the trash of another root. Those of which a copy would lack something, or for which there is no room, stay
 * where they are, in the list as before.
 */
export async function moveAllTrash(
	parts: TrashParts,
	ownerId: string,
	target: Mount,
	signal: AbortSignal,
	rest = restMs,
): Promise<void> {
	const { storage } = parts;
	const others = storage()
		.mounts()
		.filter((mount) => mount.storage !== target.storage);
	for (const { rootId } of others.map((mount) => mount.storage)) {
		const staying = new Set<string>();
		for (let ms = rest.first; ; ms = Math.min(2 * ms, rest.most)) {
			const { seen, left } = await moveRound(parts, { ownerId, rootId }, target, staying, signal);
			if (seen === 0) break;
			// They may be moved in a while: a copy was swept, or another process works on it.
			if (left > 0) await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
		}
	}
}

/**
 * Tries each of a user's items in the trash of one root once, but for those that stay there, to which it adds. Resolves to how many there
 * were, and how many of them may be moved later.
 */
async function moveRound(
	parts: TrashParts,
	of: { ownerId: string; rootId: string },
	target: Mount,
	staying: Set<string>,
	signal: AbortSignal,
): Promise<{ seen: number; left: number }> {
	const { store } = parts;
	let [seen, left] = [0, 0];
	for (let after: TrashRecord | undefined; ; ) {
		const records = await store.list({ order: 'oldest', limit: trashBatch, after, ...of });
		const copied: { record: TrashRecord; leave: () => Promise<void> }[] = [];
		for (const record of records) {
			signal.throwIfAborted();
			if (staying.has(record.id)) continue;
			seen++;
			await unlessStaying(record, async () => {
				const leave = await copyTrashed(parts, record, target);
				if (leave !== undefined) copied.push({ record, leave });
			});
		}
		// Before the originals go, whose notes are beside these.
		await noteCopied(
			parts,
			copied.map(({ record }) => record.id),
			target,
		);
		for (const { record, leave } of copied) await unlessStaying(record, leave);
		for (const record of records) {
			if (staying.has(record.id)) continue;
			if ((await store.get(record.id))?.rootId !== of.rootId) continue;
			if ((await locateTrashed(parts, record)) === undefined) await store.remove([record.id]);
			else left++;
		}
		after = records.at(-1);
		if (records.length < trashBatch) return { seen, left };
	}

	async function unlessStaying({ id }: TrashRecord, work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (error) {
			if (isFailure(error, 'conflict') || isFailure(error, 'storageFull')) {
				parts.log.warn({ err: error, item: id }, 'an item of the trash stays on the root on which its home was');
				staying.add(id);
			}
			// It may have been restored or removed meanwhile. Where its versions are still on their way, the next round moves it.
			else if (!(error instanceof BeingMoved)) ignoreMissing(error);
		}
	}
}

/** Writes what these items are beside their copies, as the rows say it now. What can't be noted is by a later start. */
async function noteCopied(parts: TrashParts, ids: readonly string[], { storage }: Mount): Promise<void> {
	if (ids.length === 0) return;
	try {
		const records = await parts.store.list({ order: 'oldest', limit: ids.length, ids });
		if (records.length > 0) await writeNotes(storage, records);
	} catch (error) {
		warnOfTrash(parts, error);
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
