import type { ItemRef, RemoveOptions } from '@stowage/plugin-api';
import { assertAllowed, deleteDenial, Failure, type Viewer } from '@stowage/rules';
import type { OwnTree } from '../trees/OwnTree.js';
import { type Place, placeIn } from '../trees/Tree.js';
import type { FileParts } from './FileParts.js';
import { deletedItem, moveMeantToTrash, moveToTrash, purgeMoved } from './moveToTrash.js';

/**
 * Puts an item into the trash, and resolves to its id there. Where there is no trash, or for good, it is removed with
 * its contents, and links to it end.
 */
export async function remove(
	parts: FileParts,
	viewer: Viewer,
	ref: ItemRef,
	{ isForGood, isMeant }: RemoveOptions = {},
): Promise<{ trashId?: string }> {
	assertAllowed(deleteDenial(viewer, ref));
	const tree = parts.trees.own(viewer, ref.area);
	const place = placeIn(tree, ref.path);
	const isKept = !isForGood && parts.trash.isOn && viewer.kind === 'user';
	if (isForGood === false && !isKept)
		throw new Failure('conflict', `There is no trash: ${ref.path} can only be deleted forever.`);
	if (isMeant !== undefined) {
		const moved = await moveMeantToTrash(parts, tree, place, isMeant, { isForGood: !isKept });
		if (isKept) return { trashId: moved.id };
		await purgeMoved(parts, tree, moved);
		return {};
	}
	if (isKept) {
		const { id } = await moveToTrash(parts, tree, place);
		return { trashId: id };
	}
	await removeForGood(parts, tree, place);
	return {};
}

/** Refuses what `remove` would refuse. */
export async function assertRemovable({ trees, trash }: FileParts, viewer: Viewer, ref: ItemRef): Promise<void> {
	assertAllowed(deleteDenial(viewer, ref));
	const tree = trees.own(viewer, ref.area);
	const place = placeIn(tree, ref.path);
	await tree.storage.stat(place.storagePath);
	await tree.storage.assertUnmounted(place.storagePath);
	if (trash.isOn)
		await trash.allowance.assertRoom({ ...deletedItem(tree, place), kind: 'item' }, { isOnlyAsked: true });
}

async function removeForGood({ tracker }: FileParts, tree: OwnTree, { storagePath }: Place): Promise<void> {
	await tree.quota.removing((options) =>
		tracker.removing(tree.viewer, storagePath, () => tree.storage.remove(storagePath, options)),
	);
	tree.notifyChange(storagePath);
}
