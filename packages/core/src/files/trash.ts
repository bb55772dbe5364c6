import type { TrashedItem, TrashSelection } from '@stowage/plugin-api';
import {
	anonymousOwner,
	type Entry,
	homeRoot,
	joinChecked,
	joinPath,
	parentPath,
	parsePath,
	publicFolderName,
	relativePath,
	signedIn,
	type User,
	type Viewer,
	type Visitor,
	writingOwner,
} from '@stowage/rules';
import { placeIn } from '../trees/Tree.js';
import { notInTrash } from '../trees/trash/moveTrash.js';
import type { PurgedOfOwner } from '../trees/trash/purging/TrashPurge.js';
import { trashedLinkPath, trashedPath } from '../trees/trash/trashPaths.js';
import type { FileParts } from './FileParts.js';
import { addItem } from './placing/addItem.js';

/** Items of the trash that are listed at most. */
const maxListed = 10_000;

/** Characters of the paths of those, or a few more: ten thousand paths may be 40 MB, each list of which would hold others up. */
const maxCharacters = 2 * 1024 * 1024;

export interface TrashListing {
	items: TrashedItem[];
	/** The bytes of all that is in the trash and measured, listed or not. */
	size: number;
	/** Only where more are in it than are listed. */
	truncated?: true;
}

/** An item that was restored, with the name of its owner where that is somebody else, who shares its folder with the viewer. */
export interface RestoredItem {
	entry: Entry;
	owner?: string;
}

/** The trash of a user's home. */
export interface Trash {
	/** How long an item is kept, in milliseconds; 0 where nothing is. */
	readonly keepFor: number;
	/** The newest first. */
	list(viewer: Viewer): Promise<TrashListing>;
	/** Moves an item back to where it was, with missing folders; a taken name gets ` (n)`. */
	restore(viewer: Viewer, id: string): Promise<RestoredItem>;
	/** Removes an item for good. Throws `notFound`. */
	purge(viewer: Viewer, id: string): Promise<void>;
	/** Removes all items for good; resolves to how many there were. */
	empty(viewer: Viewer): Promise<number>;
	/**
	 * For the administrator: restores anybody's item, also of a user who is gone, to the home of `owner`. The home of
	 * visitors gets only what was theirs. Throws `notFound`.
	 */
	restoreFor(owner: User | Visitor, id: string): Promise<Entry>;
	/** For the administrator: removes all selected items for good. Resolves to how many were whose. */
	purgeAny(selection: Omit<TrashSelection, 'kind'>): Promise<PurgedOfOwner[]>;
}

export function createTrash(parts: FileParts): Trash {
	const { trash } = parts;
	return {
		get keepFor() {
			return trash.keepFor;
		},
		async list(viewer) {
			const user = signedIn(viewer);
			const { items, bytes, isAll } = await trash.list(user.id, maxListed + 1, maxCharacters);
			return {
				items: items.slice(0, maxListed).map((item) => withCurrentName(item, user)),
				size: bytes,
				...(isAll ? {} : { truncated: true }),
			};
		},
		async restore(viewer, id) {
			const user = signedIn(viewer);
			return { entry: restored(await trash.moves.takeOut(id, user.id, (record) => putBack(parts, user, record))) };
		},
		async purge(viewer, id) {
			if ((await trash.purge({ kind: 'item', ids: [id], ownerId: signedIn(viewer).id })) === 0) throw notInTrash();
		},
		empty: async (viewer) => trash.purge({ kind: 'item', ownerId: signedIn(viewer).id }),
		restoreFor: async (owner, id) => {
			const ownerId = owner.kind === 'user' ? undefined : anonymousOwner;
			return restored(await trash.moves.takeOut(id, ownerId, (record) => putBack(parts, owner, record)));
		},
		purgeAny: (selection) => trash.purgeOfEach({ ...selection, kind: 'item' }),
	};
}

/** Moves an item of the trash to where it was, as the viewer whose home that is. */
export async function putBack(parts: FileParts, viewer: User | Visitor, record: TrashedItem): Promise<Entry> {
	const { trees, tracker, trash } = parts;
	// Visitors have no private area.
	const isUser = viewer.kind === 'user';
	const tree = trees.own(viewer, isUser ? 'private' : 'public');
	const { storage } = tree;
	const was = isUser ? record.path : relativePath(record.path, parsePath(publicFolderName));
	const from = { tree, path: was, storagePath: trashedPath(record.id) };
	// It may still be on the disk that its home has left.
	await trash.moveTo(record, await storage.mount());
	const links = joinChecked(homeRoot(writingOwner(viewer)), trashedLinkPath(record.id));
	const content = { kind: 'moved', from: links } as const;
	return addItem(parts, tree, { from, to: placeIn(tree, was), content }, (path, options) =>
		tracker.moving(viewer, links, (before) =>
			storage.moveFrom(storage, from.storagePath, path, {
				...options,
				beforeNaming: (name) => before(joinPath(parentPath(path), name)),
			}),
		),
	);
}

/** An item of the trash with the present name of its owner, who has deleted it and may have another one since. */
export function withCurrentName<T extends Pick<TrashedItem, 'deletedBy' | 'ownerName'>>(
	item: T,
	{ username }: Pick<User, 'username'>,
): T {
	return item.deletedBy === item.ownerName ? { ...item, deletedBy: username } : item;
}

function restored(entry: Entry | undefined): Entry {
	if (entry === undefined) throw notInTrash();
	return entry;
}
