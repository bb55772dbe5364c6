import type { SmallFile } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { closeSync } from '../system/descriptors.js';
import { toItem } from '../system/fileStat.js';
import { type Folder, readFileFlags } from '../system/openFolder.js';
import { withFailures } from '../system/systemErrors.js';

/** Milliseconds after which a call has waited for a disk, or this thread has been kept from others for long enough. */
const slowMs = 2;

/**
 * Reads files of a folder by synchronous calls: while the kernel has a file in memory, the four calls take less than one
 * switch to another thread. Undefined for each that it does not have, and for all after the time is up.
 */
export function readSmallFiles(
	disk: Disk,
	path: StoragePath,
	names: readonly string[],
	into: Buffer,
): Promise<readonly (SmallFile | undefined)[]> {
	return withFailures(path, async () => {
		using folder = await disk.folder(path, 'path');
		const end = performance.now() + slowMs;
		let used = 0;
		return names.map((name) => {
			const file = performance.now() < end ? readSmallFile(disk, folder, name, into.subarray(used)) : undefined;
			used += file?.bytes.length ?? 0;
			return file;
		});
	});
}

function readSmallFile(disk: Disk, folder: Folder, name: string, into: Buffer): SmallFile | undefined {
	// A name is one of this folder: the storage's own folder is none of those that are read.
	const fd = name.includes('/') ? undefined : disk.openCached(folder, name, readFileFlags);
	if (fd === undefined) return undefined;
	try {
		const stat = disk.statNow(fd);
		if (stat === undefined || stat.type !== 'file' || stat.size > into.length) return undefined;
		const bytes = into.subarray(0, stat.size);
		if (stat.size > 0 && !disk.readCached(fd, bytes, 0)) return undefined;
		const after = disk.statNow(fd);
		if (after?.size !== stat.size || after.mtimeNs !== stat.mtimeNs) return undefined;
		return { item: toItem(name, { ...stat, type: 'file' }), bytes };
	} finally {
		closeSync(fd);
	}
}
