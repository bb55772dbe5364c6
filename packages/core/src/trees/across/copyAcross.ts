import { type CopyOptions, hasAccess, type StorageItem, type StorageProvider } from '@stowage/plugin-api';
import { Failure, joinPath, parentPath, type StoragePath } from '@stowage/rules';
import { ignoreMissing } from '../storage/Mounts.js';
import { beginTree, filePrefix, findTree, newTree, treePrefix, whileTouched } from './copies.js';
import {
	type ContentsOptions,
	copyAccess,
	copyContents,
	copyFile,
	copyFolderTime,
	findPublished,
} from './copyContents.js';

type Options = CopyOptions & Pick<ContentsOptions, 'keepsAccess'>;

/**
 * Copies a file or a whole folder to another root, where it appears complete or not at all. The modified times are
 * kept, those of folders where the target can set them. Continues a staged copy as `StorageProvider.copy` does, but
 * restarts the file at which it was interrupted.
 */
export async function copyAcross(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	to: StoragePath,
	{ keepsAccess = false, ...options }: Options,
): Promise<StorageItem> {
	const item = await source.stat(from);
	if (item.type === 'directory' && (options.onConflict ?? 'fail') !== 'fail')
		throw new Failure('invalid', 'Only a file can take the place of a file.');
	if (item.type === 'directory') return copyTree(source, from, target, to, { ...options, keepsAccess });
	const made = await copyFile(source, from, target, to, options);
	// Of one that was moved or removed meanwhile the copy is there all the same, and its caller looks.
	if (keepsAccess) await copyAccess(source, from, target, joinPath(parentPath(to), made.name)).catch(ignoreMissing);
	return made;
}

/** The item at `to`, or under the recorded name, if it is the staged copy of this id. Nothing is copied, and nothing discarded. */
export async function findCopyAcross(
	target: StorageProvider,
	id: string,
	to: StoragePath,
	name: string | undefined,
): Promise<StorageItem | undefined> {
	if (id.startsWith(filePrefix)) return findPublished(target, id.slice(filePrefix.length), to, name);
	if (!id.startsWith(treePrefix)) return undefined;
	const found = await findTree(target, id, to, name);
	return found?.isDone ? found.item : undefined;
}

async function copyTree(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	to: StoragePath,
	{ staged, otherNames = [], beforeNaming, ...options }: Options,
): Promise<StorageItem> {
	const published = staged?.id?.startsWith(treePrefix) ? await findTree(target, staged.id, to, staged.name) : undefined;
	if (published?.isDone) return published.item;
	const folder = published?.folder ?? newTree();
	try {
		if (published === undefined) await beginTree(target, folder, staged?.onBegin);
		if (hasAccess(target)) await target.inheritAccess(folder, parentPath(to));
		const fill = () => copyContents(source, from, target, folder, options);
		await (staged === undefined ? whileTouched(target, folder, fill) : fill());
		if (options.keepsAccess) await copyAccess(source, from, target, folder);
		const made = await target.move(folder, to, { otherNames, beforeNaming });
		// Not earlier: a copy that looks old is swept.
		const at = joinPath(parentPath(to), made.name);
		await copyFolderTime(source, from, target, at);
		return await target.stat(at);
	} catch (error) {
		if (staged === undefined) await target.remove(folder).catch(ignoreMissing);
		throw error;
	}
}
