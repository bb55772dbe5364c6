import type { LinkStore, TrashRecord } from '@stowage/plugin-api';
import { isWithin, joinChecked, relativePath, type StoragePath, undefinedIf } from '@stowage/rules';
import { identityOf } from '../trees/identity.js';
import type { Mount } from '../trees/storage/Mounts.js';
import { prefixed } from '../trees/storage/rootIds.js';
import { trashedLinkPath, trashedPath } from '../trees/trash/trashPaths.js';

/** Binds the links to an item of the trash, and to what is in it, to its copy in the trash of another root. */
export async function rebindTrashedLinks(
	links: LinkStore,
	{ id, ownerId }: Pick<TrashRecord, 'id' | 'ownerId'>,
	from: Mount,
	to: Mount,
): Promise<void> {
	const root = trashedLinkPath(id);
	const identityAt = async ({ storage, idPrefix }: Mount, path: StoragePath) => {
		const item = await undefinedIf(storage.stat(joinChecked(trashedPath(id), relativePath(path, root))), 'notFound');
		return item && identityOf(prefixed(item, idPrefix));
	};
	await links.eachWithin(ownerId, root, async (some) => {
		for (const link of some) {
			// Its former path may be left beside it, where the end of the deletion could not be recorded.
			const path = [link.path, link.nextPath].find((at) => at !== undefined && isWithin(at, root));
			if (path === undefined) continue;
			const [before, after] = [await identityAt(from, path), await identityAt(to, path)];
			if (before === link.itemId && after !== undefined) await links.rebind(link.id, before, after, path);
		}
	});
}
