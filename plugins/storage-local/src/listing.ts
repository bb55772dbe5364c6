import type { StorageEntry } from '@stowage/plugin-api';
import { rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from './Disk.js';
import { lstat } from './descriptors.js';
import type { Folder } from './Folder.js';
import { entryOfStats } from './facts.js';
import { asFailure, isFault } from './faults.js';
import { LookPace } from './LookPace.js';
import { lookAtAll } from './looking.js';
import { isPrivateName } from './privateFolder.js';
import { addressableName, type RawEntry } from './rawNames.js';

/** The rows of a folder, a batch at a time. What vanishes meanwhile is left out. */
export async function* listFolder(disk: Disk, path: StoragePath): AsyncGenerator<StorageEntry[]> {
	try {
		using folder = await disk.folder(path, 'read');
		const pace = new LookPace();
		for await (const batch of disk.calls.readNames(folder)) {
			const rows = await lookAll(disk, folder, visibleNames(batch, path), pace);
			if (rows.length > 0) yield rows;
		}
	} catch (error) {
		throw asFailure(error, path);
	}
}

/** How many rows a folder has. Looks at an entry itself only where its type is not told with its name. */
export async function countFolder(disk: Disk, path: StoragePath): Promise<number> {
	using folder = await disk.folder(path, 'read');
	const pace = new LookPace();
	let count = 0;
	for await (const batch of disk.calls.readNames(folder)) {
		const unknown = batch.filter((entry) => entry.type === 'unknown');
		count += visibleNames(batch, path).length - visibleNames(unknown, path).length;
		if (unknown.length > 0) count += (await lookAll(disk, folder, visibleNames(unknown, path), pace)).length;
	}
	return count;
}

function visibleNames(batch: readonly RawEntry[], path: StoragePath): string[] {
	const names: string[] = [];
	for (const entry of batch) {
		if (entry.type === 'other') continue;
		const name = addressableName(entry.name);
		if (name !== undefined && !(path === rootPath && isPrivateName(name))) names.push(name);
	}
	return names;
}

async function lookAll(disk: Disk, folder: Folder, names: readonly string[], pace: LookPace): Promise<StorageEntry[]> {
	const rows: StorageEntry[] = [];
	const add = (row: StorageEntry | undefined) => {
		if (row !== undefined) rows.push(row);
	};
	const { entryNow } = disk.calls;
	const looks = {
		now: disk.isLocal && entryNow !== undefined ? (name: string) => add(entryNow(folder.fd, name)) : undefined,
		inBackground: async (name: string) => add(await look(folder, name)),
	};
	await lookAtAll(names, looks, pace);
	return rows;
}

async function look(folder: Folder, name: string): Promise<StorageEntry | undefined> {
	try {
		return entryOfStats(name, await lstat(folder.at(name)));
	} catch (error) {
		if (isFault(error, 'ENOENT')) return undefined;
		throw error;
	}
}
