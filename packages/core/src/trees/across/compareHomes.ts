import { createHash } from 'node:crypto';
import type { StorageItem, StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure, joinChecked, joinPath, type StoragePath, undefinedIf } from '@stowage/rules';
import { isSame } from './copyContents.js';
import { itemsOf, TreeDigest } from './walkHome.js';

export interface ComparedTree {
	storage: StorageProvider;
	root: StoragePath;
}

export interface Comparison {
	/** Whether both contain the same. Files changed since the copy are no fault as long as the owner goes on working. */
	isSame: boolean;
	/** The digest of the first tree. */
	digest: string;
}

/**
 * Compares two trees by the SHA-256 of each file, read again on both sides. Files that were found equal before are not
 * read a second time, unless they were changed since.
 */
export class HomeComparison {
	/** Digests of path and versions: a set of a million of them takes less memory than their paths would. */
	readonly #equal = new Set<string>();

	constructor(
		readonly source: ComparedTree,
		readonly copy: ComparedTree,
		readonly signal: AbortSignal,
		/** Called with the number of bytes that were compared. */
		readonly onBytes: (bytes: number) => void,
		/**
		 * Called with the path of a copy that has other bytes than its original, and a time by which a disk with coarse times can't tell
		 * whether that was changed since.
		 */
		readonly onStale: (path: StoragePath) => Promise<void> = async () => {},
	) {}

	/** Throws `conflict` with the file's name where the copy has other bytes than its original. */
	async compare(): Promise<Comparison> {
		const digest = new TreeDigest();
		const isSame = await this.#compareFolder('' as StoragePath, digest);
		return { isSame, digest: digest.toString() };
	}

	async #compareFolder(path: StoragePath, digest: TreeDigest): Promise<boolean> {
		const { source, copy, signal } = this;
		const items = await undefinedIf(itemsOf(source.storage, joinChecked(source.root, path), path), 'notFound');
		const copies = await undefinedIf(itemsOf(copy.storage, joinChecked(copy.root, path), path), 'notFound');
		if (items === undefined || copies === undefined) return false;
		const known = new Map(copies.map((item) => [item.name, item]));
		let areSame = items.length === copies.length;
		for (const item of items) {
			signal.throwIfAborted();
			const inner = joinPath(path, item.name);
			const other = known.get(item.name);
			digest.add(inner, item);
			if (other === undefined || !isSame(item, other)) areSame = false;
			else if (item.type === 'directory') areSame = (await this.#compareFolder(inner, digest)) && areSame;
			else areSame = (await this.#compareFile(inner, item, other)) && areSame;
		}
		return areSame;
	}

	async #compareFile(path: StoragePath, item: StorageItem, other: StorageItem): Promise<boolean> {
		const { source, copy } = this;
		const key = createHash('sha256')
			.update(`${path}\0${item.version}\0${other.version}`)
			.digest()
			.toString('latin1', 0, 16);
		if (this.#equal.has(key)) {
			this.onBytes(item.size);
			return true;
		}
		const own = await this.#hash(source.storage, joinChecked(source.root, path), item, this.onBytes);
		if (own === undefined) return false;
		const theirs = await this.#hash(copy.storage, joinChecked(copy.root, path), other, () => {});
		if (theirs === undefined) return false;
		if (own !== theirs && item.mtime !== other.mtime) {
			await this.onStale(joinChecked(copy.root, path));
			return false;
		}
		if (own !== theirs) {
			throw new Failure(
				'conflict',
				`The copy of ${JSON.stringify(path)} has other bytes than the original, though nobody has changed it: the disk that it was copied to, or its cable or memory, can’t be trusted. The home stays where it was.`,
			);
		}
		this.#equal.add(key);
		return true;
	}

	/** The hash of a file; undefined if it was changed since it was listed. */
	async #hash(
		storage: StorageProvider,
		path: StoragePath,
		{ version }: StorageItem,
		onBytes: (bytes: number) => void,
	): Promise<string | undefined> {
		const file = await undefinedIf(storage.open(path), 'notFound');
		if (file === undefined) return undefined;
		try {
			if (file.item.version !== version) return undefined;
			const hash = createHash('sha256');
			for await (const chunk of file.read()) {
				this.signal.throwIfAborted();
				hash.update(chunk);
				onBytes(chunk.length);
			}
			return (await file.isChanged()) ? undefined : hash.digest('hex');
		} catch (error) {
			// It became shorter.
			if (isFailure(error, 'conflict')) return undefined;
			throw error;
		} finally {
			await file.close();
		}
	}
}
