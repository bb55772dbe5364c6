import {
	type RemovalOptions,
	type RemoveOptions,
	type StatsBatch,
	type TakenItem,
	trashFolder,
} from '@stowage/plugin-api';
import {
	baseName,
	Failure,
	homeRoot,
	isFailure,
	joinChecked,
	relativePath,
	type StoragePath,
	writingOwner,
} from '@stowage/rules';
import type { OwnTree } from '../trees/OwnTree.js';
import type { HomeStorage } from '../trees/storage/HomeStorage.js';
import type { Place } from '../trees/Tree.js';
import { withTrashFolder } from '../trees/trash/moveTrash.js';
import type { Kept } from '../trees/trash/TrashMoves.js';
import { trashedBy } from '../trees/trash/trashParts.js';
import { trashedLinkPath, trashedPath, unrecordedFolder } from '../trees/trash/trashPaths.js';
import type { FileParts } from './FileParts.js';
import { putBack } from './trash.js';

interface KeepOptions {
	/** It is removed for good after that: also where the database has no room for what is kept. @default false */
	isForGood?: boolean;
}

/** What is said in the trash of an item that the viewer of a tree has deleted. */
export function deletedItem({ viewer }: OwnTree, { storagePath }: Place) {
	return {
		...trashedBy(viewer),
		path: relativePath(storagePath, homeRoot(writingOwner(viewer))),
	};
}

/** Puts an item of a tree into the trash, with the links to it. */
export async function moveToTrash(
	{ trash, tracker }: FileParts,
	tree: OwnTree,
	place: Place,
	options: KeepOptions = {},
): Promise<Kept> {
	const { storage, viewer } = tree;
	const { storagePath } = place;
	const home = homeRoot(writingOwner(viewer));
	const { type } = await storage.stat(storagePath);
	// It would be taken into the trash, and be removed there.
	if (type === 'directory') await storage.assertUnmounted(storagePath);
	const kept = { ...deletedItem(tree, place), rootId: (await storage.mount()).storage.rootId, type };
	const move = (id: string, to: StoragePath) =>
		tracker.moving(viewer, storagePath, async (before) => {
			await before(joinChecked(home, trashedLinkPath(id)));
			const moved = () => storage.moveFrom(storage, storagePath, to);
			return withTrashFolder(storage, moved, [trashFolder, unrecordedFolder]);
		});
	const done = await trash.moves.keep(kept, move, options).catch((error: unknown) => {
		// Another disk is mounted within the root.
		if (!isFailure(error, 'conflict')) throw error;
		throw new Failure('conflict', `${error.message} It can’t be moved to the trash, but deleted forever.`, {
			cause: error,
		});
	});
	tree.notifyChange(storagePath);
	return done;
}

/**
 * Puts an item into the trash if it is what is meant, which is asked once it is there; anything else gets its path again. So what
 * somebody else has put in its place is not removed with it, and wherever this is interrupted nothing is lost.
 */
export async function moveMeantToTrash(
	parts: FileParts,
	tree: OwnTree,
	place: Place,
	isMeant: NonNullable<RemoveOptions['isMeant']>,
	options: KeepOptions = {},
): Promise<Kept> {
	const { storage, viewer } = tree;
	const before = await storage.stat(place.storagePath);
	const moved = await moveToTrash(parts, tree, place, options);
	const { id, path, item } = moved;
	const isAsBefore = item.id === before.id && item.size === before.size && item.mtime === before.mtime;
	const taken: TakenItem = {
		// A file has another version once it was moved.
		item: isAsBefore ? before : item,
		list: (folder) => listMoved(storage, [path, trashedPath(id)], folder),
	};
	let refusal: unknown = new Failure('preconditionFailed', `${baseName(place.path)} was changed meanwhile.`);
	try {
		if (await isMeant(taken)) return moved;
	} catch (error) {
		// What says that something in it is missing would say that it is gone itself.
		if (!isFailure(error, 'notFound')) refusal = error;
	}
	try {
		await parts.trash.moves.takeOut(id, trashedBy(viewer).ownerId, (record) => putBack(parts, viewer, record));
	} catch (cause) {
		const message = `${baseName(place.path)} was changed meanwhile, and could not be put back: it is in the trash.`;
		throw new Failure('conflict', message, { cause });
	}
	throw refusal;
}

/** Removes for good what was just put into the trash. On a full disk, where nothing can be recorded, too: it is what makes room. */
export async function purgeMoved({ trash }: FileParts, tree: OwnTree, { id, path }: Kept): Promise<void> {
	try {
		await trash.purge({ ids: [id] });
	} catch (error) {
		const remove = (options: RemovalOptions = {}) => tree.storage.remove(path, options);
		// It has its own name by now, and a row.
		const orFail = (cause: unknown) => Promise.reject(isFailure(cause, 'notFound') ? error : cause);
		await (tree.viewer.kind === 'user' ? tree.quota.removing(remove) : remove()).catch(orFail);
	}
}

/** Lists a folder in an item of the trash, which gets another path there at any time. */
async function* listMoved(
	storage: HomeStorage,
	[arrived, own]: readonly [StoragePath, StoragePath],
	folder: StoragePath,
): AsyncGenerator<StatsBatch> {
	try {
		yield* storage.listWithStats(joinChecked(arrived, folder));
	} catch (error) {
		// It throws that before the first batch.
		if (!isFailure(error, 'notFound')) throw error;
		yield* storage.listWithStats(joinChecked(own, folder));
	}
}
