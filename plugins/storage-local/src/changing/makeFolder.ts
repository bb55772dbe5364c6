import type { StorageItem } from '@stowage/plugin-api';
import { baseName, rootPath, type StoragePath } from '@stowage/rules';
import { itemAt } from '../reading/items.js';
import type { Disk } from '../root/Disk.js';
import { randomName } from '../root/privateFolder.js';
import { mkdir } from '../system/descriptors.js';
import { isSystemError, nameTaken } from '../system/systemErrors.js';

export async function makeFolder(disk: Disk, path: StoragePath): Promise<StorageItem> {
	if (path === rootPath) throw nameTaken(path);
	using folder = await disk.parentOf(path, 'read');
	await disk.locks.hold([folder], () => mkdir(folder.at(baseName(path))));
	await disk.syncs.sync(folder);
	return await itemAt(disk, folder, baseName(path)).catch((error: unknown) => {
		// Created, and moved or removed since: it existed all the same.
		if (!isSystemError(error, 'ENOENT')) throw error;
		const id = randomName();
		return { name: baseName(path), type: 'directory', size: 0, mtime: Date.now(), id, version: id };
	});
}
