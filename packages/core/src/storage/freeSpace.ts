import type { StorageProvider } from '@stowage/plugin-api';

/** What stays free by itself: a twentieth of the disk, and no more than 1 GB. */
const autoShare = 1 / 20;
const autoBytes = 1024 ** 3;

/** Bytes that stay free, or `auto`. */
export type FreeSpaceReserve = number | 'auto';

/** How many bytes may be written before the reserve is reached; less than none where it is in use already. */
export async function availableSpace(
	storage: Pick<StorageProvider, 'freeSpace' | 'totalSpace'>,
	{ freeSpaceReserve: reserve }: { freeSpaceReserve: FreeSpaceReserve },
): Promise<number> {
	const kept = reserve === 'auto' ? Math.min(autoBytes, Math.floor((await storage.totalSpace()) * autoShare)) : reserve;
	return (await storage.freeSpace()) - kept;
}
