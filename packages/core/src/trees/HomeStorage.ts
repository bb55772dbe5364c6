import {
	type CopyOptions,
	type CopyStaging,
	hasListWithStats,
	hasLocalFiles,
	hasSmallFiles,
	type MoveOptions,
	type OpenFile,
	type SmallFile,
	type StagedFile,
	type StatsBatch,
	type StorageEntry,
	type StorageItem,
	type StorageProvider,
} from '@stowage/plugin-api';
import { Failure, isFailure, type StoragePath, undefinedIf } from '@stowage/rules';
import { copyBetween } from './copyBetween.js';
import { itemsIn } from './itemsIn.js';
import type { MountedStaging } from './MountedStaging.js';
import {
	assertReplaceable,
	canReplaceOn,
	changeHome,
	type ItemStorage,
	type Mount,
	type Mounts,
	mountOf,
} from './Mounts.js';
import { prefixed, prefixedFile } from './rootIds.js';

/**
 * The files of one home for the length of a request, or of `undefined` all that no user has. It is bound to the root
 * that the home lies on at the first call. A home may be moved to another root meanwhile: each change checks, while
 * the home can't be moved, where it lies now, and is made there; a read that fails is tried again where the home has
 * moved.
 */
export class HomeStorage implements ItemStorage {
	readonly #mounts: Mounts;
	readonly #home: string | undefined;
	readonly #staging: MountedStaging;
	#bound: Mount | undefined;

	constructor(mounts: Mounts, home: string | undefined, staging: MountedStaging) {
		this.#mounts = mounts;
		this.#home = home;
		this.#staging = staging;
	}

	/** The root that the home lies on. Throws `unavailable` while it is not known. */
	mount(): Mount | Promise<Mount> {
		return this.#bound ?? this.#bind();
	}

	async #bind(): Promise<Mount> {
		const mount = await mountOf(this.#mounts, this.#home);
		this.#bound ??= mount;
		return this.#bound;
	}

	/** Records which root the home is created on, unless it lies on one. */
	async assign(): Promise<void> {
		if (this.#home !== undefined) await this.#mounts.homes.assign(this.#home);
	}

	list(path: StoragePath): AsyncGenerator<StorageEntry[]> {
		return this.#readBatches(({ storage }) => storage.list(path));
	}

	count(path: StoragePath): Promise<number> {
		return this.#read(({ storage }) => storage.count(path));
	}

	listWithStats(path: StoragePath): AsyncGenerator<StatsBatch> {
		return this.#readBatches(({ storage, idPrefix }) => listedWithStats(storage, path, idPrefix));
	}

	stat(path: StoragePath): Promise<StorageItem> {
		return this.#read(async ({ storage, idPrefix }) => prefixed(await storage.stat(path), idPrefix));
	}

	open(path: StoragePath): Promise<OpenFile> {
		return this.#read(async ({ storage, idPrefix }) => prefixedFile(await storage.open(path), idPrefix));
	}

	readSmallFiles(
		folder: StoragePath,
		names: readonly string[],
		into: Buffer,
	): Promise<readonly (SmallFile | undefined)[]> {
		return this.#read(async ({ storage, idPrefix }) => {
			if (!hasSmallFiles(storage)) return names.map(() => undefined);
			const files = await storage.readSmallFiles(folder, names, into);
			if (idPrefix === '') return files;
			return files.map((file) => file && { ...file, item: prefixed(file.item, idPrefix) });
		});
	}

	/** Undefined on another root than the first, which is the one that other programs get as a folder. */
	async localPath(path: StoragePath): Promise<string | undefined> {
		const { storage, idPrefix } = await this.mount();
		return idPrefix === '' && hasLocalFiles(storage) ? storage.localPath(path) : undefined;
	}

	async canReplace(path: StoragePath): Promise<boolean> {
		return canReplaceOn(await this.mount(), path);
	}

	makeDirectory(path: StoragePath): Promise<StorageItem> {
		return this.#change(async ({ storage, idPrefix }) => prefixed(await storage.makeDirectory(path), idPrefix));
	}

	remove(path: StoragePath): Promise<void> {
		return this.#change(({ storage }) => storage.remove(path));
	}

	removeEmptyFolder(path: StoragePath): Promise<void> {
		return this.#change(({ storage }) => storage.removeEmptyFolder(path));
	}

	/** Moves an item here, from this home or from one on the same root. */
	moveFrom(from: HomeStorage, path: StoragePath, to: StoragePath, options?: MoveOptions): Promise<StorageItem> {
		const move = async (source: Mount, target: Mount) => {
			if (source !== target) throw new Failure('invalid', 'Items can’t be moved to a home on another disk.');
			await assertReplaceable(target, to, options);
			return prefixed(await source.storage.move(path, to, options), source.idPrefix);
		};
		return from.#change((source) =>
			from.#home === this.#home ? move(source, source) : this.#change((target) => move(source, target)),
		);
	}

	/** Copies an item here, from any home. */
	copyFrom(from: HomeStorage, path: StoragePath, to: StoragePath, options: CopyOptions = {}): Promise<StorageItem> {
		const assertUnfrozen = () => {
			if (this.#home !== undefined) this.#mounts.homes.assertUnfrozen(this.#home);
		};
		return this.#change(async (target) => {
			const source = await mountOf(this.#mounts, from.#home);
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
		staged: CopyStaging,
	): Promise<StorageItem | undefined> {
		// A published one is looked for first, and no file has this version.
		const copied = this.copyFrom(from, path, to, { staged, onConflict: { replace: '' } });
		return undefinedIf(copied, 'preconditionFailed', 'invalid');
	}

	/** Begins a file on the disk of the home, on which it will be published. */
	async begin(): Promise<StagedFile> {
		return this.#staging.begin(await this.mount());
	}

	findPublished(id: string, path: StoragePath): Promise<StorageItem | undefined> {
		return this.#read((mount) => this.#staging.findPublished(id, path, mount));
	}

	#change<T>(change: (mount: Mount) => Promise<T>): Promise<T> {
		return changeHome(this.#mounts, this.#home, (mount) => {
			this.#bound = mount;
			return change(mount);
		});
	}

	async #read<T>(read: (mount: Mount) => Promise<T>): Promise<T> {
		const bound = await this.mount();
		try {
			return await read(bound);
		} catch (error) {
			return read(await this.#boundAnew(bound, error));
		}
	}

	async *#readBatches<T>(read: (mount: Mount) => AsyncIterable<T>): AsyncGenerator<T> {
		const bound = await this.mount();
		let hasBegun = false;
		try {
			for await (const batch of read(bound)) {
				hasBegun = true;
				yield batch;
			}
		} catch (error) {
			if (hasBegun) throw error;
			yield* read(await this.#boundAnew(bound, error));
		}
	}

	/** Where the home lies now. Throws the error of the read if that is where it was. */
	async #boundAnew(bound: Mount, error: unknown): Promise<Mount> {
		if (!isFailure(error)) throw error;
		const mount = await mountOf(this.#mounts, this.#home);
		if (mount === bound) throw error;
		this.#bound = mount;
		return mount;
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
