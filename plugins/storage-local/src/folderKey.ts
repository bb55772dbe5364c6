import { fstatSync } from './descriptors.js';
import type { Folder } from './Folder.js';
import type { SystemCalls } from './systemCalls.js';

/** Names the folder itself, whatever way it was opened and wherever it is moved. */
export function folderKey(calls: SystemCalls, folder: Folder): string {
	const facts = calls.factsCached(folder.fd);
	if (facts !== undefined) return `${facts.device}/${facts.inode}`;
	const stats = fstatSync(folder.fd, { bigint: true });
	return `${stats.dev}/${stats.ino}`;
}
