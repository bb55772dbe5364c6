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
import { AdaptiveBatch, Damaged, statMany } from './statMany.js';

/** The rows of a folder, a batch at a time. Items that vanish meanwhile are left out, damaged ones are unreadable. */
export async function* listFolder(disk: Disk, path: StoragePath): AsyncGenerator<StorageEntry[]> {
	try {
		using folder = await disk.folder(path, 'read');
		const stats = new AdaptiveBatch();
		for await (const batch of disk.calls.readNames(folder)) {
			const rows = await statAll(disk, folder, visibleEntries(batch, path), stats);
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
		count += visibleEntries(batch, path).size - visibleEntries(unknown, path).size;
		if (unknown.length > 0) count += (await statAll(disk, folder, visibleEntries(unknown, path), stats)).length;
	}
	return count;
}

/** The types that came with the names, by the names that are listed. */
function visibleEntries(batch: readonly RawEntry[], path: StoragePath): Map<string, RawEntry['type']> {
	const entries = new Map<string, RawEntry['type']>();
	const isListed = listedNames(path);
	for (const entry of batch) {
		if (entry.type === 'other') continue;
		const name = addressableName(entry.name);
		if (name !== undefined && isListed(name) && !(path === rootPath && isPrivateName(name)))
			entries.set(name, entry.type);
	}
	return entries;
}

async function statAll(
	disk: Disk,
	folder: Folder,
	entries: ReadonlyMap<string, RawEntry['type']>,
	stats: AdaptiveBatch,
): Promise<StorageEntry[]> {
	const rows: StorageEntry[] = [];
	const damaged = new Damaged();
	const add = (row: StorageEntry | undefined) => {
		if (row !== undefined) rows.push(row);
	};
	const { entrySync } = disk.calls;
	const addNow = (name: string) => {
		try {
			add(entrySync?.(folder.fd, name));
		} catch (error) {
			damaged.add(name, error);
		}
	};
	const calls = {
		sync: disk.isLocal && entrySync !== undefined ? addNow : undefined,
		async: (name: string) => statEntry(disk, folder, name).then(add, (error: unknown) => damaged.add(name, error)),
	};
	await statMany([...entries.keys()], calls, stats);
	damaged.assertFew(entries.size);
	for (const name of damaged.names) {
		const type = entries.get(name) === 'directory' ? 'directory' : 'file';
		rows.push({ name, type, size: 0, mtime: 0, unreadable: true });
	}
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
