import { type MoveOptions, type StorageItem, trashFolder } from '@stowage/plugin-api';
import { homeRoot, relativePath, type StoragePath, signedIn } from '@stowage/rules';
import type { OwnTree } from '../../trees/OwnTree.js';
import { withTrashFolder } from '../../trees/trash/moveTrash.js';
import { type NewContent, trashedBy } from '../../trees/trash/trashParts.js';
import { unrecordedFolder } from '../../trees/trash/trashPaths.js';
import type { FileParts } from '../FileParts.js';

/**
 * Replaces the file at a path of the storage, `replaced`, by `commit`, which is to pass on its options. Its former
 * content becomes a version, or counts in the quota no more where none are kept. There a member of a folder puts it into the trash, as
 * what members delete, unless there is none either. Links and older versions stay with the path.
 */
export async function replaceItem(
	{ storage, versions, tracker, trash }: FileParts,
	tree: OwnTree,
	path: StoragePath,
	replaced: StorageItem,
	content: NewContent,
	commit: (options: Pick<MoveOptions, 'onConflict' | 'beforeNaming'>) => Promise<StorageItem>,
): Promise<StorageItem> {
	const user = signedIn(tree.viewer);
	const former = { user, storage: tree.storage, path: relativePath(path, homeRoot(user.username)), item: replaced };
	const replace = (keepAs?: StoragePath, beforeNaming?: () => Promise<void>) =>
		commit({ onConflict: { replace: replaced.version, keepAs }, beforeNaming });
	const followed = async (replacing: Promise<StorageItem>) => {
		const made = await replacing;
		await versions.follow(former, made);
		return made;
	};
	const keepDeleted = async () => {
		const rootId = (await tree.storage.mount()).storage.rootId;
		let made: StorageItem | undefined;
		await trash.moves.keep({ ...trashedBy(user), path: former.path, rootId, type: 'file' }, async (_, to) => {
			made = await followed(withTrashFolder(tree.storage, () => replace(to), [trashFolder, unrecordedFolder]));
			return replaced;
		});
		return made as StorageItem;
	};
	// Until all is bound to the new file that was to the former one: on another root both have other ids.
	return storage().changing(user.username, () =>
		tracker.replacing(user, async () => {
			if (versions.isOn) return versions.keep(former, content, replace);
			if (user.member !== undefined && trash.isOn) return keepDeleted();
			return tree.quota.replacing(replaced, () => followed(replace()));
		}),
	);
}

/** All of these in one, in their order: the last one is called right before the item gets its name. */
export function beforeNamingInOrder(
	...calls: readonly MoveOptions['beforeNaming'][]
): NonNullable<MoveOptions['beforeNaming']> {
	return async (name) => {
		for (const call of calls) await call?.(name);
	};
}
