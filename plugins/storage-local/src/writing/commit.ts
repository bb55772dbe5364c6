import type { CommitOptions, StorageItem } from '@stowage/plugin-api';
import { rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { stagingFolder } from '../root/privateFolder.js';
import { renameOwn } from '../root/renaming.js';
import { fsync, setModified, unlink } from '../system/descriptors.js';
import type { Folder } from '../system/Folder.js';
import { type FileStat, objectId, toItem } from '../system/fileStat.js';
import { nameTaken } from '../system/systemErrors.js';
import { namesFrom, statNames, takeFreeName } from './freeNames.js';
import { noSuchUpload, type StagedId } from './stagedIds.js';
import { syncOrDrop } from './syncOrDrop.js';

/**
 * Publishes a staged file, which is open as `fd` unless it left staging. In this order, so that no power cut can show the
 * name without the bytes or take back an answer: the bytes, the name, the folder, the answer.
 */
export async function commitStaged(
	disk: Disk,
	staged: StagedId,
	fd: number | undefined,
	path: StoragePath,
	{ mtime, otherNames = [] }: CommitOptions,
): Promise<StorageItem> {
	if (path === rootPath) throw nameTaken(path);
	using folder = await disk.parentOf(path, 'read');
	const names = namesFrom(path, otherNames);
	if (fd === undefined) return await findPublished(disk, staged, folder, names);
	using staging = await disk.privateFolder(stagingFolder, 'pass');
	if (mtime !== undefined) await setModified(fd, mtime / 1000);
	await syncOrDrop(disk, staged, () => fsync(fd));
	const taken = await takeFreeName(
		disk,
		folder,
		names,
		(toName) => renameOwn(disk, { from: staging, fromName: staged.name, to: folder, toName }),
		(stat) => isOwn(staged, stat),
	);
	if (taken === undefined) throw nameTaken(path);
	// A crash between the two steps of the weaker path left our file under both names.
	if (!taken.isNew) await unlink(staging.at(staged.name));
	await disk.syncs.sync(folder);
	return toItem(taken.name, { ...(await disk.statOf(fd)), type: 'file' });
}

/** The same file may have been published by a call that did not live to answer. */
async function findPublished(
	disk: Disk,
	staged: StagedId,
	folder: Folder,
	names: Iterable<string>,
): Promise<StorageItem> {
	for await (const { name, stat } of statNames(disk, folder, names)) {
		if (stat === undefined || !isOwn(staged, stat)) continue;
		await disk.syncs.sync(folder);
		return toItem(name, { ...stat, type: 'file' });
	}
	throw noSuchUpload();
}

function isOwn(staged: StagedId, stat: FileStat): boolean {
	return stat.type === 'file' && objectId(stat) === staged.object;
}
