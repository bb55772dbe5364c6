import {
	type CopyOptions,
	type FolderListener,
	hasWatch,
	type MoveOptions,
	type OpenFile,
	type RemovalOptions,
	type ReplacingStorage,
	type StagedFile,
	type StatsBatch,
	type StatsListingStorage,
	type StorageEntry,
	type StorageItem,
	type Watch,
	type WatchingStorage,
} from '@stowage/plugin-api';
import { type Membership, rootPath, type StoragePath, type User } from '@stowage/rules';
import type { TimedCutoffs } from '../across/copies.js';
import type { MemberRights } from '../MemberFolders.js';
import { MemberHome } from '../MemberHome.js';
import { type FoundHomes, findHomes } from './findHomes.js';
import { HomeStorage } from './HomeStorage.js';
import { listHomes } from './listHomes.js';
import { MountedStaging } from './MountedStaging.js';
import { type Homes, homeAt, homesFolder, type Mount, type Mounts } from './Mounts.js';
import { assertNotPublic } from './publicSpelling.js';

/**
 * All storage roots as one: each home is on one of them, and everything without a user on the default one. A root that
 * is not available affects its own part and nothing else. A file is staged for a path, since it must lie on the disk
 * that it will be published on.
 */
export class MountedStorage implements ReplacingStorage, StatsListingStorage, WatchingStorage {
	readonly #mounts: Mounts;
	readonly #staging: MountedStaging;

	constructor(mounts: Mounts) {
		this.#mounts = mounts;
		this.#staging = new MountedStaging(mounts);
	}

	get rootId(): string {
		return this.#mounts.default.storage.rootId;
	}

	/** On which root each home lies. */
	get homes(): Homes {
		return this.#mounts.homes;
	}

	/** The root of new homes. */
	get defaultMount(): Mount {
		return this.#mounts.default;
	}

	/** The homes of a name, in whichever case, on all roots: also one that no account has. */
	findHomes(username: string): Promise<FoundHomes> {
		return findHomes(this.#mounts, username);
	}

	/** All roots. */
	mounts(): readonly Mount[] {
		return this.#mounts.all();
	}

	/** The files of a home, or of `undefined` all that no user has. */
	home(username: string | undefined): HomeStorage {
		return new HomeStorage(this.#mounts, username, this.#staging);
	}

	/** The home of a user as a member of its folders may see and change it. */
	memberHome(owner: User, member: Membership, rights: MemberRights): MemberHome {
		return new MemberHome(this.#mounts, this.#staging, owner, member, rights);
	}

	/** The files of the home that a path is in, or is. */
	homeOf(path: StoragePath): HomeStorage {
		return this.home(homeAt(path));
	}

	/** Runs work that depends on the root of a home and on the ids of its items: it is not moved meanwhile. Throws `locked` while it is. */
	changing<T>(username: string, work: () => Promise<T>): Promise<T> {
		return this.#mounts.homes.changing(username, work);
	}

	list(path: StoragePath): AsyncGenerator<StorageEntry[]> {
		return path === homesFolder ? listHomes(this.#mounts) : this.homeOf(path).list(path);
	}

	async count(path: StoragePath): Promise<number> {
		if (path !== homesFolder) return this.homeOf(path).count(path);
		let count = 0;
		for await (const batch of listHomes(this.#mounts)) count += batch.length;
		return count;
	}

	listWithStats(path: StoragePath): AsyncGenerator<StatsBatch> {
		return this.homeOf(path).listWithStats(path);
	}

	stat(path: StoragePath): Promise<StorageItem> {
		return this.homeOf(path).stat(path);
	}

	open(path: StoragePath): Promise<OpenFile> {
		return this.homeOf(path).open(path);
	}

	canReplace(path: StoragePath): Promise<boolean> {
		return this.homeOf(path).canReplace(path);
	}

	makeDirectory(path: StoragePath): Promise<StorageItem> {
		return this.homeOf(path).makeDirectory(path);
	}

	move(from: StoragePath, to: StoragePath, options?: MoveOptions): Promise<StorageItem> {
		return this.homeOf(to).moveFrom(this.homeOf(from), from, to, options);
	}

	copy(from: StoragePath, to: StoragePath, options?: CopyOptions): Promise<StorageItem> {
		return this.homeOf(to).copyFrom(this.homeOf(from), from, to, options);
	}

	discardCopy(id: string): Promise<void> {
		return this.#staging.discardCopy(id);
	}

	remove(path: StoragePath, options?: RemovalOptions): Promise<void> {
		return this.homeOf(path).remove(path, options);
	}

	removeEmptyFolder(path: StoragePath): Promise<void> {
		return this.homeOf(path).removeEmptyFolder(path);
	}

	/** `path` is where a new file shall go, the default root where it is left out. */
	stage(id?: string, path: StoragePath = rootPath): Promise<StagedFile> {
		return id === undefined ? this.homeOf(path).begin() : this.#staging.find(id);
	}

	/** The name of the root that a staged file lies on; undefined where there is no such root any more. */
	rootOfStaged(id: string): string | undefined {
		return this.#staging.rootOf(id);
	}

	findPublished(id: string, path: StoragePath): Promise<StorageItem | undefined> {
		return this.homeOf(path).findPublished(id, path);
	}

	sweepStaging(before: TimedCutoffs, isNeeded: (id: string) => Promise<boolean>): Promise<void> {
		return this.#staging.sweep(before, isNeeded);
	}

	/** The free bytes of the default root. What may be written into a home is asked of the home's own root. */
	freeSpace(): Promise<number | undefined> {
		return this.#mounts.default.storage.freeSpace();
	}

	totalSpace(): Promise<number | undefined> {
		return this.#mounts.default.storage.totalSpace();
	}

	async watch(path: StoragePath, listener: FolderListener): Promise<Watch | undefined> {
		if (path === homesFolder && this.#mounts.all().length > 1) return undefined;
		const { storage } = await this.homeOf(path).mount();
		await assertNotPublic(storage, path);
		return hasWatch(storage) ? storage.watch(path, listener) : undefined;
	}

	async check(): Promise<void> {
		for (const { storage } of this.#mounts.all()) await storage.check();
	}

	async close(): Promise<void> {
		await Promise.all(this.#mounts.all().map(({ storage }) => storage.close()));
	}
}
