import type { StorageProvider, UserStore } from '@stowage/plugin-api';
import {
	type Area,
	anonymousOwner,
	Failure,
	homeRoot,
	isFailure,
	isStranger,
	type Owner,
	relativePath,
	type StoragePath,
	type User,
	type Visitor,
} from '@stowage/rules';
import type { HomeQuota } from '../quotas/HomeQuota.js';
import type { FolderFeeds } from './feeds/FolderFeeds.js';
import type { MemberRights } from './MemberFolders.js';
import type { DiskUses } from './space/DiskUses.js';
import {
	availableSpace,
	createSpaceGuards,
	type FreeSpaceReserve,
	type SpaceGuard,
	type SpaceGuards,
} from './space/freeSpace.js';
import { makeHome } from './storage/folders.js';
import type { HomeStorage } from './storage/HomeStorage.js';
import type { ItemStorage } from './storage/Mounts.js';
import { type AreaTree, placeIn } from './Tree.js';
import type { TrashEviction } from './trash/purging/TrashEviction.js';

export interface OwnTreeParts {
	users: Pick<UserStore, 'get'>;
	feeds: Pick<FolderFeeds, 'notifyChange'>;
	quota: HomeQuota;
	spaces: DiskSpaces;
	memberRights: MemberRights;
}

/** A tree that the viewer may change: what is written there is theirs, and counts for them. */
export class OwnTree implements AreaTree {
	readonly area: Area;
	readonly owner: Owner | undefined;
	readonly root: StoragePath;
	readonly storage: HomeStorage;
	readonly #parts: OwnTreeParts;

	constructor(
		readonly viewer: Visitor | User,
		{ area, owner, root, storage }: AreaTree,
		parts: OwnTreeParts,
	) {
		this.area = area;
		this.owner = owner;
		this.root = root;
		this.storage = storage;
		this.#parts = parts;
	}

	get quota(): HomeQuota {
		return this.#parts.quota;
	}

	/** The disk that new files of the tree go to. Throws `unavailable` while it is not known. */
	async disk(): Promise<StorageProvider> {
		return (await this.storage.mount()).storage;
	}

	/** The reserve of that disk. */
	async space(): Promise<SpaceGuard> {
		return this.#parts.spaces.of(await this.disk())[isStranger(this.viewer) ? 'anonymous' : 'user'];
	}

	/**
	 * Throws `conflict` if the user was renamed, disabled or removed during the request: nothing may be written under
	 * the old name any more.
	 */
	async assertExists(): Promise<void> {
		const { viewer } = this;
		if (viewer.kind !== 'user') return;
		const user = await this.#parts.users.get(viewer.id);
		if (user?.username !== viewer.username || user.isDisabled)
			throw new Failure('conflict', 'The account was changed meanwhile. Please sign in again.');
	}

	/**
	 * Throws unless the viewer may still change what is at a path of the storage, where that can end: shortly before it
	 * is changed past this tree.
	 */
	async assertMayStill(storagePath: StoragePath): Promise<void> {
		const { viewer } = this;
		if (viewer.kind !== 'user' || viewer.member === undefined) return;
		const path = relativePath(storagePath, homeRoot(viewer.username));
		await this.#parts.memberRights.assertMayEdit(viewer, viewer.member, path);
	}

	/** Creates the missing folders of the home that the tree is in. */
	async create(): Promise<void> {
		await this.assertExists();
		// A home with members is there.
		if (this.viewer.kind === 'user' && this.viewer.member !== undefined) return;
		await makeHome(this.storage, this.viewer.kind === 'user' ? this.viewer.username : anonymousOwner);
	}

	/** Runs `work`, and again with the tree created if that was missing. */
	async withCreated<T>(work: () => Promise<T>): Promise<T> {
		try {
			return await work();
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
			await this.create();
			return work();
		}
	}

	/** Throws `notFound` unless there is a folder of that path. The tree itself is created if it is missing. */
	async assertFolder(path: StoragePath): Promise<void> {
		await this.withCreated(() => assertFolder(this.storage, placeIn(this, path).storagePath));
	}

	/** Notifies its watchers that an item was created or removed at a path of the storage. */
	notifyChange(storagePath: StoragePath): void {
		this.#parts.feeds.notifyChange(storagePath);
	}
}

export async function assertFolder(storage: Pick<ItemStorage, 'stat'>, path: StoragePath): Promise<void> {
	if ((await storage.stat(path)).type !== 'directory') throw notFoundFolder();
}

const notFoundFolder = () => new Failure('notFound', 'There is no such folder.');

/** The reserves of the disks, one for each. */
export class DiskSpaces {
	readonly #guards = new WeakMap<StorageProvider, SpaceGuards>();
	readonly #settings: { freeSpaceReserve: FreeSpaceReserve };
	readonly #trash: Pick<TrashEviction, 'giveWay'>;

	readonly #uses: DiskUses;

	constructor(settings: { freeSpaceReserve: FreeSpaceReserve }, trash: Pick<TrashEviction, 'giveWay'>, uses: DiskUses) {
		this.#settings = settings;
		this.#trash = trash;
		this.#uses = uses;
	}

	/** The space of a disk, which is asked itself: the home by which the disk was found may lie on another one later. */
	of(disk: StorageProvider): SpaceGuards {
		const guards = this.#guards.get(disk) ?? this.#guardsOf(disk);
		this.#guards.set(disk, guards);
		return guards;
	}

	#guardsOf(disk: StorageProvider): SpaceGuards {
		const { rootId } = disk;
		return createSpaceGuards(
			() => availableSpace(disk, this.#settings),
			(lackNow) => this.#trash.giveWay({ rootId }, async () => ({ bytes: await lackNow(), entries: 0 })),
			{
				mayExist: () => this.#uses.mayHaveOthers(),
				say: () => this.#uses.say(),
				changed: () => this.#uses.changed(),
				unwritten: async () => (await this.#uses.ofOthers(rootId)).unwritten,
				include: (own) => this.#uses.includeDisk(rootId, own),
			},
		);
	}
}
