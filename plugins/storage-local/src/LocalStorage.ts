import type {
	AccessPart,
	AccessStorage,
	ClockStorage,
	CopyOptions,
	FolderListener,
	FolderTimesStorage,
	InspectableStorage,
	InspectedBatch,
	ItemAccess,
	LeftoversStorage,
	LocalFilesStorage,
	MountAwareStorage,
	MoveOptions,
	OpenFile,
	RemovalOptions,
	ReplacingStorage,
	SharingStorage,
	SmallFile,
	SmallFilesStorage,
	StagedFile,
	StagingCutoffs,
	StatsBatch,
	StatsListingStorage,
	StorageEntry,
	StorageItem,
	Watch,
	WatchingStorage,
} from '@stowage/plugin-api';
import { Failure, isFailure, rootPath, type StoragePath } from '@stowage/rules';
import { assertUnmounted } from './changing/assertUnmounted.js';
import { copyItem, discardCopy } from './changing/copyItem.js';
import { makeFolder } from './changing/makeFolder.js';
import { moveItem } from './changing/moveItem.js';
import { removeEmptyFolder, removeItem } from './changing/removeItem.js';
import { findLeftovers } from './reading/findLeftovers.js';
import { findUnusable } from './reading/findUnusable.js';
import { openItem, statItem } from './reading/items.js';
import { countFolder, listFolder } from './reading/listFolder.js';
import { listWithStats } from './reading/listWithStats.js';
import { readSmallFiles } from './reading/readSmallFiles.js';
import type { Disk } from './root/Disk.js';
import { checkDisk, currentTime } from './root/scratchFile.js';
import { sharingFaults } from './root/sharingFaults.js';
import { fsync, setModified } from './system/descriptors.js';
import { nameRoot, withFailures } from './system/systemErrors.js';
import { watchFolder } from './watching/watchFolder.js';
import { findLostAccess, inheritAccess, readAccess, writeAccess } from './writing/access.js';
import { findPublished } from './writing/commit.js';
import { finishReplacements } from './writing/replaceFile.js';
import { StagedLocalFile } from './writing/StagedLocalFile.js';
import { sweepLeftovers, sweepRemovals, sweepStaging } from './writing/sweep.js';

/** Files as plain files below one folder. Each call first checks that the folder is still our root. */
export class LocalStorage
	implements
		AccessStorage,
		ClockStorage,
		FolderTimesStorage,
		InspectableStorage,
		LeftoversStorage,
		LocalFilesStorage,
		MountAwareStorage,
		ReplacingStorage,
		SharingStorage,
		SmallFilesStorage,
		StatsListingStorage,
		WatchingStorage
{
	readonly #background = new Set<Promise<void>>();
	#finishing: Promise<void> | undefined;

	constructor(readonly disk: Disk) {
		disk.root.onVerified(() => {
			disk.renameFlag.forget();
			disk.exchangeFlag.forget();
			// Before anything is swept.
			const finishing = finishReplacements(disk);
			this.#finishing = finishing.catch(() => {});
			this.#later(async () => {
				await finishing;
				await sweepLeftovers(disk);
			});
		});
	}

	/**
	 * Opens the root for the first time, and completes interrupted work of a crash. A root that is not available is no failure: it may be
	 * mounted later.
	 */
	async prepare(): Promise<void> {
		try {
			using _root = await this.disk.root.open();
			await this.#finishing;
		} catch (error) {
			if (!isFailure(error, 'unavailable')) throw error;
		}
	}

	localPath(path: StoragePath): string {
		return path;
	}

	get rootId(): string {
		return this.disk.root.id;
	}

	list(path: StoragePath): AsyncIterable<StorageEntry[]> {
		return listFolder(this.disk, path);
	}

	listWithStats(path: StoragePath): AsyncIterable<StatsBatch> {
		return listWithStats(this.disk, path);
	}

	readSmallFiles(
		folder: StoragePath,
		names: readonly string[],
		into: Buffer,
	): Promise<readonly (SmallFile | undefined)[]> {
		return readSmallFiles(this.disk, folder, names, into);
	}

	findUnusable(folder: StoragePath): AsyncIterable<InspectedBatch> {
		return findUnusable(this.disk, folder);
	}

	findLeftovers(until: number): Promise<string[]> {
		return withFailures(rootPath, () => findLeftovers(this.disk, until));
	}

	canReplace(path: StoragePath): Promise<boolean> {
		return withFailures(path, async () => {
			using folder = await this.disk.parentOf(path, 'path');
			return await this.disk.exchangeFlag.isSupportedAt(folder);
		});
	}

	sharingFaults(): Promise<string[]> {
		return withFailures(rootPath, () => sharingFaults(this.disk));
	}

	count(path: StoragePath): Promise<number> {
		return withFailures(path, () => countFolder(this.disk, path));
	}

	stat(path: StoragePath): Promise<StorageItem> {
		return withFailures(path, () => statItem(this.disk, path));
	}

	open(path: StoragePath): Promise<OpenFile> {
		return withFailures(path, () => openItem(this.disk, path));
	}

	watch(path: StoragePath, listener: FolderListener): Promise<Watch | undefined> {
		return withFailures(path, () => watchFolder(this.disk, path, listener));
	}

	makeDirectory(path: StoragePath): Promise<StorageItem> {
		return withFailures(path, () => makeFolder(this.disk, path));
	}

	setFolderTime(folder: StoragePath, mtime: number): Promise<void> {
		return withFailures(folder, async () => {
			using opened = await this.disk.folder(folder, 'read');
			await setModified(opened.fd, mtime / 1000);
		});
	}

	currentTime(): Promise<number> {
		return withFailures(rootPath, () => currentTime(this.disk));
	}

	readAccess(path: StoragePath): Promise<ItemAccess> {
		return withFailures(path, () => readAccess(this.disk, path));
	}

	writeAccess(path: StoragePath, access: ItemAccess): Promise<void> {
		return withFailures(path, () => writeAccess(this.disk, path, access));
	}

	findLostAccess(type: 'file' | 'directory', access: ItemAccess): Promise<AccessPart[]> {
		return withFailures(rootPath, () => findLostAccess(this.disk, type, access));
	}

	inheritAccess(folder: StoragePath, parent: StoragePath): Promise<void> {
		return withFailures(folder, async () => {
			using opened = await this.disk.folder(folder, 'read');
			using above = await this.disk.folder(parent, 'read');
			await inheritAccess(this.disk, above, opened.fd, 'directory');
			await fsync(opened.fd);
		});
	}

	move(from: StoragePath, to: StoragePath, options: MoveOptions = {}): Promise<StorageItem> {
		return withFailures(from, () => moveItem(this.disk, from, to, options), to);
	}

	copy(from: StoragePath, to: StoragePath, options: CopyOptions = {}): Promise<StorageItem> {
		return withFailures(from, () => copyItem(this.disk, from, to, options), to);
	}

	async discardCopy(id: string): Promise<void> {
		const freeSpace = await withFailures(rootPath, () => discardCopy(this.disk, id));
		if (freeSpace !== undefined) this.#later(freeSpace);
	}

	async remove(path: StoragePath, { onFreeing, onRemoved }: RemovalOptions = {}): Promise<void> {
		const { removed, freeSpace } = await withFailures(path, () => removeItem(this.disk, path));
		onRemoved?.(removed);
		const freed = this.#later(freeSpace);
		onFreeing?.(freed);
	}

	assertUnmounted(path: StoragePath): Promise<void> {
		return withFailures(path, () => assertUnmounted(this.disk, path));
	}

	removeEmptyFolder(path: StoragePath): Promise<void> {
		return withFailures(path, () => removeEmptyFolder(this.disk, path));
	}

	async stage(id?: string): Promise<StagedFile> {
		return id === undefined ? StagedLocalFile.begin(this.disk) : new StagedLocalFile(this.disk, id);
	}

	findPublished(id: string, path: StoragePath): Promise<StorageItem | undefined> {
		return withFailures(path, () => findPublished(this.disk, id, path));
	}

	sweepStaging(before: StagingCutoffs, isNeeded: (id: string) => Promise<boolean>): Promise<void> {
		return withFailures(rootPath, async () => {
			await sweepStaging(this.disk, before, isNeeded);
			// Not awaited: it may take hours.
			void this.#later(() => sweepRemovals(this.disk));
		});
	}

	freeSpace(): Promise<number> {
		return withFailures(rootPath, () => this.disk.root.freeBytes());
	}

	totalSpace(): Promise<number> {
		return withFailures(rootPath, () => this.disk.root.totalBytes());
	}

	async check(): Promise<void> {
		try {
			await withFailures(rootPath, () => checkDisk(this.disk));
		} catch (error) {
			nameRoot(error, this.disk.root.path);
			if (!isFailure(error, 'forbidden')) throw error;
			throw new Failure('unavailable', 'The storage cannot be written to.', { cause: error });
		}
	}

	/** Resolves when no background work is left. Work that is interrupted there is continued at the next start. */
	async close(): Promise<void> {
		this.disk.isClosing = true;
		await Promise.all(this.#background);
	}

	/** Resolves once the work has ended, however. */
	#later(work: () => Promise<void>): Promise<void> {
		if (this.disk.isClosing) return Promise.resolve();
		// Not awaited; failed work is tried again at the next start.
		const running = work()
			.catch(() => {})
			.finally(() => this.#background.delete(running));
		this.#background.add(running);
		return running;
	}
}
