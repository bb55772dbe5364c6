import type { ItemRef } from '@stowage/plugin-api';
import type { Failure, Viewer } from '@stowage/rules';
import { noLonger } from './endingFile.js';
import { enterFolder } from './enterFolder.js';
import type { SharedFolders } from './SharedFolders.js';

/**
 * Whose quota and disk take what is put into a folder: of a shared one those of its owner, as the member there. Throws as `enterFolder` does for
 * who may not change it.
 */
export async function payerOfFolder(folders: SharedFolders, viewer: Viewer, folder: ItemRef): Promise<Viewer> {
	return folder.area === 'shared' ? (await enterFolder(folders, viewer, folder, 'edit')).viewer : viewer;
}

/** Breaks off what is being received into a shared folder once its sender may not change it any more, until the returned function is called. */
export async function holdWhileReceived(
	folders: SharedFolders,
	viewer: Viewer,
	folder: ItemRef,
	breakOff: (reason: Failure) => void,
): Promise<() => void> {
	if (folder.area !== 'shared') return () => {};
	const { held } = await enterFolder(folders, viewer, folder, 'edit');
	return folders.held.hold(held, () => breakOff(noLonger()));
}
