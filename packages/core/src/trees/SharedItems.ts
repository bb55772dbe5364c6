import {
	type OpenFile,
	type SmallFile,
	type StatsBatch,
	type StorageEntry,
	type StorageItem,
	Yielder,
} from '@stowage/plugin-api';
import {
	type Guest,
	homeRoot,
	joinChecked,
	parentPath,
	parsePath,
	relativePath,
	type SharedItem,
	type StoragePath,
	undefinedIf,
} from '@stowage/rules';
import { identityOf } from './identity.js';
import type { HomeStorage } from './storage/HomeStorage.js';
import type { Mount } from './storage/Mounts.js';
import { notFound, type TreeStorage } from './Tree.js';

/** Items of a share that are listed together, of which fewer are where it takes longer, as they may lie below a thousand folders each. */
const batchSize = 64;
const batchMs = 50;

/** Items in one folder that are looked up at once. */
const groupSize = 16;

/**
 * What a guest of a share may read of its owner's home: the shared items, as long as they are the very items that were
 * shared, and all below them. Anything else is not there.
 */
export class SharedItems implements TreeStorage {
	readonly #home: HomeStorage;
	readonly #homeRoot: StoragePath;
	readonly #items: readonly SharedItem[];
	/** Where the items are side by side, by their names; undefined where the one folder has its path of the storage. */
	readonly #root: StoragePath | undefined;

	constructor(home: HomeStorage, { share, owner, root }: Guest) {
		this.#home = home;
		this.#homeRoot = homeRoot(owner.username);
		this.#items = root.kind === 'folder' ? [root.folder] : root.items;
		// No two shares may have the same path for different items, since pictures are remembered by it.
		this.#root = root.kind === 'folder' ? undefined : parsePath(`shares/${share}`);
	}

	/** Where the guest's tree begins. */
	get root(): StoragePath {
		return this.#root ?? joinChecked(this.#homeRoot, (this.#items[0] as SharedItem).path);
	}

	mount(): Mount | Promise<Mount> {
		return this.#home.mount();
	}

	async *list(path: StoragePath): AsyncGenerator<StorageEntry[]> {
		if (path === this.#root) {
			yield* this.#eachItem();
			return;
		}
		const { item, at } = await this.#shared(path);
		for await (const batch of this.#home.list(at)) {
			// Another program may have exchanged it since it was looked up.
			await this.#find(item);
			yield batch;
		}
	}

	async count(path: StoragePath): Promise<number> {
		const { item, at } = await this.#shared(path);
		const count = await this.#home.count(at);
		await this.#find(item);
		return count;
	}

	async *listWithStats(path: StoragePath): AsyncGenerator<StatsBatch> {
		if (path === this.#root) {
			for await (const items of this.#eachItem()) yield { items, skipped: 0 };
			return;
		}
		const { item, at } = await this.#shared(path);
		for await (const batch of this.#home.listWithStats(at)) {
			await this.#find(item);
			yield batch;
		}
	}

	async stat(path: StoragePath): Promise<StorageItem> {
		const { item, at, isItself, found } = await this.#shared(path);
		if (isItself) return { ...found, name: item.name };
		const inside = await this.#home.stat(at);
		await this.#find(item);
		return inside;
	}

	async open(path: StoragePath): Promise<OpenFile> {
		const { item, at, isItself } = await this.#shared(path);
		const file = await this.#home.open(at);
		try {
			// It may have been replaced, or a folder above it, since its share was looked up.
			if (isItself && identityOf(file.item) !== item.itemId) throw notFound();
			if (!isItself) await this.#find(item);
			return isItself ? renamed(file, item.name) : file;
		} catch (error) {
			await file.close();
			throw error;
		}
	}

	async readSmallFiles(
		folder: StoragePath,
		names: readonly string[],
		into: Buffer,
	): Promise<readonly (SmallFile | undefined)[]> {
		if (folder === this.#root) return names.map(() => undefined);
		const { item, at } = await this.#shared(folder);
		const files = await this.#home.readSmallFiles(at, names, into);
		await this.#find(item);
		return files;
	}

	/** A file has no path for proxies and other programs: what is sent is counted here. */
	async localPath(): Promise<undefined> {}

	async *#eachItem(): AsyncGenerator<StorageItem[]> {
		let batch: StorageItem[] = [];
		let begun = performance.now();
		const yielder = new Yielder();
		for (const items of inOneFolder(this.#items)) {
			// Each takes a moment of this thread, and anybody may ask for all of them.
			if (yielder.shouldYield) await yielder.yield();
			// At once, so that the storage opens their folder once for all of them.
			const found = await Promise.all(items.map((item) => undefinedIf(this.#find(item), 'notFound')));
			for (const [n, { name }] of items.entries()) {
				const item = found[n];
				if (item !== undefined) batch.push({ ...item, name });
			}
			if (batch.length < batchSize && performance.now() - begun < batchMs) continue;
			// Also where none was found: the reader's turn may be over.
			yield batch;
			batch = [];
			begun = performance.now();
		}
		if (batch.length > 0) yield batch;
	}

	/** The shared item that a path lies in, checked, and its place in the home. */
	async #shared(path: StoragePath) {
		const inside = relativePath(path, this.root);
		const [name = ''] = inside.split('/');
		const item = this.#root === undefined ? this.#items[0] : itemNamed(this.#items, name);
		if (item === undefined) throw notFound();
		const below = this.#root === undefined ? inside : relativePath(inside, parsePath(name));
		const found = await this.#find(item);
		return { item, found, isItself: below === '', at: joinChecked(joinChecked(this.#homeRoot, item.path), below) };
	}

	/** Throws `notFound`, which does not name it as its owner does, unless the item is where it was when its share was looked up. */
	async #find({ path, itemId }: SharedItem): Promise<StorageItem> {
		const found = await undefinedIf(this.#home.stat(joinChecked(this.#homeRoot, path)), 'notFound', 'forbidden');
		if (found === undefined || identityOf(found) !== itemId) throw notFound();
		return found;
	}
}

/** The items in groups of those that follow each other and lie in the same folder. */
function* inOneFolder(items: readonly SharedItem[]): Generator<SharedItem[]> {
	let group: SharedItem[] = [];
	let folder: StoragePath | undefined;
	for (const item of items) {
		const itsFolder = parentPath(item.path);
		if (group.length > 0 && (group.length === groupSize || itsFolder !== folder)) {
			yield group;
			group = [];
		}
		folder = itsFolder;
		group.push(item);
	}
	if (group.length > 0) yield group;
}

const byNames = new WeakMap<readonly SharedItem[], ReadonlyMap<string, SharedItem>>();

/** Looked up once for all that a request asks for, which may be thousands of items in a share of a thousand. */
function itemNamed(items: readonly SharedItem[], name: string): SharedItem | undefined {
	const byName = byNames.get(items) ?? new Map(items.map((item) => [item.name, item]));
	byNames.set(items, byName);
	return byName.get(name);
}

/** Wraps the file: it has the name that the share shows. */
function renamed(file: OpenFile, name: string): OpenFile {
	const { readInto, withLocalFile } = file;
	return {
		item: { ...file.item, name },
		read: (range) => file.read(range),
		...(readInto === undefined ? {} : { readInto: readInto.bind(file) }),
		...(withLocalFile === undefined ? {} : { withLocalFile: (use) => withLocalFile.call(file, use) as never }),
		isChanged: (options) => file.isChanged(options),
		close: () => file.close(),
	};
}
