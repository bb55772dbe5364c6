import type { ItemRef, UserStore } from '@stowage/plugin-api';
import {
	type Area,
	anonymousOwner,
	Failure,
	homeRoot,
	isValidUsername,
	type Owner,
	publicRoot,
	undefinedIf,
	type Viewer,
	visibleOwners,
	writingOwner,
} from '@stowage/rules';
import type { Config } from '../config/schema.js';
import type { Quotas } from '../quotas/createQuotas.js';
import type { FolderFeeds } from './feeds/FolderFeeds.js';
import { homesOnDisk } from './homes.js';
import type { MountedStorage } from './MountedStorage.js';
import { DiskSpaces, OwnTree } from './OwnTree.js';
import { notFound, type Place, placeIn, type Tree } from './Tree.js';

interface Dependencies {
	config: Pick<Config, 'publicListing' | 'uploads'>;
	/** Throws until the storage is open. */
	storage(): MountedStorage;
	users: Pick<UserStore, 'get'>;
	quotas: Pick<Quotas, 'of'>;
	feeds: FolderFeeds;
}

/** Says which trees a viewer means and sees. What they may do in one is said by the rules, which each call of `Files` asks. */
export class Trees {
	readonly #dependencies: Dependencies;
	readonly #spaces: DiskSpaces;

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
		this.#spaces = new DiskSpaces(dependencies.config.uploads);
	}

	/** The tree that the viewer writes to. Throws `notSignedIn` for the private one of a visitor, who has none. */
	own(viewer: Viewer, area: Area): OwnTree {
		const { users, feeds, quotas, storage } = this.#dependencies;
		const tree = area === 'private' ? privateTree(viewer) : publicTree(writingOwner(viewer));
		const parts = { storage: storage(), users, feeds, quota: quotas.of(viewer), spaces: this.#spaces };
		return new OwnTree(viewer, area, tree.owner, tree.root, parts);
	}

	/** The trees that a listing of the area shows, in their order. */
	async visible(viewer: Viewer, area: Area): Promise<Tree[]> {
		if (area === 'private') return [privateTree(viewer)];
		const { config, storage } = this.#dependencies;
		const others = config.publicListing === 'everyone' ? (await homesOnDisk(storage())).filter(isValidUsername) : [];
		return [...new Set<Owner>([...visibleOwners(viewer), ...others])].map(publicTree);
	}

	/** Where the item of a read lies. Without an owner it is in the first visible tree that has the path. `visible` may be known from a read before. */
	async find(
		viewer: Viewer,
		{ area, path, owner }: ItemRef,
		visible = () => this.visible(viewer, area),
	): Promise<Place> {
		if (area === 'private' || owner !== undefined) return placeIn(treeOf(viewer, area, owner), path);
		for (const tree of await visible()) {
			const place = placeIn(tree, path);
			const item = await undefinedIf(this.#dependencies.storage().stat(place.storagePath), 'notFound');
			if (item !== undefined) return place;
		}
		throw notFound();
	}
}

/** The tree of an area that an owner has; without one it is the administrator's public tree. Throws `notFound` for a name that can't be an owner. */
export function treeOf(viewer: Viewer, area: Area, owner: Owner = null): Tree {
	return area === 'private' ? privateTree(viewer) : publicTree(owner);
}

function publicTree(owner: Owner): Tree {
	// Names come from clients: an impossible user name must not reach the disk, and is answered like an unknown one.
	if (owner !== null && owner !== anonymousOwner && !isValidUsername(owner)) throw notFound();
	return { area: 'public', owner, root: publicRoot(owner) };
}

function privateTree(viewer: Viewer): Tree {
	if (viewer.kind === 'anonymous') throw new Failure('notSignedIn', 'Please sign in first.');
	return { area: 'private', owner: undefined, root: homeRoot(viewer.username) };
}
