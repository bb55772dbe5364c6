import type { StorageItem } from '@stowage/plugin-api';
import { baseName, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from './Disk.js';
import { fsync, setModified, unlink } from './descriptors.js';
import type { Folder } from './Folder.js';
import { type Facts, itemOf, objectId } from './facts.js';
import { isFault, nameTaken } from './faults.js';
import { stagingFolder } from './privateFolder.js';
import { renameOwn } from './publishing.js';
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
	mtime: number | undefined,
): Promise<StorageItem> {
	if (path === rootPath) throw nameTaken(path);
	using folder = await disk.parentOf(path, 'read');
	if (fd === undefined) return await findPublished(disk, staged, folder, path);
	using staging = await disk.privateFolder(stagingFolder, 'pass');
	if (mtime !== undefined) await setModified(fd, mtime / 1000);
	await syncOrDrop(disk, staged, () => fsync(fd));
	try {
		await renameOwn(disk, { from: staging, fromName: staged.name, to: folder, toName: baseName(path) });
	} catch (error) {
		if (!isFault(error, 'EEXIST')) throw error;
		// A crash between the two steps of the weaker path leaves our file under both names.
		if ((await ownFacts(disk, staged, folder, path)) === undefined) throw nameTaken(path);
		await unlink(staging.at(staged.name));
	}
	await disk.syncs.sync(folder);
	return itemOf(baseName(path), { ...(await disk.factsOf(fd)), type: 'file' });
}

/** The same file may have been published by a call that did not live to answer. */
async function findPublished(disk: Disk, staged: StagedId, folder: Folder, path: StoragePath): Promise<StorageItem> {
	const facts = await ownFacts(disk, staged, folder, path);
	if (facts === undefined) throw noSuchUpload();
	await disk.syncs.sync(folder);
	return itemOf(baseName(path), { ...facts, type: 'file' });
}

async function ownFacts(disk: Disk, staged: StagedId, folder: Folder, path: StoragePath): Promise<Facts | undefined> {
	try {
		const facts = await disk.factsAt(folder, baseName(path));
		return facts.type === 'file' && objectId(facts) === staged.object ? facts : undefined;
	} catch (error) {
		if (isFault(error, 'ENOENT')) return undefined;
		throw error;
	}
}
