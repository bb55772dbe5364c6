import type { ReplaceVersion, StorageItem } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import type { OwnTree } from '../trees/OwnTree.js';
import type { FileParts } from './FileParts.js';

/** Replaces the file at a path of the storage, `replaced`, by `commit`, which is to pass on its options. It counts in the quota no more. */
export async function replaceItem(
	_parts: FileParts,
	tree: OwnTree,
	_path: StoragePath,
	replaced: StorageItem,
	commit: (options: ReplaceVersion) => Promise<StorageItem>,
): Promise<StorageItem> {
	let item: StorageItem | undefined;
	await tree.quota.removing(
		async () => replaced,
		async () => {
			item = await commit({ replace: replaced.version });
		},
	);
	return item as StorageItem;
}
