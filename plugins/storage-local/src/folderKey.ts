import { fstatSync } from './descriptors.js';
import type { Folder } from './Folder.js';
import { type Facts, factsOfStats } from './facts.js';
import type { SystemCalls } from './systemCalls.js';

/** Names the folder itself, whatever way it was opened and wherever it is moved. */
export function folderKey(calls: SystemCalls, folder: Folder): string {
	const { device, inode } = factsOf(calls, folder);
	return `${device}/${inode}`;
}

/** Names the file system that the folder is on. */
export function deviceOf(calls: SystemCalls, folder: Folder): bigint {
	return factsOf(calls, folder).device;
}

function factsOf(calls: SystemCalls, folder: Folder): Facts {
	return calls.factsCached(folder.fd) ?? factsOfStats(fstatSync(folder.fd, { bigint: true }));
}
