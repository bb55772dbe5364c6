import type { Files, ItemRef, WalkedItem } from '@stowage/plugin-api';
import { baseName, Failure, pathSegments, type StoragePath, type Viewer } from '@stowage/rules';
import { TreeDigest } from '../trees/across/walkHome.js';

/**
 * The digest of an item with all that is in it, as it is now: of paths, and of the versions of files. Throws `notFound` for
 * a missing item.
 */
export async function digestOfItem(
	files: Pick<Files, 'stat' | 'listWithStats'>,
	viewer: Viewer,
	ref: ItemRef,
	signal?: AbortSignal,
): Promise<string> {
	const digest = new TreeDigest();
	const above = pathSegments(ref.path).length;
	/** What is above may be renamed meanwhile. */
	const relative = ({ path }: WalkedItem) => pathSegments(path).slice(above).join('/') as StoragePath;
	const folders: StoragePath[] = [];
	const add = (item: WalkedItem) => {
		digest.add(relative(item), item);
		if (item.type === 'directory') folders.push(item.path);
	};
	for await (const item of files.stat(viewer, ref.area, [ref])) add(item);
	for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
		signal?.throwIfAborted();
		for await (const { items } of files.listWithStats(viewer, { ...ref, path })) items.forEach(add);
	}
	return digest.toString();
}

/** Of a move that copies: the copy would lack what was changed in the original meanwhile, so nothing is moved. */
export function changedMeanwhile(path: StoragePath): Failure {
	const sentence = `${baseName(path)} was changed while it was copied, and stays where it was.`;
	return new Failure('conflict', `${sentence} Move it again once nothing changes in it.`);
}

/** The same of one whose copy has its name already. */
export function changedAfterwards(path: StoragePath): Failure {
	const sentence = `${baseName(path)} was changed after it was copied, and stays where it was.`;
	return new Failure('conflict', `${sentence} The copy is kept too, without what was changed.`);
}
