import { Failure, isFailure } from '@stowage/rules';
import { closeSync, fstat, lstat, statfs } from '../system/descriptors.js';
import { type FileStat, toFileStat } from '../system/fileStat.js';
import { deviceOf, Folder, readFileFlags } from '../system/openFolder.js';
import { hasLastingHandles, isRemoteFileSystem } from '../system/remoteFileSystems.js';
import type { SystemCalls } from '../system/systemCalls.js';
import { systemErrorCode } from '../system/systemErrors.js';
import { makePrivateFolders, openRootFolder, readMarker, rootFlags } from './marker.js';

/** The marker, relative to the root. */
const markerPath = '.stowage/root.json';

/** Opens the root again and again, each time only if it still has our id. */
export class Root {
	/** Whether the file system is remote, so that any call on it may block. */
	isRemote = false;
	/** The file system whose handles are stable during the life of their objects; undefined if they are not. */
	deviceOfHandles: bigint | undefined;
	#verified: string | undefined;
	#onVerified: () => void = () => {};

	constructor(
		readonly path: string,
		readonly id: string,
		readonly calls: SystemCalls,
	) {}

	/** Runs `work` each time the root becomes available: at first and each time it is available again. */
	onVerified(work: () => void): void {
		this.#onVerified = work;
	}

	/** `open` without waiting; undefined unless the kernel has all of it in memory, and nothing has changed. */
	openCached(): Folder | undefined {
		if (this.#verified === undefined) return undefined;
		const fd = this.#openCached();
		if (fd === undefined) return undefined;
		const folder = new Folder(fd);
		const root = this.calls.statCached(fd);
		const marker = this.#markerCached(folder);
		if (root !== undefined && marker !== undefined && identityOf(root, markerStateOf(marker)) === this.#verified)
			return folder;
		folder[Symbol.dispose]();
		return undefined;
	}

	/** Opens the root. Throws `unavailable` if it is missing or has another id; then nothing was written there. */
	async open(): Promise<Folder> {
		const folder = await this.#openFolder();
		try {
			const stat = this.calls.statCached(folder.fd) ?? toFileStat(await fstat(folder.fd));
			const identity = identityOf(stat, await this.#markerState(folder));
			if (identity !== this.#verified) await this.#verify(folder, identity);
			return folder;
		} catch (error) {
			folder[Symbol.dispose]();
			throw this.#unavailable(error);
		}
	}

	/** Forgets all cached state, for the next opening. */
	verifyAgain(): void {
		this.#verified = undefined;
	}

	/** Bytes that may still be written: 0 if no new file can be created. */
	async freeBytes(): Promise<number> {
		using root = await this.open();
		const { bavail, bsize, files, ffree } = await statfs(root.path);
		return files > 0 && ffree === 0 ? 0 : bavail * bsize;
	}

	/** The size of the whole file system in bytes. */
	async totalBytes(): Promise<number> {
		using root = await this.open();
		const { blocks, bsize } = await statfs(root.path);
		return blocks * bsize;
	}

	/** Reads the marker again, without a cache. */
	async assertMarker(folder: Folder): Promise<void> {
		try {
			if ((await readMarker(folder)) !== this.id) throw otherRoot();
		} catch (error) {
			throw this.#unavailable(error);
		}
	}

	async #openFolder(): Promise<Folder> {
		try {
			const fd = this.#openCached();
			return fd === undefined ? await openRootFolder(this.path, this.calls) : new Folder(fd);
		} catch (error) {
			throw this.#unavailable(error);
		}
	}

	#openCached(): number | undefined {
		return this.isRemote ? undefined : this.calls.openRootCached(this.path, rootFlags);
	}

	/**
	 * Changes when the marker is removed or replaced, so that it is read again then. Over a network it is read when the root itself
	 * changes.
	 */
	async #markerState(folder: Folder): Promise<string> {
		if (this.isRemote) return '';
		try {
			return markerStateOf(this.#markerCached(folder) ?? (await this.#markerStat(folder)));
		} catch {
			// Its errors are reported when it is read.
			return 'none';
		}
	}

	#markerCached(folder: Folder): FileStat | undefined {
		const fd = this.calls.openCached(folder.fd, markerPath, readFileFlags);
		if (fd === undefined || fd === 'missing') return undefined;
		try {
			return this.calls.statCached(fd);
		} finally {
			closeSync(fd);
		}
	}

	async #markerStat(folder: Folder): Promise<FileStat> {
		return toFileStat(await lstat(folder.at(markerPath), { bigint: true }));
	}

	async #verify(folder: Folder, identity: string): Promise<void> {
		await this.assertMarker(folder);
		await makePrivateFolders(folder);
		const { type } = await statfs(folder.path);
		this.isRemote = isRemoteFileSystem(type);
		this.deviceOfHandles = hasLastingHandles(type) ? deviceOf(this.calls, folder) : undefined;
		this.#verified = identity;
		this.#onVerified();
	}

	#unavailable(error: unknown): unknown {
		if (isFailure(error)) return error;
		return systemErrorCode(error) === undefined
			? error
			: new Failure('unavailable', 'The storage is not available right now.', { cause: error });
	}
}

/** Identifies the root, also by its time of birth: another disk put in the place of this one has the same device and first inode. */
function identityOf({ device, inode, birthtimeNs }: FileStat, markerState: string): string {
	return `${device}/${inode}/${birthtimeNs}/${markerState}`;
}

function markerStateOf({ inode, ctimeNs }: FileStat): string {
	return `${inode}/${ctimeNs}`;
}

function otherRoot(): Failure {
	return new Failure('unavailable', 'The storage is not available right now: what is in its place is not ours.');
}
