import { fstatSync } from '../system/descriptors.js';
import type { Folder } from '../system/Folder.js';
import { type FileStat, toFileStat } from '../system/fileStat.js';
import type { SystemCalls } from '../system/systemCalls.js';

/** Names the folder itself, whatever way it was opened and wherever it is moved. */
export function folderKey(calls: SystemCalls, folder: Folder): string {
	const { device, inode } = factsOf(calls, folder);
	return `${device}/${inode}`;
}

/** Names the file system that the folder is on. */
export function deviceOf(calls: SystemCalls, folder: Folder): bigint {
	return factsOf(calls, folder).device;
}

function factsOf(calls: SystemCalls, folder: Folder): FileStat {
	return calls.statCached(folder.fd) ?? toFileStat(fstatSync(folder.fd, { bigint: true }));
}
