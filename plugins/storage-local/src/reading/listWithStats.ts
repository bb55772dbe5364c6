import type { StatsBatch, StorageItem } from '@stowage/plugin-api';
import { listedNames, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { isPrivateName } from '../root/privateFolder.js';
import { type FileStat, toItem } from '../system/fileStat.js';
import type { Folder } from '../system/openFolder.js';
import { addressableName, type RawEntry } from '../system/rawNames.js';
import { isSystemError, toFailure } from '../system/systemErrors.js';
import { AdaptiveBatch, Damaged, statMany } from './statMany.js';

/** All readable items in a folder, and the number of others, also damaged ones. Items that vanish meanwhile are in neither. */
export async function* listWithStats(disk: Disk, path: StoragePath): AsyncGenerator<StatsBatch> {
	try {
		using folder = await disk.folder(path, 'read');
		const stats = new AdaptiveBatch();
		for await (const batch of disk.calls.readNames(folder)) {
			yield await statBatch(disk, folder, batch, path, stats);
		}
	} catch (error) {
		throw toFailure(error, path);
	}
}

async function statBatch(
	disk: Disk,
	folder: Folder,
	batch: readonly RawEntry[],
	path: StoragePath,
	stats: AdaptiveBatch,
): Promise<StatsBatch> {
	const items: StorageItem[] = [];
	const skippedNames: string[] = [];
	const add = (name: string, item: StorageItem | 'unreadable' | 'gone') => {
		if (item === 'unreadable') skippedNames.push(name);
		else if (item !== 'gone') items.push(item);
	};
	const names: string[] = [];
	const isListed = listedNames(path);
	for (const entry of batch) {
		const name = entry.type === 'other' ? undefined : addressableName(entry.name);
		if (name === undefined || !isListed(name)) skippedNames.push(Buffer.from(entry.name, 'latin1').toString());
		else if (!(path === rootPath && isPrivateName(name))) names.push(name);
	}
	const { statSync } = disk;
	const { mayReadSync } = disk.calls;
	const damaged = new Damaged();
	const addNow = (name: string) => {
		try {
			const mayRead = (type: 'file' | 'directory') => mayReadSync?.(folder.fd, name, type) === true;
			add(name, classify(name, statSync?.(folder, name), mayRead));
		} catch (error) {
			damaged.add(name, error);
		}
	};
	const calls = {
		sync: statSync !== undefined && mayReadSync !== undefined ? addNow : undefined,
		async: (name: string) =>
			statItem(disk, folder, name).then(
				(item) => add(name, item),
				(error: unknown) => damaged.add(name, error),
			),
	};
	await statMany(names, calls, stats);
	damaged.assertFew(names.length);
	skippedNames.push(...damaged.names);
	return skippedNames.length === 0 ? { items, skipped: 0 } : { items, skipped: skippedNames.length, skippedNames };
}

function classify(
	name: string,
	stat: FileStat | undefined,
	mayRead: (type: 'file' | 'directory') => boolean,
): StorageItem | 'unreadable' | 'gone' {
	if (stat === undefined) return 'gone';
	const { type } = stat;
	return type === 'other' || !mayRead(type) ? 'unreadable' : toItem(name, { ...stat, type });
}

async function statItem(disk: Disk, folder: Folder, name: string): Promise<StorageItem | 'unreadable' | 'gone'> {
	try {
		const stat = await disk.statAt(folder, name);
		const mayRead = stat.type !== 'other' && (await disk.calls.mayRead(folder, name, stat.type));
		return classify(name, stat, () => mayRead);
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return 'gone';
		throw error;
	}
}
