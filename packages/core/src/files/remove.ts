import type { ItemRef } from '@stowage/plugin-api';
import { assertAllowed, deleteDenial, type Viewer } from '@stowage/rules';
import { placeIn } from '../trees/Tree.js';
import type { FileParts } from './FileParts.js';

/** Removes a file, or a folder with its contents. Links to it end. */
export async function remove({ trees, watcher }: FileParts, viewer: Viewer, ref: ItemRef): Promise<void> {
	assertAllowed(deleteDenial(viewer, ref));
	const tree = trees.own(viewer, ref.area);
	const { storagePath } = placeIn(tree, ref.path);
	await tree.quota.removing(
		() => tree.storage.stat(storagePath),
		() => watcher.removing(viewer, storagePath, () => tree.storage.remove(storagePath)),
	);
	tree.publishChange(storagePath);
}
