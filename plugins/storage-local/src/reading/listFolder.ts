import type { StorageEntry } from '@stowage/plugin-api';
import { listedNames, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { isPrivateName } from '../root/privateFolder.js';
import { lstat } from '../system/descriptors.js';
import { toEntry } from '../system/fileStat.js';
import type { Folder } from '../system/openFolder.js';
import { mayReadByMode } from '../system/permissions.js';
import { addressableName, type RawEntry } from '../system/rawNames.js';
import { isSystemError, toFailure } from '../system/systemErrors.js';
import { AdaptiveBatch, statMany } from './statMany.js';

/** The rows of a folder, a batch at a time. Items that vanish meanwhile are left out. */
export async function* listFolder(disk: Disk, path: StoragePath): AsyncGenerator<StorageEntry[]> {
	try {
		using folder = await disk.folder(path, 'read');
		const stats = new AdaptiveBatch();
		for await (const batch of disk.calls.readNames(folder)) {
			const rows = await statAll(disk, folder, visibleNames(batch, path), stats);
			if (rows.length > 0) yield rows;
		}
	} catch (error) {
		throw toFailure(error, path);
	}
}

/** The number of rows of a folder. Stats an entry only if its type is not returned with its name. */
export async function countFolder(disk: Disk, path: StoragePath): Promise<number> {
	using folder = await disk.folder(path, 'read');
	const stats = new AdaptiveBatch();
	let count = 0;
	for await (const batch of disk.calls.readNames(folder)) {
		const unknown = batch.filter((entry) => entry.type === 'unknown');
		count += visibleNames(batch, path).length - visibleNames(unknown, path).length;
		if (unknown.length > 0) count += (await statAll(disk, folder, visibleNames(unknown, path), stats)).length;
	}
	return count;
}

function visibleNames(batch: readonly RawEntry[], path: StoragePath): string[] {
	const names: string[] = [];
	const isListed = listedNames(path);
	for (const entry of batch) {
		if (entry.type === 'other') continue;
		const name = addressableName(entry.name);
		if (name !== undefined && isListed(name) && !(path === rootPath && isPrivateName(name))) names.push(name);
	}
	return names;
}

async function statAll(
	disk: Disk,
	folder: Folder,
	names: readonly string[],
	stats: AdaptiveBatch,
): Promise<StorageEntry[]> {
	const rows: StorageEntry[] = [];
	const add = (row: StorageEntry | undefined) => {
		if (row !== undefined) rows.push(row);
	};
	const { entrySync } = disk.calls;
	const calls = {
		sync: disk.isLocal && entrySync !== undefined ? (name: string) => add(entrySync(folder.fd, name)) : undefined,
		async: async (name: string) => add(await statEntry(disk, folder, name)),
	};
	await statMany(names, calls, stats);
	return rows;
}

async function statEntry(disk: Disk, folder: Folder, name: string): Promise<StorageEntry | undefined> {
	try {
		const stats = await lstat(folder.at(name));
		const row = toEntry(name, stats);
		if (row === undefined || mayReadByMode(stats, row.type)) return row;
		return (await disk.calls.mayRead(folder, name, row.type)) ? row : { ...row, unreadable: true };
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return undefined;
		throw error;
	}
}
