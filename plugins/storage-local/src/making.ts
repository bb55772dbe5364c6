import type { StorageItem } from '@stowage/plugin-api';
import { baseName, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from './Disk.js';
import { mkdir } from './descriptors.js';
import { nameTaken } from './faults.js';
import { itemAt } from './items.js';

export async function makeFolder(disk: Disk, path: StoragePath): Promise<StorageItem> {
	if (path === rootPath) throw nameTaken(path);
	using folder = await disk.parentOf(path, 'read');
	await disk.locks.hold([folder], () => mkdir(folder.at(baseName(path))));
	await disk.syncs.sync(folder);
	return await itemAt(disk, folder, path);
}
