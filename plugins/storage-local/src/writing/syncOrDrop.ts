import type { Disk } from '../root/Disk.js';
import { stagingFolder } from '../root/privateFolder.js';
import { unlink } from '../system/descriptors.js';
import type { StagedId } from './stagedIds.js';

/**
 * Makes a staged file durable by `sync`. After a sync that failed the system may take lost bytes for written ones, so that the next one succeeds without them: the file
 * is dropped, whatever call it was for and whatever the fault.
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
