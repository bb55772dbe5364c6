import type { StorageItem } from '@stowage/plugin-api';
import { baseName, Failure, rootPath, type StoragePath } from '@stowage/rules';
import { itemAt } from '../reading/items.js';
import type { Disk } from '../root/Disk.js';
import { randomName, removedFolder } from '../root/privateFolder.js';
import { rename, rmdir, unlink } from '../system/descriptors.js';
import { rawName } from '../system/rawNames.js';
import { isSystemError } from '../system/systemErrors.js';
import { assertUnmounted } from './assertUnmounted.js';
import { removeDiscarded } from './removeTree.js';

/**
 * Removes a file or folder in one step, unless something is mounted in it. Resolves, when it is durably gone, to what it was, and to
 * the remaining background work: to free the contents of a folder.
 */
export async function removeItem(
	disk: Disk,
	path: StoragePath,
): Promise<{ removed: StorageItem; freeSpace: () => Promise<void> }> {
	if (path === rootPath) throw new Failure('invalid', 'The root itself cannot be removed.');
	using folder = await disk.parentOf(path, 'read');
	const name = baseName(path);
	const found = await itemAt(disk, folder, name);
	if (found.type === 'file') {
		const removed = await disk.locks.hold([folder], async () => {
			const item = await itemAt(disk, folder, name);
			await unlink(folder.at(name));
			return item;
		});
		await disk.syncs.sync(folder);
		return { removed, freeSpace: async () => {} };
	}
	await assertUnmounted(disk, path);
	using trash = await disk.privateFolder(removedFolder, 'path');
	const discarded = randomName();
	await disk.locks.hold([folder], () => rename(folder.at(name), trash.at(discarded)));
	await disk.syncs.sync(folder);
	const freeSpace = async () => {
		using again = await disk.privateFolder(removedFolder, 'path');
		await removeDiscarded(disk, again, rawName(discarded));
	};
	return { removed: found, freeSpace };
}

/** The system itself refuses to remove a folder that is not empty, even if it was filled just now. */
export async function removeEmptyFolder(disk: Disk, path: StoragePath): Promise<void> {
	if (path === rootPath) throw new Failure('invalid', 'The root itself cannot be removed.');
	using folder = await disk.parentOf(path, 'read');
	try {
		await disk.locks.hold([folder], () => rmdir(folder.at(baseName(path))));
	} catch (cause) {
		if (!isSystemError(cause, 'ENOTEMPTY', 'EEXIST')) throw cause;
		throw new Failure('conflict', `The folder is not empty: ${baseName(path)}`, { cause });
	}
	await disk.syncs.sync(folder);
}
