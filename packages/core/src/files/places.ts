import type { ItemRef, StorageProvider } from '@stowage/plugin-api';
import {
	type Area,
	anonymousOwner,
	Failure,
	homeRoot,
	isFailure,
	isValidUsername,
	joinPath,
	type Owner,
	publicRoot,
	rootPath,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';

/** The place of an item of an area in the storage. */
export interface Place {
	area: Area;
	/** The owner of the public tree; undefined in the private area. */
	owner: Owner | undefined;
	/** Relative to the area's root. */
	path: StoragePath;
	/** Relative to the storage root. */
	at: StoragePath;
}

/** The same message for missing items and for those the viewer may not see. */
export const notThere = (cause?: unknown) => new Failure('notFound', 'There is no such file or folder.', { cause });

function placeIn(area: Area, owner: Owner | undefined, root: StoragePath, path: StoragePath): Place {
	return { area, owner, path, at: joinPath(root, path) };
}

/** A path of an owner's public tree. Throws `notFound` for a name that can't be an owner. */
export function publicPlace(owner: Owner, path: StoragePath): Place {
	// Names come from clients: an impossible user name must not reach the disk, and is answered like an unknown one.
	if (owner !== null && owner !== anonymousOwner && !isValidUsername(owner)) throw notThere();
	return placeIn('public', owner, publicRoot(owner), path);
}

/** A path of the viewer's home. Throws `notSignedIn` for a visitor, who has none. */
export function privatePlace(viewer: Viewer, path: StoragePath): Place {
	if (viewer.kind === 'anonymous') throw new Failure('notSignedIn', 'Please sign in first.');
	return placeIn('private', undefined, homeRoot(viewer.username), path);
}

/** The place that a write means: the viewer's own tree. The rules have refused another owner by then. */
export function ownPlace(viewer: Viewer, { area, path }: ItemRef): Place {
	if (area === 'private') return privatePlace(viewer, path);
	return publicPlace(viewer.kind === 'user' ? viewer.username : anonymousOwner, path);
}

/** The root of all that the viewer may write, which determines the disk of a new file. */
export function treeOf(viewer: Viewer): StoragePath {
	return ownPlace(viewer, { area: 'public', path: rootPath }).at;
}

/** The place of a read. Without an owner it is the first of the given public trees that has the path. */
export async function readPlace(
	storage: StorageProvider,
	viewer: Viewer,
	ref: ItemRef,
	owners: () => Promise<readonly Owner[]>,
): Promise<Place> {
	if (ref.area === 'private') return privatePlace(viewer, ref.path);
	if (ref.owner !== undefined) return publicPlace(ref.owner, ref.path);
	for (const owner of await owners()) {
		const place = publicPlace(owner, ref.path);
		try {
			await storage.stat(place.at);
			return place;
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
		}
	}
	throw notThere();
}
