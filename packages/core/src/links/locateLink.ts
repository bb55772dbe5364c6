import type { BoundItem, OpenFile, StorageItem, StorageProvider } from '@stowage/plugin-api';
import { homeRoot, isPublicPath, joinChecked, type StoragePath, undefinedIf } from '@stowage/rules';
import { identityOf } from '../trees/identity.js';

export interface LocatedLink {
	/** Relative to the owner's home. */
	path: StoragePath;
	item: StorageItem;
}

/**
 * The current place of a link's item: its path or, if a move was interrupted before its end was recorded, the target of that move.
 * Undefined once it is gone, replaced or public.
 */
export async function locateLink(
	storage: Pick<StorageProvider, 'open' | 'stat'>,
	link: BoundItem,
): Promise<LocatedLink | undefined> {
	for (const path of link.nextPath === undefined ? [link.path] : [link.path, link.nextPath]) {
		const item = await undefinedIf(storage.stat(placeOf(link, path)), 'notFound', 'forbidden');
		if (item !== undefined && identityOf(item) === link.itemId) return isPublicPath(path) ? undefined : { path, item };
	}
	return undefined;
}

/** Locates a link and opens its file, which then can't be replaced; the caller closes it. `file` is undefined for a folder. */
export async function openLink(
	storage: Pick<StorageProvider, 'open' | 'stat'>,
	link: BoundItem,
): Promise<(LocatedLink & { file: OpenFile | undefined }) | undefined> {
	const located = await locateLink(storage, link);
	if (located?.item.type !== 'file') return located && { ...located, file: undefined };
	const file = await undefinedIf(storage.open(placeOf(link, located.path)), 'notFound', 'forbidden');
	if (file === undefined || identityOf(file.item) === link.itemId) return file && { ...located, item: file.item, file };
	await file.close();
	return undefined;
}

function placeOf({ owner }: BoundItem, path: StoragePath): StoragePath {
	return joinChecked(homeRoot(owner.username), path);
}
