import { type ItemRef, type RemoveOptions, trashFolder } from '@stowage/plugin-api';
import {
	assertAllowed,
	deleteDenial,
	Failure,
	homeRoot,
	isFailure,
	joinPath,
	relativePath,
	type User,
	type Viewer,
} from '@stowage/rules';
import type { OwnTree } from '../trees/OwnTree.js';
import { type Place, placeIn } from '../trees/Tree.js';
import { withTrashFolder } from '../trees/trash/moveTrash.js';
import { trashedLinkPath, unrecordedFolder } from '../trees/trash/trashPaths.js';
import type { FileParts } from './FileParts.js';

/**
 * Puts an item into the trash, and resolves to its id there. Where there is no trash, or for good, it is removed with
 * its contents, and links to it end.
 */
export async function remove(
	parts: FileParts,
	viewer: Viewer,
	ref: ItemRef,
	{ isForGood = false }: RemoveOptions = {},
): Promise<{ trashId?: string }> {
	assertAllowed(deleteDenial(viewer, ref));
	const tree = parts.trees.own(viewer, ref.area);
	const place = placeIn(tree, ref.path);
	if (!isForGood && parts.trash.isOn && viewer.kind === 'user') {
		const trashId = await moveToTrash(parts, viewer, tree, place);
		tree.notifyChange(place.storagePath);
		return { trashId };
	}
	await removeForGood(parts, tree, place);
	tree.notifyChange(place.storagePath);
	return {};
}

/** Refuses what `remove` would refuse. */
export async function assertRemovable({ trees }: FileParts, viewer: Viewer, ref: ItemRef): Promise<void> {
	assertAllowed(deleteDenial(viewer, ref));
	const tree = trees.own(viewer, ref.area);
	const { storagePath } = placeIn(tree, ref.path);
	await tree.storage.stat(storagePath);
	await tree.storage.assertUnmounted(storagePath);
}

async function moveToTrash(
	{ trash, tracker }: FileParts,
	viewer: User,
	{ storage }: OwnTree,
	{ storagePath }: Place,
): Promise<string> {
	const home = homeRoot(viewer.username);
	const { type } = await storage.stat(storagePath);
	// It would be taken into the trash, and be removed there.
	if (type === 'directory') await storage.assertUnmounted(storagePath);
	const kept = {
		ownerId: viewer.id,
		ownerName: viewer.username,
		rootId: (await storage.mount()).storage.rootId,
		path: relativePath(storagePath, home),
		type,
		deletedBy: viewer.member?.username ?? viewer.username,
	} as const;
	const { id } = await trash
		.keep(kept, (keptId, to) =>
			tracker.moving(viewer, storagePath, async (before) => {
				await before(joinPath(home, trashedLinkPath(keptId)));
				const move = () => storage.moveFrom(storage, storagePath, to);
				return withTrashFolder(storage, move, [trashFolder, unrecordedFolder]);
			}),
		)
		.catch((error: unknown) => {
			// Another disk is mounted within the root.
			if (!isFailure(error, 'conflict')) throw error;
			throw new Failure('conflict', `${error.message} It can’t be moved to the trash, but deleted forever.`, {
				cause: error,
			});
		});
	return id;
}

async function removeForGood({ tracker }: FileParts, tree: OwnTree, { storagePath }: Place): Promise<void> {
	await tree.quota.removing(
		() => tree.storage.stat(storagePath),
		() => tracker.removing(tree.viewer, storagePath, () => tree.storage.remove(storagePath)),
	);
}
