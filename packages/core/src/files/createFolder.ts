import type { ItemRef } from '@stowage/plugin-api';
import {
	assertAllowed,
	createFolderDenial,
	type Entry,
	Failure,
	isFailure,
	joinPath,
	normalizeName,
	trimName,
	type Viewer,
} from '@stowage/rules';
import { placeIn } from '../trees/Tree.js';
import { entryIn } from './entries.js';
import type { FileParts } from './FileParts.js';

/** Creates a folder in a folder that is there. */
export async function createFolder({ trees }: FileParts, viewer: Viewer, ref: ItemRef, name: string): Promise<Entry> {
	assertAllowed(createFolderDenial(viewer, ref));
	if (trimName(name) === '') throw new Failure('invalidName', 'Please enter a folder name');
	const tree = trees.own(viewer, ref.area);
	const parent = placeIn(tree, ref.path);
	const storagePath = joinPath(parent.storagePath, normalizeName(name));
	const made = await tree.quota.adding(async ({ add }) => {
		await add({ bytes: 0, entries: 1 });
		return tree
			.withCreated(() => tree.storage.makeDirectory(storagePath))
			.catch((error: unknown) => {
				if (!isFailure(error, 'notFound')) throw error;
				throw new Failure('notFound', `There is no such folder: ${ref.path}`, { cause: error });
			});
	});
	tree.notifyChange(storagePath);
	return entryIn(parent, made, 0);
}
