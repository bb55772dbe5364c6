import type { StorageItem, UploadRecord } from '@stowage/plugin-api';
import {
	Failure,
	homeRoot,
	joinPath,
	parsePath,
	publicRoot,
	type StoragePath,
	signedIn,
	undefinedIf,
	type Viewer,
	writingOwner,
} from '@stowage/rules';
import { enterFolder } from '../../members/enterFolder.js';
import { pathNow } from '../../members/payer.js';
import { identityOf, versionOf } from '../../trees/identity.js';
import { ownerOf, type UploadParts } from './UploadParts.js';

type Target = Pick<UploadRecord, 'area' | 'folderId'>;

/** Records that the file of an upload is in its place, and which item that is. */
export async function finishUpload(
	parts: UploadParts,
	owner: Viewer,
	idHash: string,
	{ stagedId, entryPath, ...target }: Target & { stagedId: string; entryPath: string },
): Promise<void> {
	const item = await findItem(parts, owner, target, entryPath);
	await parts.database.uploads.finish(idHash, stagedId, entryPath, item === undefined ? '' : versionOf(item));
}

/**
 * Throws `expired` for a finished upload whose file was removed, moved or replaced since: who sends it again must not
 * be told that it is there. So does one that an older version finished, which recorded no item.
 */
export async function assertInPlace(parts: UploadParts, viewer: Viewer, record: UploadRecord): Promise<void> {
	const { entryPath, itemId, length } = record;
	if (entryPath === null) return;
	const item = await findItem(parts, ownerOf(parts, viewer, record), record, entryPath);
	// Its version may differ, as after a change of its permissions.
	const isSame = item !== undefined && item.size === length && itemId?.startsWith(`${identityOf(item)} `);
	if (isSame !== true) throw new Failure('expired', 'The file of this upload is not where it was put any more.');
}

async function findItem(
	{ sharedFolders, storage }: UploadParts,
	owner: Viewer,
	{ area, folderId }: Target,
	entryPath: string,
): Promise<StorageItem | undefined> {
	const path = parsePath(entryPath);
	const find = (root: StoragePath, at: StoragePath) => undefinedIf(storage.stat(joinPath(root, at)), 'notFound');
	if (area === 'public') return find(publicRoot(writingOwner(owner)), path);
	if (area === 'private') return find(homeRoot(signedIn(owner).username), path);
	const shared = folderId === undefined ? path : await pathNow(sharedFolders, owner, { folderId, path });
	const entered =
		shared && (await undefinedIf(enterFolder(sharedFolders, owner, { path: shared }, 'view'), 'notFound'));
	return entered && find(homeRoot(entered.viewer.username), entered.ref.path);
}
