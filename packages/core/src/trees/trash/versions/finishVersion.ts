import type { FileVersion, StorageItem, TrashRecord } from '@stowage/plugin-api';
import {
	baseName,
	Failure,
	homeRoot,
	joinChecked,
	joinPath,
	pathSegments,
	relativePath,
	type StoragePath,
	undefinedIf,
} from '@stowage/rules';
import { identityOf } from '../../identity.js';
import { prefixed } from '../../storage/rootIds.js';
import { locateTrashed } from '../locateTrashed.js';
import { unrecordedOn } from '../recording/UnrecordedItems.js';
import type { TrashParts } from '../trashParts.js';
import { isTrashedLink, trashedLinkPath } from '../trashPaths.js';

/**
 * Completes a replacement: what belonged to the former file belongs to the one that has its path now. May be called
 * again. Where no file is there, its former contents become ordinary items of the trash. Throws `unavailable`.
 */
export async function finishVersion(parts: TrashParts, version: FileVersion): Promise<void> {
	const { ownerId, path, versionOf: former } = version;
	if (former !== version.replacedId) return;
	const item = await itemAt(parts, ownerId, path);
	if (item?.type === 'file') {
		await bindVersions(parts, version, identityOf(item));
		return;
	}
	if (!(await isHomeThere(parts, ownerId))) return;
	// It may have been moved meanwhile.
	const left = await parts.completeMoves(ownerId);
	const moved = await parts.store.get(version.id);
	if (moved !== undefined && moved.path !== path) return finishVersion(parts, moved as FileVersion);
	if (left.leadFrom(path)) throw new Failure('unavailable', 'It is not known yet where the file has been moved.');
	const was = await formerPath(parts, path);
	for (const { id } of [version, ...(await parts.versions.of(ownerId, { file: former, path }))])
		await parts.versions.detach(id, was);
}

/** Records that an item is in the trash, once the replacement by which a version gets there is complete. */
export async function settleHere(parts: TrashParts, record: TrashRecord, state: 'moving' | 'leaving'): Promise<void> {
	if (record.kind === 'version') await finishVersion(parts, record);
	await parts.store.settle([record.id], state);
}

/** Whether the home of a user is in its place. It is not while it is on its way to another name, and it is gone with its user. */
export async function isHomeThere(
	{ storage, users }: Pick<TrashParts, 'storage' | 'users'>,
	ownerId: string,
): Promise<boolean> {
	const user = await users.get(ownerId);
	if (user === undefined) return true;
	const home = storage().home(user.username).stat(homeRoot(user.username));
	return (await undefinedIf(home, 'notFound')) !== undefined;
}

/** Versions of the former file, and links to it, belong to the file that has replaced it. */
export async function bindVersions(
	{ versions, onReplaced }: TrashParts,
	{ ownerId, path, replacedId: former }: Pick<FileVersion, 'ownerId' | 'path' | 'replacedId'>,
	file: string,
	next?: FileVersion['next'],
): Promise<number> {
	// Before the versions, which show that there is something left to do.
	await onReplaced({ ownerId, path, former, file });
	return versions.bind(ownerId, former, file, next);
}

/** What has this path of a user's home, or did when it was put into the trash. */
export async function itemAt(
	parts: Pick<TrashParts, 'storage' | 'store' | 'users'>,
	ownerId: string,
	path: StoragePath,
): Promise<StorageItem | undefined> {
	const trashed = trashedPartOf(path);
	if (trashed === undefined) {
		const user = await parts.users.get(ownerId);
		if (user === undefined) return undefined;
		const { username } = user;
		return undefinedIf(
			parts
				.storage()
				.home(username)
				.stat(joinChecked(homeRoot(username), path)),
			'notFound',
			'forbidden',
		);
	}
	const record = await trashedRecord(parts, ownerId, trashed.id);
	const located = record && (await locateTrashed(parts, record));
	if (located === undefined) return undefined;
	const { storage, idPrefix } = located.mount;
	const item = await undefinedIf(storage.stat(joinChecked(located.path, trashed.rest)), 'notFound', 'forbidden');
	return item && prefixed(item, idPrefix);
}

/** What is known of an item of the trash, also before it has a row: then it is on the root of the home, from which it was deleted. */
async function trashedRecord(
	{ store, storage, users }: Pick<TrashParts, 'storage' | 'store' | 'users'>,
	ownerId: string,
	id: string,
): Promise<TrashRecord | undefined> {
	const known = await store.get(id);
	if (known !== undefined) return known;
	const user = await users.get(ownerId);
	if (user === undefined) return undefined;
	const { items } = await unrecordedOn((await storage().home(user.username).mount()).storage);
	// It may have got one between the two.
	return items.find(({ record }) => record.id === id)?.record ?? store.get(id);
}

/** The path that an item had before it, or the folder that it is in, was put into the trash. */
async function formerPath({ store }: TrashParts, path: StoragePath): Promise<StoragePath> {
	const trashed = trashedPartOf(path);
	if (trashed === undefined) return path;
	const record = await store.get(trashed.id);
	if (record !== undefined) return joinPath(record.path, trashed.rest);
	return baseName(path) as StoragePath;
}

/** The item of the trash that a path is in, and the rest of the path. */
function trashedPartOf(path: StoragePath): { id: string; rest: StoragePath } | undefined {
	const [, id] = pathSegments(path);
	if (!isTrashedLink(path) || id === undefined) return undefined;
	return { id, rest: relativePath(path, trashedLinkPath(id)) };
}
