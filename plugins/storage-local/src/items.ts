import type { OpenFile, StorageItem } from '@stowage/plugin-api';
import { baseName, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from './Disk.js';
import { closeSync, open } from './descriptors.js';
import type { Folder } from './Folder.js';
import { itemOf } from './facts.js';
import { noSuchEntry } from './faults.js';
import { OpenLocalFile } from './OpenLocalFile.js';
import { readFileFlags } from './opening.js';

/** What lies at `path`. Throws `notFound` for what is neither file nor folder. */
export async function statItem(disk: Disk, path: StoragePath): Promise<StorageItem> {
	if (path === rootPath) {
		using root = await disk.folder(path, 'pass');
		return itemOf('', { ...(await disk.factsOf(root.fd)), type: 'directory' });
	}
	using folder = await disk.parentOf(path, 'pass');
	return await itemAt(disk, folder, baseName(path));
}

/** The same where the folder is open already. */
export async function itemAt(disk: Disk, folder: Folder, name: string): Promise<StorageItem> {
	const facts = await disk.factsAt(folder, name);
	// A name is a path of one segment.
	if (facts.type === 'other') throw noSuchEntry(name as StoragePath);
	return itemOf(name, { ...facts, type: facts.type });
}

/** Opens a file. Throws `notFound` for anything else, also for a pipe that nobody writes to, and does not wait for it. */
export async function openItem(disk: Disk, path: StoragePath): Promise<OpenFile> {
	if (path === rootPath) throw noSuchEntry(path);
	using folder = await disk.parentOf(path, 'pass');
	const name = baseName(path);
	const fd = disk.openCached(folder, name, readFileFlags) ?? (await open(folder.at(name), readFileFlags));
	try {
		const facts = await disk.factsOf(fd);
		if (facts.type !== 'file') throw noSuchEntry(path);
		return new OpenLocalFile(fd, itemOf(name, { ...facts, type: 'file' }), facts, disk);
	} catch (error) {
		closeSync(fd);
		throw error;
	}
}
