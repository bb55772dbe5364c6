import { fstatSync } from '../system/descriptors.js';
import type { Folder } from '../system/Folder.js';
import { type FileStat, toFileStat } from '../system/fileStat.js';
import type { SystemCalls } from '../system/systemCalls.js';

/** Identifies the folder itself, however it was opened and wherever it is moved. */
export function folderKey(calls: SystemCalls, folder: Folder): string {
	const { device, inode } = statOf(calls, folder);
	return `${device}/${inode}`;
}

/** Names the file system that the folder is on. */
export function deviceOf(calls: SystemCalls, folder: Folder): bigint {
	return statOf(calls, folder).device;
}

function statOf(calls: SystemCalls, folder: Folder): FileStat {
	return calls.statCached(folder.fd) ?? toFileStat(fstatSync(folder.fd, { bigint: true }));
}
