import type { LinkRecord, LinkStore, StorageProvider } from '@stowage/plugin-api';
import { homeRoot, isFailure, isPublicPath, joinChecked } from '@stowage/rules';
import { locateLink } from './locateLink.js';
import type { RestoredFiles } from './RestoredFiles.js';

/** A link as it was when hashes were made. */
export type KnownLink = Pick<LinkRecord, 'id' | 'path' | 'itemId'>;

/** `unavailable`: its disk is away. */
export type Relinked = 'bound' | 'held' | 'differs' | 'unknown' | 'unavailable';

/**
 * Binds a link again to the item at its path, after files were restored by other means and are new objects. It is bound only if link and
 * path are those of before, and the bytes are, in a folder those of most files: another file or folder under an old
 * name is never served. The object that is bound is the one whose bytes were read.
 */
export async function relink(link: LinkRecord, known: KnownLink | undefined, stores: Stores): Promise<Relinked> {
	try {
		return await relinkReadable(link, known, stores);
	} catch (error) {
		// Those of other disks are bound all the same.
		if (isFailure(error, 'unavailable')) return 'unavailable';
		throw error;
	}
}

interface Stores {
	links: LinkStore;
	storage: StorageProvider;
	/** One instance for all links, so that each file is read once. */
	files: RestoredFiles;
}

async function relinkReadable(
	link: LinkRecord,
	known: KnownLink | undefined,
	{ links, storage, files }: Stores,
): Promise<Relinked> {
	if ((await locateLink(storage, link)) !== undefined) return 'held';
	if (known === undefined || known.path !== link.path || known.itemId !== link.itemId) return 'unknown';
	if (link.nextPath !== undefined || isPublicPath(link.path)) return 'unknown';
	const identity = await files.identityAt(joinChecked(homeRoot(link.owner.username), link.path));
	if (identity === undefined) return 'differs';
	return (await links.rebind(link.id, link.itemId, identity)) ? 'bound' : 'unknown';
}
