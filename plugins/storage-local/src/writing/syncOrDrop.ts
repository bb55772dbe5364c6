import type { Disk } from '../root/Disk.js';
import { stagingFolder } from '../root/privateFolder.js';
import { unlink } from '../system/descriptors.js';
import type { StagedId } from './stagedIds.js';

/**
 * Syncs a staged file. After a failed sync the system may consider lost bytes as written, so that the next one succeeds without them: the file
 * is dropped, whichever the call and the error.
 */
export async function syncOrDrop(disk: Disk, { name }: StagedId, sync: () => Promise<void>): Promise<void> {
	try {
		await sync();
	} catch (error) {
		disk.lostUploads.add(name);
		// On a failing disk this may fail too; the file is not used again in any case.
		await drop(disk, name).catch(() => {});
		throw error;
	}
}

async function drop(disk: Disk, name: string): Promise<void> {
	using staging = await disk.privateFolder(stagingFolder, 'pass');
	await unlink(staging.at(name));
}
