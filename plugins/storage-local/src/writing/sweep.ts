import type { StagingCutoffs } from '@stowage/plugin-api';
import { discardObject } from '../changing/CopyObject.js';
import { removeDiscarded, removeTree } from '../changing/removeTree.js';
import type { Disk } from '../root/Disk.js';
import { copyPrefix, removedFolder, replacingPrefix, scratchPrefix, stagingFolder } from '../root/privateFolder.js';
import { closeSync, lstat, open } from '../system/descriptors.js';
import { toFileStat } from '../system/fileStat.js';
import { exists, type Folder, readFileFlags } from '../system/openFolder.js';
import { pathPart, type RawName } from '../system/rawNames.js';
import { intentOf, isIntent } from './ReplaceIntent.js';
import { formatStagedId } from './stagedIds.js';

/** What is removed by a process that goes on changes more often, but where a folder in it is very large: two may remove that. */
const hourMs = 60 * 60 * 1000;

/** The age of files that are swept where no lock shows whether they are in use. */
const dayMs = 24 * 60 * 60 * 1000;

/** Completes removals and removes incomplete copies after a crash. Uploads are left alone: they may be continued. */
export async function sweepLeftovers(disk: Disk): Promise<void> {
	using trash = await disk.privateFolder(removedFolder, 'read');
	await sweep(disk, trash, (name) => removeDiscarded(disk, trash, name));
	using staging = await disk.privateFolder(stagingFolder, 'read');
	await sweep(disk, staging, (name) => removeIfAbandoned(disk, staging, name));
}

/** Completes removals of other processes that have ended in the middle of them, as a killed command has. */
export async function sweepRemovals(disk: Disk): Promise<void> {
	using trash = await disk.privateFolder(removedFolder, 'read');
	await sweep(disk, trash, async (name) => {
		if (disk.removals.has(name)) return;
		// Changed by the rename that brought it there, and by each removal in it.
		const { ctimeMs } = await lstat(trash.at(pathPart(name)));
		if (ctimeMs < Date.now() - hourMs) await removeDiscarded(disk, trash, name);
	});
}

/** Removes unused staged files and copies that were not modified since. */
export async function sweepStaging(
	disk: Disk,
	before: StagingCutoffs,
	isNeeded: (id: string) => Promise<boolean>,
): Promise<void> {
	using staging = await disk.privateFolder(stagingFolder, 'read');
	await sweep(disk, staging, async (name) => {
		if (name.startsWith(scratchPrefix)) {
			// What was not old yet at the start.
			if (!disk.isLocal) await removeIfAbandoned(disk, staging, name);
			return;
		}
		if (await isBeingReplaced(staging, name)) return;
		const stat = disk.withHandle(
			toFileStat(await lstat(staging.at(pathPart(name)), { bigint: true })),
			staging.fd,
			name,
		);
		const touchedAt = Number(stat.ctimeNs / 1_000_000n);
		const isCopy = name.startsWith(copyPrefix);
		if (touchedAt >= (isCopy ? before.copies : before.staged)) return;
		if (await isNeeded(formatStagedId(name, stat))) return;
		if (isCopy) await (await discardObject(disk, staging, name))?.();
		else await removeTree(disk, staging, name);
	});
}

async function sweep(disk: Disk, folder: Folder, remove: (name: RawName) => Promise<void>): Promise<void> {
	for await (const batch of disk.calls.readNames(folder)) {
		for (const { name } of batch) {
			try {
				await remove(name);
			} catch {
				// One that can't be removed, such as another user's, must not keep the others.
			}
		}
	}
}

/** A file to be exchanged and its record are in use; without a record the replaced file is only left over. */
async function isBeingReplaced(staging: Folder, name: RawName): Promise<boolean> {
	if (!name.startsWith(replacingPrefix)) return false;
	return isIntent(name) || (await exists(staging, intentOf(name)));
}

async function removeIfAbandoned(disk: Disk, staging: Folder, name: RawName): Promise<void> {
	if (!name.startsWith(scratchPrefix)) return;
	const fd = await open(staging.at(pathPart(name)), readFileFlags);
	try {
		// The lock is held until all is gone: a process that has just created the folder and then locks it sees that it is lost. Over a
		// network, and by FUSE, one of a folder holds on its own machine only.
		const mayGo = (disk.isLocal ? disk.calls.tryLock?.(fd) : undefined) ?? (await isOld(staging, name));
		if (mayGo) await removeTree(disk, staging, name);
	} finally {
		closeSync(fd);
	}
}

async function isOld(staging: Folder, name: RawName): Promise<boolean> {
	return (await lstat(staging.at(pathPart(name)))).ctimeMs < Date.now() - dayMs;
}
