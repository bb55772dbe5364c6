import type { CommitOptions, StorageItem } from '@stowage/plugin-api';
import { baseName, isFailure, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { stagingFolder } from '../root/privateFolder.js';
import { renameOwn } from '../root/renaming.js';
import { fsync, setModified, unlink } from '../system/descriptors.js';
import { type FileStat, objectId, toItem } from '../system/fileStat.js';
import { fileChanged, isSystemError, nameTaken } from '../system/systemErrors.js';
import { inheritAccess } from './access.js';
import { claimFreeName, namesFrom, replacement } from './freeNames.js';
import { assertReplaceable, replaceFile } from './replaceFile.js';
import { parseStagedId, type StagedId } from './stagedIds.js';

/**
 * Publishes a staged file, which is open as `fd`. In this order, so that no power cut can show the
 * name without the bytes or undo a confirmed response: the bytes, the name, the folder, the response.
 */
export async function commitStaged(
	disk: Disk,
	staged: StagedId,
	fd: number,
	path: StoragePath,
	options: CommitOptions,
): Promise<StorageItem> {
	const { mtime, otherNames = [], beforeNaming } = options;
	const replacing = replacement(options);
	if (path === rootPath) throw replacing === undefined ? nameTaken(path) : fileChanged();
	using folder = await disk.parentOf(path, 'read');
	using staging = await disk.privateFolder(stagingFolder, 'path');
	if (replacing !== undefined) await assertReplaceable(disk, folder, path, replacing);
	// Before the sync, which makes it durable with the bytes.
	await inheritAccess(disk, folder, fd, 'file');
	if (mtime !== undefined) await setModified(fd, mtime / 1000);
	await syncOrDrop(disk, staged, () => fsync(fd));
	if (replacing !== undefined) {
		const own = { folder: staging, name: staged.name, object: staged.object };
		await replaceFile(disk, own, { folder, path, ...replacing }, beforeNaming);
		return toItem(baseName(path), { ...(await disk.statOf(fd)), type: 'file' });
	}
	const taken = await claimFreeName(
		disk,
		folder,
		namesFrom(path, otherNames),
		async (toName) => {
			await beforeNaming?.(toName);
			await renameOwn(disk, { from: staging, fromName: staged.name, to: folder, toName });
		},
		(stat) => isOwn(staged, stat),
	);
	if (taken === undefined) throw nameTaken(path);
	// A crash between the two steps of the fallback left the file under both names.
	if (!taken.isNew) await unlink(staging.at(staged.name));
	await disk.syncs.sync(folder);
	return toItem(taken.name, { ...(await disk.statOf(fd)), type: 'file' });
}

/**
 * The item at the path if it is this staged file. It may have been published by a call that was interrupted before the name was durable.
 */
export async function findPublished(disk: Disk, id: string, path: StoragePath): Promise<StorageItem | undefined> {
	try {
		const staged = parseStagedId(id);
		using folder = await disk.parentOf(path, 'read');
		const stat = await disk.statAt(folder, baseName(path));
		if (!isOwn(staged, stat)) return undefined;
		await disk.syncs.sync(folder);
		return toItem(baseName(path), { ...stat, type: 'file' });
	} catch (error) {
		if (isSystemError(error, 'ENOENT', 'ENOTDIR') || isFailure(error, 'notFound')) return undefined;
		throw error;
	}
}

function isOwn(staged: StagedId, stat: FileStat): boolean {
	return stat.type === 'file' && objectId(stat) === staged.object;
}

/**
 * Syncs a staged file. After a failed sync the system may consider lost bytes as written, so that the next one succeeds without them: the
 * file is dropped, whichever the call and the error.
 */
export async function syncOrDrop(disk: Disk, { name }: StagedId, sync: () => Promise<void>): Promise<void> {
	try {
		await sync();
	} catch (error) {
		disk.failedSyncs.add(name);
		// On a failing disk this may fail too; the file is not used again in any case.
		await drop(disk, name).catch(() => {});
		throw error;
	}
}

async function drop(disk: Disk, name: string): Promise<void> {
	using staging = await disk.privateFolder(stagingFolder, 'path');
	await unlink(staging.at(name));
}
