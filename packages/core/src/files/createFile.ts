import type { ItemRef } from '@stowage/plugin-api';
import {
	assertAllowed,
	createFolderDenial,
	type Entry,
	Failure,
	joinPath,
	normalizeName,
	trimName,
	type Viewer,
} from '@stowage/rules';
import { assertFolder } from '../trees/OwnTree.js';
import { placeIn } from '../trees/Tree.js';
import { entryIn } from './entries.js';
import type { FileParts } from './FileParts.js';

/** Creates an empty file in a folder that is there. */
export async function createFile(
	{ trees, versions }: FileParts,
	viewer: Viewer,
	ref: ItemRef,
	name: string,
): Promise<Entry> {
	assertAllowed(createFolderDenial(viewer, ref));
	if (trimName(name) === '') throw new Failure('invalidName', 'Please enter a file name');
	const tree = trees.own(viewer, ref.area);
	const parent = placeIn(tree, ref.path);
	const storagePath = joinPath(parent.storagePath, normalizeName(name));
	await (await tree.space()).assertSpace();
	const made = await tree.quota.adding(async ({ add }) => {
		await add({ bytes: 0, entries: 1 });
		await tree.withCreated(() => assertFolder(tree.storage, parent.storagePath));
		const staged = await tree.storage.begin();
		try {
			await tree.assertMayStill(storagePath);
			return await staged.commit(storagePath);
		} catch (error) {
			await staged.discard();
			throw error;
		}
	});
	await versions.created(viewer, made);
	tree.notifyChange(storagePath);
	return entryIn(parent, made);
}
