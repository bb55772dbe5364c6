import type { ReboundVersions, StorageItem, TrashRecord, VersionStore } from '@stowage/plugin-api';
import { joinChecked, relativePath, type StoragePath, undefinedIf } from '@stowage/rules';
import { identityOf } from '../../identity.js';
import type { Mount } from '../../storage/Mounts.js';
import { prefixed } from '../../storage/rootIds.js';
import { trashedLinkPath, trashedPath } from '../trashPaths.js';

/** The files at a path or below that have versions, each with its copy on another root, where it has the same path below `toRoot`. */
export async function copiedFiles(
	versions: VersionStore,
	ownerId: string,
	path: StoragePath,
	placeOf: (path: StoragePath) => StoragePath,
	from: Mount,
	to: Mount,
): Promise<ReboundVersions[]> {
	const identityAt = async ({ storage, idPrefix }: Mount, at: StoragePath): Promise<string | undefined> => {
		const item: StorageItem | undefined = await undefinedIf(storage.stat(at), 'notFound', 'forbidden');
		return item && identityOf(prefixed(item, idPrefix));
	};
	const copied: ReboundVersions[] = [];
	await versions.countsWithin(ownerId, path, async (some) => {
		for (const found of some) {
			const at = placeOf(found.path);
			if ((await identityAt(from, at)) !== found.file) continue;
			const file = await identityAt(to, at);
			if (file !== undefined) copied.push({ ownerId, former: found.file, file, path: found.path });
		}
	});
	return copied;
}

/** Binds versions of an item of the trash, and of files in it, to its copy in the trash of another root. */
export async function rebindTrashedVersions(
	versions: VersionStore,
	{ id, ownerId }: Pick<TrashRecord, 'id' | 'ownerId'>,
	from: Mount,
	to: Mount,
): Promise<void> {
	const root = trashedLinkPath(id);
	const placeOf = (path: StoragePath) => joinChecked(trashedPath(id), relativePath(path, root));
	for (const { former, file } of await copiedFiles(versions, ownerId, root, placeOf, from, to))
		await versions.bind(ownerId, former, file);
}
