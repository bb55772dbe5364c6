import { rootPath, type StoragePath } from '@stowage/rules';
import type { MountedStorage } from './MountedStorage.js';

/** The default reserve: a twentieth of the disk, at most 1 GB; 1 GB if the storage does not know the size of the disk. */
const autoShare = 1 / 20;
const autoBytes = 1024 ** 3;

/** Bytes that stay free, or `auto`. */
export type FreeSpaceReserve = number | 'auto';

/**
 * How many bytes may be written on the disk that holds `at` before its reserve is reached; less than none where that is in use already. Infinity where the storage
 * does not know its free space: then no reserve is kept.
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
