import { rootPath, type StoragePath } from '@stowage/rules';
import type { MountedStorage } from './MountedStorage.js';

/** What stays free by itself: a twentieth of the disk, and no more than 1 GB. */
const autoShare = 1 / 20;
const autoBytes = 1024 ** 3;

/** Bytes that stay free, or `auto`. */
export type FreeSpaceReserve = number | 'auto';

/** How many bytes may be written on the disk that holds `at` before its reserve is reached; less than none where that is in use already. */
export async function availableSpace(
	storage: Pick<MountedStorage, 'freeSpace' | 'totalSpace'>,
	{ freeSpaceReserve: reserve }: { freeSpaceReserve: FreeSpaceReserve },
	at: StoragePath = rootPath,
): Promise<number> {
	const kept =
		reserve === 'auto' ? Math.min(autoBytes, Math.floor((await storage.totalSpace(at)) * autoShare)) : reserve;
	return (await storage.freeSpace(at)) - kept;
}
