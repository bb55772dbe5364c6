import * as fs from 'node:fs';
import type { Disk } from '../root/Disk.js';
import { notePrefix, stagingFolder } from '../root/privateFolder.js';
import { close, open, readFully, readlink, symlink, unlink, writeFully } from '../system/descriptors.js';
import { readFileFlags } from '../system/openFolder.js';
import { isSystemError } from '../system/systemErrors.js';

const maxNoteBytes = 4096;

/** Notes a value under a key unless there is one; resolves to the one that is there then. */
export async function writeNote(disk: Disk, key: string, value: string): Promise<string> {
	using staging = await disk.privateFolder(stagingFolder, 'pass');
	const path = staging.at(notePrefix + key);
	for (;;) {
		try {
			await makeNote(path, value);
			return value;
		} catch (error) {
			if (!isSystemError(error, 'EEXIST')) throw error;
		}
		const known = await readNote(path);
		if (known !== undefined) return known;
	}
}

export async function removeNote(disk: Disk, key: string): Promise<void> {
	using staging = await disk.privateFolder(stagingFolder, 'pass');
	try {
		await unlink(staging.at(notePrefix + key));
	} catch (error) {
		if (!isSystemError(error, 'ENOENT')) throw error;
	}
}

/** The target of a link: written whole by one call, and on most file systems without a block of its own. */
async function makeNote(path: string, value: string): Promise<void> {
	try {
		await symlink(value, path);
	} catch (error) {
		if (!isSystemError(error, 'EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP', 'ENAMETOOLONG')) throw error;
		const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
		const fd = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
		try {
			await writeFully(fd, [Buffer.from(value)], 0);
		} finally {
			await close(fd);
		}
	}
}

/** Nothing if it was removed meanwhile. */
async function readNote(path: string): Promise<string | undefined> {
	try {
		return await readlink(path);
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return undefined;
		if (!isSystemError(error, 'EINVAL')) throw error;
		const fd = await open(path, readFileFlags);
		try {
			const buffer = Buffer.alloc(maxNoteBytes);
			return buffer.toString('utf8', 0, await readFully(fd, buffer, 0));
		} finally {
			await close(fd);
		}
	}
}
