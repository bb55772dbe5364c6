import type {
	CopyOptions,
	CopyStaging,
	MoveOptions,
	OpenFile,
	RemovalOptions,
	SmallFile,
	StatsBatch,
	StorageEntry,
	StorageItem,
} from '@stowage/plugin-api';
import {
	Failure,
	joinPath,
	type Membership,
	parentPath,
	type StoragePath,
	type User,
	undefinedIf,
} from '@stowage/rules';
import { MemberFolders, type MemberRights } from './MemberFolders.js';
import { HomeStorage } from './storage/HomeStorage.js';
import type { MountedStaging } from './storage/MountedStaging.js';
import type { Mounts } from './storage/Mounts.js';

/**
 * The home of an owner as a member of some of its folders has it: these folders, as long as they are the very ones
 * that were shared, and all below them. Anything else is not there. What is read is read between two looks at the
 * folder, which another program may exchange. Each change asks at its last moment whether the member may still make
 * it.
 */
export class MemberHome extends HomeStorage {
	readonly #folders: MemberFolders;

	constructor(mounts: Mounts, staging: MountedStaging, owner: User, member: Membership, rights: MemberRights) {
		super(mounts, owner.username, staging);
		this.#folders = new MemberFolders({ stat: (path) => super.stat(path) }, owner, member, rights);
	}

	override async *list(path: StoragePath): AsyncGenerator<StorageEntry[]> {
		await this.#folders.assertInside(path);
		for await (const batch of super.list(path)) {
			await this.#folders.assertInside(path);
			yield batch;
		}
	}

	override async count(path: StoragePath): Promise<number> {
		await this.#folders.assertInside(path);
		const count = await super.count(path);
		await this.#folders.assertInside(path);
		return count;
	}

	override async *listWithStats(path: StoragePath): AsyncGenerator<StatsBatch> {
		await this.#folders.assertInside(path);
		for await (const batch of super.listWithStats(path)) {
			await this.#folders.assertInside(path);
			yield batch;
		}
	}

	override async stat(path: StoragePath): Promise<StorageItem> {
		// A folder above is known to be there, and nothing in it.
		if (this.#folders.areBelow(path)) return super.stat(path);
		await this.#folders.assertInside(path);
		const item = await super.stat(path);
		await this.#folders.assertInside(path);
		return item;
	}

	override async open(path: StoragePath): Promise<OpenFile> {
		await this.#folders.assertInside(path);
		const file = await super.open(path);
		try {
			// A folder above it may have been replaced meanwhile.
			await this.#folders.assertInside(path);
			return file;
		} catch (error) {
			await file.close();
			throw error;
		}
	}

	override async readSmallFiles(
		folder: StoragePath,
		names: readonly string[],
		into: Buffer,
	): Promise<readonly (SmallFile | undefined)[]> {
		await this.#folders.assertInside(folder);
		const files = await super.readSmallFiles(folder, names, into);
		await this.#folders.assertInside(folder);
		return files;
	}

	/** A file has no path for proxies and other programs: what is being sent ends with the role. */
	override async localPath(): Promise<undefined> {}

	override async makeDirectory(path: StoragePath): Promise<StorageItem> {
		// Also on the way to what may be changed, which may lie in what may only be looked at.
		if ((await undefinedIf(this.stat(path), 'notFound')) !== undefined)
			throw new Failure('alreadyExists', 'There is such a file or folder.');
		await this.#folders.assertMayChange(path);
		return super.makeDirectory(path);
	}

	override async remove(path: StoragePath, options?: RemovalOptions): Promise<void> {
		await this.#folders.assertMayChange(path);
		return super.remove(path, options);
	}

	override async removeEmptyFolder(path: StoragePath): Promise<void> {
		await this.#folders.assertMayChange(path);
		return super.removeEmptyFolder(path);
	}

	override async moveFrom(
		from: HomeStorage,
		path: StoragePath,
		to: StoragePath,
		options: MoveOptions = {},
	): Promise<StorageItem> {
		await this.#folders.assertMayChange(path);
		await this.#folders.assertMayChange(to);
		return super.moveFrom(from, path, to, {
			...options,
			beforeNaming: async (name) => {
				await this.#folders.assertMayChange(joinPath(parentPath(to), name));
				await options.beforeNaming?.(name);
				// Many items may be planned for by then. With a plan the item counts at its new name, too, where it is not yet.
				await this.#folders.assertMayChange(path);
				await this.#folders.assertMayChange(parentPath(to));
			},
		});
	}

	override async copyFrom(
		from: HomeStorage,
		path: StoragePath,
		to: StoragePath,
		options: CopyOptions = {},
	): Promise<StorageItem> {
		await this.#folders.assertMayChange(to);
		return super.copyFrom(from, path, to, {
			...options,
			// In this order, since the caller may look through all that was copied, and a copy may have taken hours.
			beforeNaming: async (name) => {
				await options.beforeNaming?.(name);
				await this.#folders.assertMayChange(joinPath(parentPath(to), name));
			},
		});
	}

	override async findCopy(
		from: HomeStorage,
		path: StoragePath,
		to: StoragePath,
		staged: Pick<CopyStaging, 'id' | 'name'>,
	): Promise<StorageItem | undefined> {
		await this.#folders.assertMayChange(to);
		return super.findCopy(from, path, to, staged);
	}

	override async findPublished(id: string, path: StoragePath): Promise<StorageItem | undefined> {
		await this.#folders.assertInside(path);
		return super.findPublished(id, path);
	}
}
