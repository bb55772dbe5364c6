import * as fs from 'node:fs';
import type { CommitOptions, LocalFile, StagedFile, StagedLock, StorageItem } from '@stowage/plugin-api';
import { Failure, rootPath, type StoragePath } from '@stowage/rules';
import { copyBytes } from '../changing/copyTree.js';
import type { Disk } from '../root/Disk.js';
import { randomName, stagingFolder } from '../root/privateFolder.js';
import { close, closeSync, fdatasync, fstat, ftruncate, open, unlink } from '../system/descriptors.js';
import { objectId } from '../system/fileStat.js';
import { isSystemError, withFailures } from '../system/systemErrors.js';
import { appendTo } from './append.js';
import { commitStaged, syncOrDrop } from './commit.js';
import { formatStagedId, noSuchUpload, parseStagedId, type StagedId } from './stagedIds.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = fs.constants;

/** A file in the private folder. It is not kept open between calls, so it may exist for days at no cost. */
export class StagedLocalFile implements StagedFile {
	readonly #staged: StagedId;
	/** Only if the system has locks between processes. */
	readonly lock?: () => Promise<StagedLock>;

	/** Throws `notFound` for an unknown id. */
	constructor(
		readonly disk: Disk,
		readonly id: string,
	) {
		this.#staged = parseStagedId(id);
		if (disk.calls.tryLock !== undefined) this.lock = () => this.#lock();
	}

	/** Creates a new one. It has its final mode from the start: the mode of its folder excludes others. */
	static begin(disk: Disk): Promise<StagedLocalFile> {
		return withFailures(rootPath, async () => {
			using staging = await disk.privateFolder(stagingFolder, 'path');
			const name = randomName();
			const fd = await open(staging.at(name), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, 0o666);
			try {
				return new StagedLocalFile(disk, formatStagedId(name, await disk.statOf(fd)));
			} finally {
				closeSync(fd);
			}
		});
	}

	size(): Promise<number> {
		return this.#withFile(async (fd) => (await this.disk.statOf(fd)).size);
	}

	append(body: AsyncIterable<Uint8Array>, at: number): Promise<number> {
		return this.#alone(() =>
			this.#withFile(async (fd) => {
				this.#assertLock(fd);
				return appendTo(this.disk, fd, body, at);
			}),
		);
	}

	withLocalFile<T>(use: (file: LocalFile) => Promise<T>): Promise<T> {
		return this.#alone(() =>
			this.#withFile(async (fd) => {
				// A child that outlives this process has the lock as well: its later writes are never published.
				this.#assertLock(fd);
				return use({ descriptor: fd });
			}),
		);
	}

	async #lock(): Promise<StagedLock> {
		const { name } = this.#staged;
		const { lockedUploads } = this.disk;
		if (lockedUploads.has(name)) throw uploadInUse();
		return this.#alone(async () => {
			const fd = await withFailures(rootPath, () => this.#open());
			if (fd === undefined) throw noSuchUpload();
			try {
				this.#assertLock(fd);
			} catch (error) {
				closeSync(fd);
				throw error;
			}
			lockedUploads.add(name);
			return {
				release() {
					// Closed once: the number is soon another file's.
					if (lockedUploads.delete(name)) closeSync(fd);
				},
			};
		});
	}

	fork(size: number): Promise<StagedFile> {
		return this.#withFile((source) =>
			withFailures(rootPath, async () => {
				const fork = await StagedLocalFile.begin(this.disk);
				try {
					await fork.#withFile(async (target) => {
						await copyBytes({ disk: this.disk, options: {} }, source, target, await fstat(source));
						await ftruncate(target, size);
					});
					await fork.sync();
				} catch (error) {
					await fork.discard();
					throw error;
				}
				return fork;
			}),
		);
	}

	sync(): Promise<void> {
		return this.#withFile((fd) =>
			withFailures(rootPath, async () => {
				await syncOrDrop(this.disk, this.#staged, () => fdatasync(fd));
				const { name } = this.#staged;
				if (this.disk.syncedNames.has(name)) return;
				using staging = await this.disk.privateFolder(stagingFolder, 'read');
				await this.disk.syncs.sync(staging);
				this.disk.syncedNames.add(name);
			}),
		);
	}

	commit(path: StoragePath, options: CommitOptions = {}): Promise<StorageItem> {
		return this.#alone(() =>
			withFailures(path, async () => {
				const fd = await this.#open();
				if (fd === undefined) throw noSuchUpload();
				try {
					this.#assertLock(fd);
					const item = await commitStaged(this.disk, this.#staged, fd, path, options);
					this.disk.syncedNames.delete(this.#staged.name);
					return item;
				} finally {
					closeSync(fd);
				}
			}),
		);
	}

	discard(): Promise<void> {
		return withFailures(rootPath, async () => {
			this.disk.syncedNames.delete(this.#staged.name);
			using staging = await this.disk.privateFolder(stagingFolder, 'path');
			try {
				await unlink(staging.at(this.#staged.name));
			} catch (error) {
				if (!isSystemError(error, 'ENOENT')) throw error;
			}
		});
	}

	/** Opens the file; undefined if it is no longer in staging, or bytes of it were lost. */
	async #open(): Promise<number | undefined> {
		if (this.disk.failedSyncs.has(this.#staged.name)) return undefined;
		using staging = await this.disk.privateFolder(stagingFolder, 'path');
		const flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK;
		try {
			const name = this.#staged.name;
			const fd = this.disk.openCached(staging, name, flags) ?? (await open(staging.at(name), flags));
			if (objectId(await this.disk.statOf(fd)) === this.#staged.object) return fd;
			closeSync(fd);
		} catch (error) {
			if (!isSystemError(error, 'ENOENT')) throw error;
		}
		return undefined;
	}

	async #withFile<T>(work: (fd: number) => Promise<T>): Promise<T> {
		const fd = await withFailures(rootPath, () => this.#open());
		if (fd === undefined) throw noSuchUpload();
		try {
			return await work(fd);
		} finally {
			// Over a network closing may mean to wait until all is written.
			if (this.disk.isLocal) closeSync(fd);
			else await close(fd);
		}
	}

	/** Runs `work` unless this file is in use in this process; others are excluded by the lock on the file. */
	async #alone<T>(work: () => Promise<T>): Promise<T> {
		const { busyUploads } = this.disk;
		if (busyUploads.has(this.#staged.name)) throw uploadInUse();
		busyUploads.add(this.#staged.name);
		try {
			return await work();
		} finally {
			busyUploads.delete(this.#staged.name);
		}
	}

	#assertLock(fd: number): void {
		// Locked by another descriptor of this process.
		if (this.disk.lockedUploads.has(this.#staged.name)) return;
		if (this.disk.calls.tryLock?.(fd) === false) throw uploadInUse();
	}
}

function uploadInUse(): Failure {
	return new Failure('locked', 'Somebody else is writing to this upload.');
}
