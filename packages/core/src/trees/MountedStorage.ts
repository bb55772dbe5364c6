import {
	type CopyOptions,
	type FolderListener,
	hasLocalFiles,
	hasSurvey,
	hasWatch,
	type MoveOptions,
	type OpenFile,
	type ReplacingStorage,
	type StagedFile,
	type StagingCutoffs,
	type StorageEntry,
	type StorageItem,
	type SurveyBatch,
	type SurveyingStorage,
	type Watch,
	type WatchingStorage,
} from '@stowage/plugin-api';
import { Failure, parsePath, type StoragePath } from '@stowage/rules';
import { copyMounted } from './copyMounted.js';
import { itemsIn } from './itemsIn.js';
import { listHomes } from './listHomes.js';
import { MountedStaging } from './MountedStaging.js';
import {
	assertReplaceable,
	canReplaceAt,
	changingAt,
	homeAt,
	homesFolder,
	type Mount,
	type Mounts,
	mountAt,
} from './Mounts.js';
import { prefixed, prefixedFile } from './rootIds.js';

/**
 * All storage roots as one: each home is on one of them, and everything without a user on the default one. A root that is not available affects its own part
 * and nothing else. A file is staged for a path, since it must lie on the disk that it will be published on.
 */
export class MountedStorage implements ReplacingStorage, SurveyingStorage, WatchingStorage {
	readonly #mounts: Mounts;
	readonly #staging: MountedStaging;

	constructor(mounts: Mounts) {
		this.#mounts = mounts;
		this.#staging = new MountedStaging(mounts);
	}

	get rootId(): string {
		return this.#mounts.default.storage.rootId;
	}

	/** What maps the homes to roots. */
	get mounts(): Mounts {
		return this.#mounts;
	}

	/** The root that contains the path. */
	mountAt(path: StoragePath): Mount | Promise<Mount> {
		return mountAt(this.#mounts, path);
	}

	/** Runs work that depends on the root of a home and on the ids of its items: it is not moved meanwhile. Throws `locked` while it is. */
	changing<T>(path: StoragePath, work: () => Promise<T>): Promise<T> {
		return changingAt(this.#mounts, path, work);
	}

	async *list(path: StoragePath): AsyncGenerator<StorageEntry[]> {
		if (path === homesFolder) yield* listHomes(this.#mounts);
		else yield* (await this.mountAt(path)).storage.list(path);
	}

	async count(path: StoragePath): Promise<number> {
		if (path !== homesFolder) return (await this.mountAt(path)).storage.count(path);
		let count = 0;
		for await (const batch of listHomes(this.#mounts)) count += batch.length;
		return count;
	}

	async *survey(path: StoragePath): AsyncGenerator<SurveyBatch> {
		const { storage, idPrefix } = await this.mountAt(path);
		const batches = hasSurvey(storage) ? storage.survey(path) : itemsIn(storage, path);
		for await (const { items, skipped } of batches) {
			yield { items: idPrefix === '' ? items : items.map((item) => prefixed(item, idPrefix)), skipped };
		}
	}

	async stat(path: StoragePath): Promise<StorageItem> {
		const { storage, idPrefix } = await this.mountAt(path);
		return prefixed(await storage.stat(path), idPrefix);
	}

	async open(path: StoragePath): Promise<OpenFile> {
		const { storage, idPrefix } = await this.mountAt(path);
		return prefixedFile(await storage.open(path), idPrefix);
	}

	canReplace(path: StoragePath): Promise<boolean> {
		return canReplaceAt(this.#mounts, path);
	}

	makeDirectory(path: StoragePath): Promise<StorageItem> {
		return this.changing(path, async () => {
			const { storage, idPrefix } = await this.mountAt(path);
			return prefixed(await storage.makeDirectory(path), idPrefix);
		});
	}

	move(from: StoragePath, to: StoragePath, options?: MoveOptions): Promise<StorageItem> {
		const move = async () => {
			const [source, target] = await Promise.all([this.mountAt(from), this.mountAt(to)]);
			if (source !== target) throw new Failure('invalid', 'Items can’t be moved to a home on another disk.');
			await assertReplaceable(this.#mounts, to, options);
			return prefixed(await source.storage.move(from, to, options), source.idPrefix);
		};
		return this.changing(from, () => (homeAt(to) === homeAt(from) ? move() : this.changing(to, move)));
	}

	copy(from: StoragePath, to: StoragePath, options: CopyOptions = {}): Promise<StorageItem> {
		return this.changing(to, async () => {
			await assertReplaceable(this.#mounts, to, options);
			return copyMounted(this.#mounts, this.#staging, from, to, options);
		});
	}

	discardCopy(id: string): Promise<void> {
		return this.#staging.discardCopy(id);
	}

	remove(path: StoragePath): Promise<void> {
		return this.changing(path, async () => (await this.mountAt(path)).storage.remove(path));
	}

	removeEmptyFolder(path: StoragePath): Promise<void> {
		return this.changing(path, async () => (await this.mountAt(path)).storage.removeEmptyFolder(path));
	}

	/** `at` is where a new file shall go, the default root where it is left out. */
	stage(id?: string, at: StoragePath = parsePath('')): Promise<StagedFile> {
		return id === undefined ? this.#staging.begin(at) : this.#staging.find(id);
	}

	/** The name of the root that a staged file lies on; undefined where there is no such root any more. */
	rootOfStaged(id: string): string | undefined {
		return this.#staging.rootOf(id);
	}

	findPublished(id: string, path: StoragePath): Promise<StorageItem | undefined> {
		return this.#staging.findPublished(id, path);
	}

	sweepStaging(before: StagingCutoffs, isNeeded: (id: string) => Promise<boolean>): Promise<void> {
		return this.#staging.sweep(before, isNeeded);
	}

	/** Of the default root. What may be written into a home is asked of its own root. */
	freeSpace(): Promise<number | undefined> {
		return this.#mounts.default.storage.freeSpace();
	}

	totalSpace(): Promise<number | undefined> {
		return this.#mounts.default.storage.totalSpace();
	}

	/** Undefined if the path is on another root than the first, which is the one that other programs get as a folder. */
	async localPath(path: StoragePath): Promise<string | undefined> {
		const { storage, idPrefix } = await this.mountAt(path);
		return idPrefix === '' && hasLocalFiles(storage) ? storage.localPath(path) : undefined;
	}

	async watch(path: StoragePath, listener: FolderListener): Promise<Watch | undefined> {
		if (path === homesFolder && this.#mounts.all().length > 1) return undefined;
		const { storage } = await this.mountAt(path);
		return hasWatch(storage) ? storage.watch(path, listener) : undefined;
	}

	async check(): Promise<void> {
		for (const { storage } of this.#mounts.all()) await storage.check();
	}

	async close(): Promise<void> {
		await Promise.all(this.#mounts.all().map(({ storage }) => storage.close()));
	}
}
