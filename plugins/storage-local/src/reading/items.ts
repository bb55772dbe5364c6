import type { OpenFile, StorageItem } from '@stowage/plugin-api';
import { baseName, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { closeSync, open } from '../system/descriptors.js';
import { toItem } from '../system/fileStat.js';
import { type Folder, readFileFlags } from '../system/openFolder.js';
import { noSuchEntry } from '../system/systemErrors.js';
import { OpenLocalFile } from './OpenLocalFile.js';

/** The item at `path`. Throws `notFound` for anything but a file or folder. */
export async function statItem(disk: Disk, path: StoragePath): Promise<StorageItem> {
	if (path === rootPath) {
		using root = await disk.folder(path, 'path');
		return toItem('', { ...(await disk.statOf(root.fd)), type: 'directory' });
	}
	using folder = await disk.parentOf(path, 'path');
	return await itemAt(disk, folder, baseName(path));
}

/** The item of that name in an open folder. */
export async function itemAt(disk: Disk, folder: Folder, name: string): Promise<StorageItem> {
	const stat = await disk.statAt(folder, name);
	// A name is a path of one segment.
	if (stat.type === 'other') throw noSuchEntry(name as StoragePath);
	return toItem(name, { ...stat, type: stat.type });
}

/** Opens a file. Throws `notFound` for anything else, also for a pipe without a writer, and does not wait for it. */
export async function openItem(disk: Disk, path: StoragePath): Promise<OpenFile> {
	if (path === rootPath) throw noSuchEntry(path);
	using folder = await disk.parentOf(path, 'path');
	const name = baseName(path);
	const fd = disk.openNow(folder, name, readFileFlags) ?? (await open(folder.at(name), readFileFlags));
	try {
		const stat = await disk.statOf(fd);
		if (stat.type !== 'file') throw noSuchEntry(path);
		return new OpenLocalFile(fd, toItem(name, { ...stat, type: 'file' }), stat, disk);
	} catch (error) {
		closeSync(fd);
		throw error;
	}
}
