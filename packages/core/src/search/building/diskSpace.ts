import { statfs } from 'node:fs/promises';
import { Failure } from '@stowage/rules';

/** Bytes of the data folder's disk that the index leaves to what matters more: sessions, accounts, the audit log. */
const reserveBytes = 128 * 1024 * 1024;

/** Throws `storageFull` where the index may not grow. */
export async function assertDiskSpace(folder: string): Promise<void> {
	const { bavail, bsize, blocks } = await statfs(folder);
	// Where the file system doesn't know, there are no blocks.
	if (blocks > 0 && bavail * bsize < reserveBytes)
		throw new Failure('storageFull', 'The disk of the data folder has no room for the search index.');
}
