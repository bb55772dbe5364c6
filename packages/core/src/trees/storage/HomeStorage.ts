import {
	assertUnmounted,
	type CopyOptions,
	type CopyStaging,
	hasListWithStats,
	hasLocalFiles,
	hasSmallFiles,
	type MoveOptions,
	type OpenFile,
	type RemovalOptions,
	type SmallFile,
	type StagedFile,
	type StatsBatch,
	type StorageEntry,
	type StorageItem,
	type StorageProvider,
} from '@stowage/plugin-api';
import { Failure, parentPath, type StoragePath } from '@stowage/rules';
import { copyBetween, findCopyBetween } from '../across/copyBetween.js';
import { itemsIn } from '../across/itemsIn.js';
import { BoundHome } from './BoundHome.js';
import type { MountedStaging } from './MountedStaging.js';
import { assertReplaceable, canReplaceOn, type ItemStorage, type Mount, type Mounts, mountOf } from './Mounts.js';
import { assertNotPublic } from './publicSpelling.js';
import { prefixed, prefixedFile } from './rootIds.js';

/** The files of one home for the length of a request, wherever it lies by then (`BoundHome`). */
export class HomeStorage implements ItemStorage {
	readonly #mounts: Mounts;
	readonly #home: BoundHome;
	readonly #staging: MountedStaging;

	constructor(mounts: Mounts, home: string | undefined, staging: MountedStaging) {
		this.#mounts = mounts;
		this.#home = new BoundHome(mounts, home);
		this.#staging = staging;
	}

	/** The root that the home lies on. Throws `unavailable` while it is not known. */
	mount(): Mount | Promise<Mount> {
		return this.#home.mount();
	}

	/** Records which root the home is created on, unless it lies on one. */
	async assign(): Promise<void> {
		if (this.#home.name !== undefined) await this.#mounts.homes.assign(this.#home.name);
	}

	list(path: StoragePath): AsyncGenerator<StorageEntry[]> {
		return this.#home.readBatches(path, ({ storage }) => storage.list(path));
	}

	count(path: StoragePath): Promise<number> {
		return this.#home.read(path, ({ storage }) => storage.count(path));
	}

	listWithStats(path: StoragePath): AsyncGenerator<StatsBatch> {
		return this.#home.readBatches(path, ({ storage, idPrefix }) => listedWithStats(storage, path, idPrefix));
	}

	stat(path: StoragePath): Promise<StorageItem> {
		return this.#home.read(path, async ({ storage, idPrefix }) => prefixed(await storage.stat(path), idPrefix));
	}

	open(path: StoragePath): Promise<OpenFile> {
		return this.#home.read(path, async ({ storage, idPrefix }) => prefixedFile(await storage.open(path), idPrefix));
	}

	readSmallFiles(
		folder: StoragePath,
		names: readonly string[],
		into: Buffer,
	): Promise<readonly (SmallFile | undefined)[]> {
		return this.#home.read(folder, async ({ storage, idPrefix }) => {
			if (!hasSmallFiles(storage)) return names.map(() => undefined);
			const files = await storage.readSmallFiles(folder, names, into);
			if (idPrefix === '') return files;
			return files.map((file) => file && { ...file, item: prefixed(file.item, idPrefix) });
		});
	}

	/** The path for other programs; undefined on another root than the first, which is the one that they get as a folder. */
	async localPath(path: StoragePath): Promise<string | undefined> {
		const { storage, idPrefix } = await this.mount();
		await assertNotPublic(storage, path);
		return idPrefix === '' && hasLocalFiles(storage) ? storage.localPath(path) : undefined;
	}

	async canReplace(path: StoragePath): Promise<boolean> {
		return canReplaceOn(await this.mount(), path);
	}

	makeDirectory(path: StoragePath): Promise<StorageItem> {
		return this.#home.change(async ({ storage, idPrefix }) => {
			await assertNotPublic(storage, parentPath(path));
			return prefixed(await storage.makeDirectory(path), idPrefix);
		});
	}

	/** Throws `conflict` where something is mounted at the path or below it, which nobody removes with it. */
	assertUnmounted(path: StoragePath): Promise<void> {
		return this.#home.read(path, ({ storage }) => assertUnmounted(storage, path));
	}

	remove(path: StoragePath, { onRemoved, ...options }: RemovalOptions = {}): Promise<void> {
		return this.#home.change(async ({ storage, idPrefix }) => {
			await assertNotPublic(storage, path);
			await storage.remove(path, { ...options, onRemoved: (item) => onRemoved?.(prefixed(item, idPrefix)) });
		});
	}

	removeEmptyFolder(path: StoragePath): Promise<void> {
		return this.#home.change(async ({ storage }) => {
			await assertNotPublic(storage, path);
			await storage.removeEmptyFolder(path);
		});
	}

	/** Moves an item here, from this home or from one on the same root. */
	moveFrom(from: HomeStorage, path: StoragePath, to: StoragePath, options?: MoveOptions): Promise<StorageItem> {
		const move = async (source: Mount, target: Mount) => {
			if (source !== target) throw new Failure('invalid', 'Items can’t be moved to a home on another disk.');
			await assertNotPublic(source.storage, path);
			await assertNotPublic(target.storage, parentPath(to));
			await assertReplaceable(target, to, options);
			return prefixed(await source.storage.move(path, to, options), source.idPrefix);
		};
		return from.#home.change((source) =>
			from.#home.name === this.#home.name ? move(source, source) : this.#home.change((target) => move(source, target)),
		);
	}

	/** Copies an item here, from any home. */
	copyFrom(from: HomeStorage, path: StoragePath, to: StoragePath, options: CopyOptions = {}): Promise<StorageItem> {
		const assertUnfrozen = () => {
			if (this.#home.name !== undefined) this.#mounts.homes.assertUnfrozen(this.#home.name);
		};
		return this.#home.change(async (target) => {
			const source = await mountOf(this.#mounts, from.#home.name);
			await assertNotPublic(source.storage, path);
			await assertNotPublic(target.storage, parentPath(to));
			return copyBetween(
				{ mount: source, path },
				{ mount: target, path: to },
				{ ...options, staging: this.#staging, assertUnfrozen },
			);
		});
	}

	/** The item at `to`, if it is this staged copy of an item, published there by a call that was interrupted. Nothing is copied. */
	findCopy(
		from: HomeStorage,
		path: StoragePath,
		to: StoragePath,
		staged: Pick<CopyStaging, 'id' | 'name'>,
	): Promise<StorageItem | undefined> {
		return this.#home.change(async (target) => {
			const source = await mountOf(this.#mounts, from.#home.name);
			await assertNotPublic(source.storage, path);
			await assertNotPublic(target.storage, parentPath(to));
			return findCopyBetween({ mount: source, path }, { mount: target, path: to }, staged);
		});
	}

	/** Begins a file on the disk of the home, on which it will be published. */
	async begin(): Promise<StagedFile> {
		return this.#staging.begin(await this.mount());
	}

	findPublished(id: string, path: StoragePath): Promise<StorageItem | undefined> {
		return this.#home.read(path, (mount) => this.#staging.findPublished(id, path, mount));
	}
}

async function* listedWithStats(
	storage: StorageProvider,
	path: StoragePath,
	idPrefix: string,
): AsyncGenerator<StatsBatch> {
	const batches = hasListWithStats(storage) ? storage.listWithStats(path) : itemsIn(storage, path);
	for await (const { items, skipped } of batches) {
		yield { items: idPrefix === '' ? items : items.map((item) => prefixed(item, idPrefix)), skipped };
	}
}
