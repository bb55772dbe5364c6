import { rootPath, type StoragePath } from '@stowage/rules';
import type { MountedStorage } from './MountedStorage.js';

/** What stays free by itself: a twentieth of the disk, and no more than 1 GB; that, where the storage can't tell how large the disk is. */
const autoShare = 1 / 20;
const autoBytes = 1024 ** 3;

/** Bytes that stay free, or `auto`. */
export type FreeSpaceReserve = number | 'auto';

/**
 * How many bytes may be written on the disk that holds `at` before its reserve is reached; less than none where that is in use already. Infinity where the storage
 * can't tell what is free: then no reserve is kept.
 */
export async function availableSpace(
	storage: Pick<MountedStorage, 'freeSpace' | 'totalSpace'>,
	{ freeSpaceReserve: reserve }: { freeSpaceReserve: FreeSpaceReserve },
	at: StoragePath = rootPath,
): Promise<number> {
	const kept = reserve === 'auto' ? autoReserve(await storage.totalSpace(at)) : reserve;
	return ((await storage.freeSpace(at)) ?? Number.POSITIVE_INFINITY) - kept;
}

function autoReserve(total: number | undefined): number {
	return total === undefined ? autoBytes : Math.min(autoBytes, Math.floor(total * autoShare));
}
