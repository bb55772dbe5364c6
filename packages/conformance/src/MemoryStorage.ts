import {
	type ByteRange,
	type ClockStorage,
	type CopyOptions,
	type FolderTimesStorage,
	type MoveOptions,
	type NamingOptions,
	type OpenFile,
	type RemovalOptions,
	type ReplaceVersion,
	type ReplacingStorage,
	type StagedFile,
	type StagingCutoffs,
	type StorageDriver,
	type StorageEntry,
	type StorageItem,
	trashFolder,
} from '@stowage/plugin-api';
import {
	baseName,
	batchesOf,
	Failure,
	isWithin,
	joinPath,
	parentPath,
	pathSegments,
	rootPath,
	type StoragePath,
} from '@stowage/rules';
import { entryOf, type FileNode, FolderNode, itemOf, MemoryRoot, type Node } from './memoryTree.js';
import { StagedMemoryFile } from './StagedMemoryFile.js';

/** Rows a batch. */
const batchSize = 100;
const chunkBytes = 64 * 1024;
const capacity = 2 ** 40;

export interface MemoryOptions {
	/**
	 * Whether the storage knows its free and total space, as not every storage does.
	 * @default 'known'
	 */
	space?: 'known' | 'unknown';
}

/** A driver for one root that lives as long as the driver. */
export function memoryStorageDriver(options?: MemoryOptions): StorageDriver {
	const root = new MemoryRoot();
	return { open: async (rootId) => new MemoryStorage(root, rootId, options) };
}

/** A storage in memory, for tests. */
export class MemoryStorage implements ClockStorage, FolderTimesStorage, ReplacingStorage {
	readonly rootId: string;
	readonly #root: MemoryRoot;
	readonly #space: number | undefined;

	constructor(root = new MemoryRoot(), rootId = root.id, { space = 'known' }: MemoryOptions = {}) {
		this.#root = root;
		this.rootId = rootId;
		this.#space = space === 'known' ? capacity : undefined;
	}

	async *list(path: StoragePath): AsyncGenerator<StorageEntry[]> {
		const rows = this.#rows(path).map(([name, node]) => entryOf(name, node));
		yield* batchesOf(rows, batchSize);
	}

	async count(path: StoragePath): Promise<number> {
		return this.#rows(path).length;
	}

	async stat(path: StoragePath): Promise<StorageItem> {
		return itemOf(baseName(path), this.#node(path));
	}

	async open(path: StoragePath): Promise<OpenFile> {
		const node = this.#node(path);
		if (node.type !== 'file') throw noSuchEntry(path);
		return new OpenMemoryFile(itemOf(baseName(path), node), node);
	}

	async canReplace(): Promise<boolean> {
		return true;
	}

	async makeDirectory(path: StoragePath): Promise<StorageItem> {
		const node = new FolderNode();
		this.#publish(node, path);
		return itemOf(baseName(path), node);
	}

	async setFolderTime(folder: StoragePath, mtime: number): Promise<void> {
		this.#folder(folder).mtime = mtime;
	}

	async currentTime(): Promise<number> {
		this.#assertHere();
		return Date.now();
	}

	async move(from: StoragePath, to: StoragePath, options: MoveOptions = {}): Promise<StorageItem> {
		this.#apart(from, to, options);
		const path = this.#freePath(to, options);
		if (options.beforeNaming !== undefined) await options.beforeNaming(baseName(path));
		// Looked up after the wait, since it may have been moved meanwhile.
		const node = this.#apart(from, to, options);
		this.#publish(node, path, options);
		this.#folder(parentPath(from)).delete(baseName(from));
		return itemOf(baseName(path), node);
	}

	async copy(from: StoragePath, to: StoragePath, options: CopyOptions = {}): Promise<StorageItem> {
		options.signal?.throwIfAborted();
		const staged = options.staged && this.#root.findCopy(options.staged.id, this.#apart(from, to, options).type);
		if (staged?.published !== undefined) {
			const { children } = this.#folder(parentPath(to));
			for (const name of [options.staged?.name, baseName(to)]) {
				if (name !== undefined && children.get(name) === staged.published) return itemOf(name, staged.published);
			}
		}
		if (staged?.isBusy) throw new Failure('locked', 'Somebody else is working on this copy.');
		const isFound = staged !== undefined && staged.published === undefined;
		const own = isFound ? staged : this.#root.beginCopy(this.#apart(from, to, options).type);
		own.isBusy = true;
		try {
			if (!isFound) await options.staged?.onBegin(own.id);
			if (replaces(options)) this.#freePath(to, options);
			await announceCopy(this.#apart(from, to, options), options);
			options.signal?.throwIfAborted();
			for (;;) {
				const path = this.#freePath(to, options);
				await options.beforeNaming?.(baseName(path));
				// Another caller may have taken the name meanwhile.
				if (this.#freePath(to, options) !== path) continue;
				const copy = this.#apart(from, to, options).copy();
				this.#publish(copy, path, options);
				own.published = copy;
				return itemOf(baseName(path), copy);
			}
		} finally {
			own.isBusy = false;
			if (options.staged === undefined) this.#root.copies.delete(own.id);
		}
	}

	async discardCopy(id: string): Promise<void> {
		if (this.#root.copies.get(id)?.published === undefined) this.#root.copies.delete(id);
	}

	async remove(path: StoragePath, { onRemoved }: RemovalOptions = {}): Promise<void> {
		if (path === rootPath) throw new Failure('invalid', 'The root itself cannot be removed.');
		const node = this.#node(path);
		this.#folder(parentPath(path)).delete(baseName(path));
		onRemoved?.(itemOf(baseName(path), node));
	}

	async removeEmptyFolder(path: StoragePath): Promise<void> {
		if (path === rootPath) throw new Failure('invalid', 'The root itself cannot be removed.');
		if (this.#folder(path).children.size > 0) throw new Failure('conflict', 'The folder is not empty.');
		this.#folder(parentPath(path)).delete(baseName(path));
	}

	async stage(id?: string): Promise<StagedFile> {
		this.#assertHere();
		return new StagedMemoryFile(this.#root, id ?? this.#root.begin(), {
			freePath: (path, options) => this.#freePath(path, options),
			publish: (node, path, options) => this.#publish(node, path, options),
		});
	}

	async findPublished(id: string, path: StoragePath): Promise<StorageItem | undefined> {
		this.#assertHere();
		const staged = this.#root.staged.get(id);
		const lying = this.#findNode(path);
		return staged?.state === 'published' && lying === staged.node ? itemOf(baseName(path), lying) : undefined;
	}

	async sweepStaging(before: StagingCutoffs, isNeeded: (id: string) => Promise<boolean>): Promise<void> {
		for (const [id, staged] of this.#root.staged) {
			const isOld = staged.state === 'open' && staged.node.mtime < before.staged;
			if (isOld && !(await isNeeded(id))) staged.state = 'discarded';
		}
		for (const [id, { begunAt, published }] of this.#root.copies) {
			const isOld = published === undefined && begunAt < before.copies;
			if (isOld && !(await isNeeded(id))) this.#root.copies.delete(id);
		}
	}

	async freeSpace(): Promise<number | undefined> {
		this.#assertHere();
		return this.#space;
	}

	async totalSpace(): Promise<number | undefined> {
		this.#assertHere();
		return this.#space;
	}

	async check(): Promise<void> {
		this.#assertHere();
	}

	async close(): Promise<void> {}

	#assertHere(): void {
		if (this.rootId !== this.#root.id) throw new Failure('unavailable', 'The storage is not available right now.');
	}

	/** The rows of a folder, without the private folder of the root. */
	#rows(path: StoragePath): [string, Node][] {
		const rows = [...this.#folder(path).children];
		return path === rootPath ? rows.filter(([name]) => name !== parentPath(trashFolder)) : rows;
	}

	#findNode(path: StoragePath): Node | undefined {
		let node: Node | undefined = this.#root.tree;
		for (const segment of pathSegments(path)) {
			node = node?.type === 'directory' ? node.children.get(segment) : undefined;
		}
		return node;
	}

	#node(path: StoragePath): Node {
		this.#assertHere();
		const node = this.#findNode(path);
		if (node === undefined) throw noSuchEntry(path);
		return node;
	}

	#folder(path: StoragePath): FolderNode {
		const node = this.#node(path);
		if (node.type !== 'directory') throw noSuchEntry(path);
		return node;
	}

	/** The node at `from`, which may go to `to`. */
	#apart(from: StoragePath, to: StoragePath, options: NamingOptions): Node {
		if (to === rootPath && !replaces(options)) throw nameTaken(to);
		const node = this.#node(from);
		if (node.type === 'directory' && replaces(options)) throw onlyFiles();
		if (node.type === 'directory' && isWithin(parentPath(to), from)) {
			throw new Failure('invalid', 'A folder cannot be put into itself.');
		}
		return node;
	}

	/** The path, or one beside it with the first of the other names that is free. */
	#freePath(path: StoragePath, { otherNames = [], onConflict = 'fail' }: NamingOptions): StoragePath {
		const { children } = this.#folder(parentPath(path));
		if (onConflict !== 'fail') {
			this.#assertReplaceable(path, onConflict);
			return path;
		}
		const free = [baseName(path), ...otherNames].find((name) => !children.has(name));
		if (path === rootPath || free === undefined) throw nameTaken(path);
		return joinPath(parentPath(path), free);
	}

	#publish(node: Node, path: StoragePath, { onConflict = 'fail' }: NamingOptions = {}): void {
		const folder = this.#folder(parentPath(path));
		if (onConflict !== 'fail') {
			if (node.type === 'directory') throw onlyFiles();
			const replaced = this.#assertReplaceable(path, onConflict);
			if (replaced === node) throw new Failure('invalid', 'A file cannot take its own place.');
			const { keepAs } = onConflict;
			if (keepAs !== undefined) this.#folder(parentPath(keepAs)).set(baseName(keepAs), replaced);
		} else if (path === rootPath || folder.children.has(baseName(path))) throw nameTaken(path);
		folder.set(baseName(path), node);
	}

	#assertReplaceable(path: StoragePath, { replace, keepAs }: ReplaceVersion): FileNode {
		const node = this.#findNode(path);
		if (node?.type !== 'file' || itemOf('', node).version !== replace) {
			throw new Failure('preconditionFailed', 'The file has changed.');
		}
		if (keepAs !== undefined && this.#folder(parentPath(keepAs)).children.has(baseName(keepAs)))
			throw nameTaken(keepAs);
		return node;
	}
}

class OpenMemoryFile implements OpenFile {
	readonly #node: FileNode;
	readonly #bytes: Uint8Array;

	constructor(
		readonly item: StorageItem,
		node: FileNode,
	) {
		this.#node = node;
		this.#bytes = node.bytes;
	}

	async *read(range?: ByteRange): AsyncGenerator<Uint8Array> {
		const end = (range?.end ?? this.#bytes.length - 1) + 1;
		if (end > this.#bytes.length) throw new Failure('conflict', 'The file became shorter while it was read.');
		for (let at = range?.start ?? 0; at < end; at += chunkBytes) {
			yield this.#bytes.slice(at, Math.min(end, at + chunkBytes));
		}
	}

	async isChanged(): Promise<boolean> {
		return this.#node.bytes !== this.#bytes;
	}

	async close(): Promise<void> {}
}

/** Calls `beforeItem` for each item of a copy. */
async function announceCopy(node: Node, options: CopyOptions): Promise<void> {
	const { type, size } = itemOf('', node);
	await options.beforeItem?.({ type, size });
	if (node.type === 'file') {
		await options.beforeBytes?.(size);
		options.afterBytes?.(size);
	} else for (const child of node.children.values()) await announceCopy(child, options);
}

function replaces({ onConflict = 'fail' }: NamingOptions): boolean {
	return onConflict !== 'fail';
}

function onlyFiles(): Failure {
	return new Failure('invalid', 'Only a file can take the place of a file.');
}

function noSuchEntry(path: StoragePath): Failure {
	return new Failure('notFound', `No such file or folder: ${baseName(path)}`);
}

function nameTaken(path: StoragePath): Failure {
	return new Failure('alreadyExists', `There is already a file or folder named ${baseName(path)}`);
}
