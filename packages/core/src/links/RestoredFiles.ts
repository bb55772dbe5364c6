import type { StorageProvider } from '@stowage/plugin-api';
import { isFailure, joinPath, PathMap, type PathSet, type StoragePath, undefinedIf } from '@stowage/rules';
import { identityOf } from '../trees/identity.js';
import { type FileHash, hashFile } from './hashFiles.js';

type Before = Pick<FileHash, 'size' | 'sha256'>;

/** How many files there are in a folder and below, and how many of them are those of before. */
interface Compared {
	files: number;
	same: number;
}

/**
 * Files that were copied back, and the hashes of those of before. However many links lead to a file, or to folders above
 * it, it is read once: thousands of folders may be shared within each other.
 */
export class RestoredFiles {
	readonly #storage: Pick<StorageProvider, 'list' | 'open' | 'stat'>;
	/** What links lead to. */
	readonly #wanted: PathSet<StoragePath>;
	/** The sizes and hashes of before, of what is wanted. */
	readonly #before = new PathMap<Before>();
	/** How many of these lie in each wanted folder and below. */
	readonly #known = new PathMap<number>();
	/** The identities of wanted files whose bytes are those that they had before; undefined for a file with other bytes. */
	readonly #files = new PathMap<string | undefined>();
	readonly #folders = new PathMap<Compared>();

	constructor(storage: Pick<StorageProvider, 'list' | 'open' | 'stat'>, wanted: PathSet<StoragePath>) {
		this.#storage = storage;
		this.#wanted = wanted;
	}

	/** Notes a hash of before. */
	add({ path, size, sha256 }: FileHash): void {
		if (this.#before.has(path)) return;
		let isWanted = false;
		for (const at of this.#wanted.covering(path)) {
			isWanted = true;
			if (at !== path) this.#known.set(at, (this.#known.get(at) ?? 0) + 1);
		}
		if (isWanted) this.#before.set(path, { size, sha256 });
	}

	/**
	 * The identity of the item at a wanted path if it is the one of before: a file by its bytes, a folder by those of most
	 * of its files. Throws `unavailable`.
	 */
	async identityAt(path: StoragePath): Promise<string | undefined> {
		const item = await undefinedIf(this.#storage.stat(path), 'notFound', 'forbidden');
		if (item?.type === 'file') return this.#sameFile(path);
		if (item === undefined || !(await this.#isSameFolder(path))) return undefined;
		const again = await undefinedIf(this.#storage.stat(path), 'notFound', 'forbidden');
		return again?.id === item.id ? identityOf(again) : undefined;
	}

	/**
	 * Whether most files of a folder are those of the backup, whatever was added: people go on working between a backup
	 * and the copy, and a folder is shared with all that comes into it. A folder without files then, such as a share
	 * that has received nothing yet, may have none now.
	 */
	async #isSameFolder(path: StoragePath): Promise<boolean> {
		const known = this.#known.get(path) ?? 0;
		const { files, same } = await this.#compared(path);
		return known === 0 ? files === 0 : same * 2 > known;
	}

	async #compared(folder: StoragePath): Promise<Compared> {
		const found = this.#folders.get(folder);
		if (found !== undefined) return found;
		const compared = { files: 0, same: 0 };
		for (const { name, type } of await this.#entries(folder)) {
			const inner = joinPath(folder, name);
			if (type === 'directory') {
				const { files, same } = await this.#compared(inner);
				compared.files += files;
				compared.same += same;
			} else {
				compared.files++;
				if ((await this.#sameFile(inner)) !== undefined) compared.same++;
			}
		}
		if (this.#wanted.has(folder)) this.#folders.set(folder, compared);
		return compared;
	}

	async #entries(folder: StoragePath) {
		const entries: { name: string; type: string }[] = [];
		try {
			for await (const batch of this.#storage.list(folder)) entries.push(...batch);
		} catch (error) {
			// What can't be read is not known to be the same.
			if (!isFailure(error)) throw error;
		}
		return entries;
	}

	/** The file's identity, if it has the bytes of before. One that was not there before, or had another size, is not read. */
	async #sameFile(path: StoragePath): Promise<string | undefined> {
		const before = this.#before.get(path);
		if (before === undefined || this.#files.has(path)) return this.#files.get(path);
		const read = await hashFile(this.#storage, path, () => undefined, before.size);
		const identity = read?.hash.sha256 === before.sha256 ? read.identity : undefined;
		if (this.#wanted.has(path)) this.#files.set(path, identity);
		return identity;
	}
}
