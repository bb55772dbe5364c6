import type { MoveOptions, StorageItem } from '@stowage/plugin-api';
import { homeRoot, relativePath, type StoragePath, signedIn } from '@stowage/rules';
import { identityOf } from '../../trees/identity.js';
import type { OwnTree } from '../../trees/OwnTree.js';
import { withTrashFolder } from '../../trees/trash/moveTrash.js';
import { type NewContent, trashedBy } from '../../trees/trash/trashParts.js';
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
		const { rootId } = (await tree.storage.mount()).storage;
		const size = { bytes: replaced.size, entries: 1 };
		const deleted = { ...trashedBy(user), kind: 'item', rootId, path: former.path, type: 'file', size } as const;
		const exchange = (to: StoragePath, begin: () => Promise<void>) =>
			followed(withTrashFolder(tree.storage, () => replace(to, begin)));
		return trash.moves.keepReplaced(deleted, identityOf(replaced), exchange, content);
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
