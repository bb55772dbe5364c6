import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Writes a file for its owner alone and syncs it; its name needs `syncFolder`. `flags` are those of Node's open, such as `wx`. */
export async function writeSynced(path: string, text: string, flags: 'w' | 'wx'): Promise<void> {
	const handle = await open(path, flags, 0o600);
	try {
		await handle.writeFile(text);
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/** Syncs the names in a folder to the disk, if its file system can do that. */
export async function syncFolder(path: string): Promise<void> {
	const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
	try {
		await handle.sync();
	} catch (error) {
		const { code = '' } = error as NodeJS.ErrnoException;
		if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error;
	} finally {
		await handle.close();
	}
}
