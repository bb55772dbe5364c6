import * as fs from 'node:fs';
import type { FolderListener, Watch } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { statfs } from '../system/descriptors.js';
import type { Folder } from '../system/openFolder.js';
import { isRemoteFileSystem } from '../system/remoteFileSystems.js';
import { isSystemError } from '../system/systemErrors.js';
import { ChildFolders } from './ChildFolders.js';

/** How often the folder's path is checked: the system does not notify when a folder above it is renamed. */
const checkMs = 1000;

/**
 * Watches a folder with the system's notifications (inotify). Resolves to undefined if there are none: elsewhere than on Linux, over a
 * network, or when the system's limit of watches is reached.
 */
export async function watchFolder(
	disk: Disk,
	path: StoragePath,
	{ onChange, onEnd, onLimitReached }: FolderListener,
): Promise<Watch | undefined> {
	using folder = await disk.folder(path, 'read');
	if (!(await supportsEvents(disk, folder))) return undefined;
	const children = new ChildFolders(disk);
	const identity = await identify(disk, folder);
	const watcher = listen(folder, () => {
		children.mayHaveChanged = true;
		onChange();
	});
	if (watcher === undefined) {
		onLimitReached?.();
		return undefined;
	}
	let timer: NodeJS.Timeout | undefined;
	let isClosed = false;
	const close = () => {
		isClosed = true;
		clearInterval(timer);
		watcher.close();
	};
	const end = () => {
		if (isClosed) return;
		close();
		// Before that it has no subscriber yet, and it will have none.
		if (timer !== undefined) onEnd();
	};
	// At once: an error event without a listener ends the process.
	watcher.on('error', end);
	try {
		await children.haveChanged(folder);
	} catch (error) {
		close();
		throw error;
	}
	if (isClosed) return undefined;

	let isLooking = false;
	const check = async (): Promise<void> => {
		if (isLooking) return;
		isLooking = true;
		try {
			using now = await disk.folder(path, 'read');
			if ((await identify(disk, now)) !== identity) return end();
			if ((await children.haveChanged(now)) && !isClosed) onChange();
		} catch {
			// The next caller gets the reason why it can't be opened.
			end();
		} finally {
			isLooking = false;
		}
	};
	timer = setInterval(() => void check(), checkMs).unref();
	return { close };
}

async function supportsEvents(disk: Disk, folder: Folder): Promise<boolean> {
	if (process.platform !== 'linux' || !disk.isLocal || !folder.isNamedByDescriptor) return false;
	// Checked for the folder too: another file system may be mounted below the root.
	return !isRemoteFileSystem((await statfs(folder.path)).type);
}

/** Named through its descriptor, so that the opened folder is watched, whatever is at its path by now. */
function listen(folder: Folder, onEvent: () => void): fs.FSWatcher | undefined {
	try {
		return fs.watch(folder.path, { persistent: false, encoding: 'buffer' }, onEvent);
	} catch (error) {
		if (isSystemError(error, 'ENOSPC', 'EMFILE', 'ENOMEM', 'ENOSYS')) return undefined;
		throw error;
	}
}

async function identify(disk: Disk, folder: Folder): Promise<string> {
	const { inode, birthtimeNs } = await disk.statOf(folder.fd);
	return `${inode}/${birthtimeNs}`;
}
