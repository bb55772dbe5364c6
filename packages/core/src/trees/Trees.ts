import type { ItemRef, UserStore } from '@stowage/plugin-api';
import {
	type Area,
	anonymousOwner,
	Failure,
	homeRoot,
	isValidUsername,
	type Membership,
	type Owner,
	publicRoot,
	signedIn,
	type User,
	undefinedIf,
	type Viewer,
	visibleOwners,
	writingOwner,
} from '@stowage/rules';
import type { Config } from '../config/schema.js';
import type { Quotas } from '../quotas/createQuotas.js';
import type { FolderFeeds } from './feeds/FolderFeeds.js';
import type { MemberRights } from './MemberFolders.js';
import { DiskSpaces, OwnTree } from './OwnTree.js';
import { SharedItems } from './SharedItems.js';
import type { DiskUses } from './space/DiskUses.js';
import { homesOnDisk } from './storage/listHomes.js';
import type { MountedStorage } from './storage/MountedStorage.js';
import { type AreaPlace, type AreaTree, notFound, type Place, placeIn, type Tree } from './Tree.js';
import type { TrashEviction } from './trash/purging/TrashEviction.js';

interface Dependencies {
	config: Pick<Config, 'publicListing' | 'uploads'>;
	/** Throws until the storage is open. */
	storage(): MountedStorage;
	users: Pick<UserStore, 'get'>;
	quotas: Pick<Quotas, 'of'>;
	trash: Pick<TrashEviction, 'giveWay'>;
	diskUses: DiskUses;
	feeds: FolderFeeds;
	memberRights: MemberRights;
}

/** Says which trees a viewer means and sees. What they may do in one is said by the rules, which each call of `Files` asks. */
export class Trees {
	readonly #dependencies: Dependencies;
	readonly #spaces: DiskSpaces;

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
		this.#spaces = new DiskSpaces(dependencies.config.uploads, dependencies.trash, dependencies.diskUses);
	}

	/** The tree that the viewer writes to. Throws `notSignedIn` for the private one of a visitor, and for a guest, who have none. */
	own(viewer: Viewer, area: Area): OwnTree {
		if (viewer.kind === 'guest') throw new Failure('notSignedIn', 'Please sign in first.');
		const { users, feeds, quotas, memberRights } = this.#dependencies;
		const parts = { users, feeds, quota: quotas.of(viewer), spaces: this.#spaces, memberRights };
		return new OwnTree(viewer, this.#ofArea(viewer, area, writingOwner(viewer)), parts);
	}

	/**
	 * The tree of an area that an owner has; without one it is the administrator's public tree. Throws `notFound` for a
	 * name that can't be an owner.
	 */
	of(viewer: User, area: Area, owner?: Owner): AreaTree;
	of(viewer: Viewer, area: Area, owner?: Owner): Tree;
	of(viewer: Viewer, area: Area, owner: Owner = null): Tree {
		if (viewer.kind !== 'guest') return this.#ofArea(viewer, area, owner);
		if (area !== 'private') throw notFound();
		const storage = new SharedItems(this.#dependencies.storage().home(viewer.owner.username), viewer);
		return { area: 'share', owner: undefined, root: storage.root, storage, isVirtual: viewer.root.kind === 'items' };
	}

	#ofArea(viewer: Viewer, area: Area, owner: Owner): AreaTree {
		// Who works in a shared folder does so in its owner's private area.
		if (area === 'shared') throw notFound();
		const home = area === 'private' ? signedIn(viewer).username : publicHome(owner);
		const root = area === 'private' ? homeRoot(home as string) : publicRoot(owner);
		const { storage: mounted, memberRights } = this.#dependencies;
		const isMember = viewer.kind === 'user' && viewer.member !== undefined && home === viewer.username;
		const storage = isMember
			? mounted().memberHome(viewer, viewer.member as Membership, memberRights)
			: mounted().home(home);
		return { area, owner: area === 'private' ? undefined : owner, root, storage };
	}

	/** The trees that a listing of the area shows, in their order. */
	visible(viewer: User, area: Area): Promise<AreaTree[]>;
	visible(viewer: Viewer, area: Area): Promise<Tree[]>;
	async visible(viewer: Viewer, area: Area): Promise<Tree[]> {
		if (area === 'private') return [this.of(viewer, area)];
		const { config, storage } = this.#dependencies;
		const others = config.publicListing === 'everyone' ? (await homesOnDisk(storage())).filter(isValidUsername) : [];
		const owners = new Set<Owner>([...visibleOwners(viewer), ...others]);
		return [...owners].map((owner) => this.of(viewer, area, owner));
	}

	/**
	 * Where the item of a read lies. Without an owner it is in the first visible tree that has the path. `visible` may
	 * be known from a read before.
	 */
	find(viewer: User, ref: ItemRef): Promise<AreaPlace>;
	find(viewer: Viewer, ref: ItemRef, visible?: () => Promise<Tree[]>): Promise<Place>;
	async find(
		viewer: Viewer,
		{ area, path, owner }: ItemRef,
		visible = () => this.visible(viewer, area),
	): Promise<Place> {
		if (area === 'private' || owner !== undefined) return placeIn(this.of(viewer, area, owner), path);
		for (const tree of await visible()) {
			const place = placeIn(tree, path);
			const item = await undefinedIf(tree.storage.stat(place.storagePath), 'notFound');
			if (item !== undefined) return place;
		}
		throw notFound();
	}
}

/** The home that a public tree is in; nothing for those without a user. */
function publicHome(owner: Owner): string | undefined {
	if (owner === null || owner === anonymousOwner) return undefined;
	// Names come from clients: an impossible user name must not reach the disk, and is answered like an unknown one.
	if (!isValidUsername(owner)) throw notFound();
	return owner;
}
