import type { ItemRef } from '@stowage/plugin-api';
import {
	type Failure,
	joinPath,
	parsePath,
	pathSegments,
	type StoragePath,
	signedIn,
	type Viewer,
} from '@stowage/rules';
import { enterFolder } from './enterFolder.js';
import { notSharedAnyMore, type SharedFolders } from './SharedFolders.js';

/**
 * Whose quota and disk take what is put into a folder: of a shared one those of its owner, as the member there. Throws
 * as `enterFolder` does for who may not change it.
 */
export async function payerOfFolder(folders: SharedFolders, viewer: Viewer, folder: ItemRef): Promise<Viewer> {
	return folder.area === 'shared' ? (await enterFolder(folders, viewer, folder, 'edit')).viewer : viewer;
}

/**
 * Breaks off what is being received into a shared folder once its sender may not change it any more, until the
 * returned function is called.
 */
export async function holdWhileReceived(
	folders: SharedFolders,
	viewer: Viewer,
	folder: ItemRef,
	breakOff: (reason: Failure) => void,
): Promise<() => void> {
	if (folder.area !== 'shared') return () => {};
	const { held } = await enterFolder(folders, viewer, folder, 'edit');
	return folders.held.hold(held, () => breakOff(notSharedAnyMore()));
}

/**
 * What was found at a path in a shared folder, by the path that it has now: the owner may have renamed that folder,
 * and another one have got its name. Undefined for a folder that is not shared with the viewer any more.
 */
export async function pathNow(
	folders: Pick<SharedFolders, 'joined'>,
	viewer: Viewer,
	{ folderId, path }: { folderId: string; path: StoragePath },
): Promise<StoragePath | undefined> {
	const found = (await folders.joined(signedIn(viewer).id)).find(({ folder }) => folder.id === folderId);
	const [, ...inside] = pathSegments(path);
	return found && joinPath(parsePath(found.name), ...inside);
}
