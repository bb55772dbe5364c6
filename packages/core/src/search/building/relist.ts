import type { IndexedItem, Relisted, WaitingMark } from '@stowage/database';
import type { StorageProvider } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';

/**
 * How long a folder must have been left alone for its modified time to tell whether it has changed: file systems round
 * it, some to two seconds, and a change right after another one may have the same.
 */
const settledMs = 2500;

/** What the disk answers to a mark. Throws `unavailable` while the root is away. */
export async function relist(storage: StorageProvider, mark: WaitingMark): Promise<Relisted> {
	const listedAt = Date.now();
	try {
		const mtime = mark.path === '' ? null : (await storage.stat(mark.path)).mtime;
		const items: IndexedItem[] = [];
		for await (const batch of storage.list(mark.path)) {
			for (const item of batch) items.push(item.type === 'directory' ? { ...item, mtime: 0 } : item);
		}
		const isSettled = mtime !== null && mtime < listedAt - settledMs;
		return { mark, kind: 'listed', items, mtime: isSettled ? mtime : null, listedAt };
	} catch (error) {
		if (!isFailure(error) || isFailure(error, 'unavailable')) throw error;
		// A search leaves out what may not be listed, with all below it.
		return isFailure(error, 'notFound') ? { mark, kind: 'gone' } : { mark, kind: 'closed', listedAt };
	}
}
