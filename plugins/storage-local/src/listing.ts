import type { StorageEntry } from '@stowage/plugin-api';
import { rootPath, type StoragePath } from '@stowage/rules';
import { atOnce } from './atOnce.js';
import type { Disk } from './Disk.js';
import { lstat } from './descriptors.js';
import type { Folder } from './Folder.js';
import { entryOfStats } from './facts.js';
import { asFailure, isFault } from './faults.js';
import { LookPace } from './LookPace.js';
import { isPrivateName } from './privateFolder.js';
import { addressableName, type RawEntry } from './rawNames.js';

/** Milliseconds after which a look at one entry has waited for a disk. */
export const slowLookMs = 1;

/** Looks under way at once where each may have to wait. */
export const looksAtOnce = 16;

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

/**
 * What the kernel has in memory is told in a microsecond or two, a tenth of what it takes to ask from another thread; so
 * entries are looked at right here, until one had to wait for the disk. A number of those behind it are then asked for in the
 * background, several at once, so that no request waits behind a slow disk.
 */
async function lookAll(disk: Disk, folder: Folder, names: readonly string[], pace: LookPace): Promise<StorageEntry[]> {
	const rows: StorageEntry[] = [];
	const { entryNow } = disk.calls;
	for (let next = 0; next < names.length; ) {
		let inBackground = names.length;
		if (disk.isLocal && entryNow !== undefined) {
			const first = next;
			for (let last = performance.now(); next < names.length; ) {
				const row = entryNow(folder.fd, names[next++] as string);
				if (row !== undefined) rows.push(row);
				const now = performance.now();
				if (now - last > slowLookMs) break;
				last = now;
			}
			if (next === names.length) break;
			inBackground = pace.afterSlowLook(next - first);
		}
		const behind = names.slice(next, next + inBackground);
		await atOnce(looksAtOnce, behind, async (name) => {
			const row = await look(folder, name);
			if (row !== undefined) rows.push(row);
		});
		next += behind.length;
	}
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
