import { fstatSync } from './descriptors.js';
import type { Folder } from './Folder.js';
import { factsOfStats } from './facts.js';
import type { SystemCalls } from './systemCalls.js';

/** Names the folder itself, whatever way it was opened and wherever it is moved. */
export function folderKey(calls: SystemCalls, folder: Folder): string {
	const { device, inode } = calls.factsCached(folder.fd) ?? factsOfStats(fstatSync(folder.fd, { bigint: true }));
	return `${device}/${inode}`;
}
