import { constants } from 'node:fs';
import { constants as systemConstants } from 'node:os';
import { trashFolder } from '@stowage/plugin-api';
import { Failure, isWithin, parentPath, pathSegments, type StoragePath } from '@stowage/rules';
import { fstat, lstat } from '../system/descriptors.js';
import { type FileStat, type Ownership, toFileStat } from '../system/fileStat.js';
import { Folder, type FolderAccess, OpeningFolder, pathOnly } from '../system/openFolder.js';
import type { RawName } from '../system/rawNames.js';
import type { SystemCalls } from '../system/systemCalls.js';
import { isSystemError, noSuchEntry, systemError } from '../system/systemErrors.js';
import { ExchangeFlag } from './ExchangeFlag.js';
import { FolderLocks } from './FolderLocks.js';
import { FolderSyncs } from './FolderSyncs.js';
import { isPrivateName, privateFolder, type removedFolder, stagingFolder } from './privateFolder.js';
import { RenameFlag } from './RenameFlag.js';
import type { Root } from './Root.js';

/** What a removal had to leave, with the folders around it: the first of it, and how many files and folders there are. */
export interface NotRemoved {
	place: string;
	error: unknown;
	count: number;
}

/** The root of a storage and the ways to open its items. Each burst of calls begins at the root itself, newly opened. */
export class Disk {
	readonly syncs: FolderSyncs;
	readonly locks: FolderLocks;
	readonly renameFlag: RenameFlag;
	readonly exchangeFlag: ExchangeFlag;
	/** Names of the staged files in use by this process. */
	readonly busyUploads = new Set<string>();
	/** Names of the staged files that this process has locked for more than one call. */
	readonly lockedUploads = new Set<string>();
	/** Names of the staged files whose sync failed, which may never be committed. */
	readonly failedSyncs = new Set<string>();
	/** Names of the staged files whose names are certainly durable, so that a sync of their bytes is enough. */
	readonly syncedNames = new Set<string>();
	/** What this process removes in the folder of what was removed, or could not: no sweep tries it again. */
	readonly removals = new Set<RawName>();
	/** Set when background work shall end. */
	isClosing = false;
	readonly #shared = new OpenFolderCache();

	constructor(
		readonly root: Root,
		readonly calls: SystemCalls,
		/** Called with the path of what is mounted in a tree that was removed, and is left. */
		readonly onMountLeft: (path: string) => void = () => {},
		/** Called once a removal has ended that had to leave something. */
		readonly onNotRemoved: (left: NotRemoved) => void = () => {},
	) {
		this.syncs = new FolderSyncs(calls);
		this.locks = new FolderLocks(calls);
		const staging = () => this.privateFolder(stagingFolder, 'path');
		this.renameFlag = new RenameFlag(calls, staging);
		this.exchangeFlag = new ExchangeFlag(calls, staging);
	}

	/** Whether cached metadata may be read synchronously, on the main thread. */
	get isLocal(): boolean {
		return !this.root.isRemote;
	}

	folder(path: StoragePath, access: FolderAccess): Folder | Promise<Folder> {
		assertUsable(path);
		return this.#open(pathSegments(path), access);
	}

	/** The folder that contains `path`. Throws `notFound` for the private folder and its contents, except the trash. */
	parentOf(path: StoragePath, access: FolderAccess): Folder | Promise<Folder> {
		assertUsable(path);
		return this.#open(pathSegments(parentPath(path)), access);
	}

	privateFolder(name: typeof stagingFolder | typeof removedFolder, access: FolderAccess): Folder | Promise<Folder> {
		const lacking = (cause: unknown): never => {
			if (!isSystemError(cause, 'ENOENT', 'ENOTDIR')) throw cause;
			// It was removed by hand: the next call creates it again.
			this.root.verifyAgain();
			throw new Failure('unavailable', 'The storage lacks a folder of its own.', { cause });
		};
		try {
			const folder = this.#open([privateFolder, name], access);
			return folder instanceof Promise ? folder.catch(lacking) : folder;
		} catch (cause) {
			return lacking(cause);
		}
	}

	/** A stat of the object of that name in an open folder, which may also be a link. */
	async statAt(folder: Folder, name: string): Promise<FileStat> {
		const fd = this.openNow(folder, name, pathOnly | constants.O_NOFOLLOW);
		if (fd === undefined)
			return this.withHandle(toFileStat(await lstat(folder.at(name), { bigint: true })), folder.fd, name);
		using place = new Folder(fd);
		return await this.statOf(place.fd);
	}

	statOf(fd: number): FileStat | Promise<FileStat> {
		return this.statNow(fd) ?? this.#statSlowly(fd);
	}

	/** `statOf` without waiting; undefined where it may block. */
	statNow(fd: number): FileStat | undefined {
		const stat = this.isLocal ? this.calls.statCached(fd) : undefined;
		return stat && this.withHandle(stat, fd, '');
	}

	async #statSlowly(fd: number): Promise<FileStat> {
		return this.withHandle(toFileStat(await fstat(fd)), fd, '');
	}

	ownershipOf(fd: number): Ownership | Promise<Ownership> {
		return (this.isLocal ? this.calls.ownershipCached(fd) : undefined) ?? this.#ownershipSlowly(fd);
	}

	async #ownershipSlowly(fd: number): Promise<Ownership> {
		const { mode, uid, gid } = await fstat(fd);
		return { mode: Number(mode), uid: Number(uid), gid: Number(gid) };
	}

	/** An extended attribute of an open object; undefined if it has none of that name. */
	attributeOf(fd: number, name: string): Buffer | undefined | Promise<Buffer | undefined> {
		const { attributes } = this.calls;
		return this.isLocal ? attributes?.readSync(fd, name) : attributes?.read(fd, name);
	}

	/** `statAt` as a synchronous call; undefined if the object vanished. Left out if it may block. */
	get statSync(): ((folder: Folder, name: string) => FileStat | undefined) | undefined {
		const { statSync } = this.calls;
		if (!this.isLocal || statSync === undefined) return undefined;
		return (folder, name) => {
			const stat = statSync(folder.fd, name);
			return stat && this.withHandle(stat, folder.fd, name);
		};
	}

	/** The stat of the object of that name in a folder, or of the open one for '', with its handle if it needs one. */
	withHandle(stat: FileStat, fd: number, name: string): FileStat {
		if (stat.birthtimeNs !== 0n || stat.type === 'other' || stat.device !== this.root.deviceOfHandles) return stat;
		const handle = this.calls.handleOf?.(fd, name);
		return handle === undefined ? stat : { ...stat, handle };
	}

	/** Opens an item without waiting; undefined if it is missing or that would have to wait. */
	openCached(folder: Folder, path: string, flags: number): number | undefined {
		const opened = this.isLocal ? this.calls.openCached(folder.fd, path, flags) : undefined;
		return opened === 'missing' ? undefined : opened;
	}

	/** `openCached`, but throws ENOENT at once if the item is known to be missing. */
	openNow(folder: Folder, path: string, flags: number): number | undefined {
		const opened = this.isLocal ? this.calls.openCached(folder.fd, path, flags) : undefined;
		if (opened === 'missing') throw systemError('openat2', systemConstants.errno.ENOENT);
		return opened;
	}

	/** Fills the buffer if the kernel has all of it in memory; after `false` its content is undefined. */
	readCached(fd: number, buffer: Buffer, position: number): boolean {
		return this.isLocal && this.calls.readCached(fd, buffer, position) === buffer.length;
	}

	/** Opens a folder, at once where the kernel has all folders on the way in memory: each promise costs more than the calls. */
	#open(segments: readonly string[], access: FolderAccess): Folder | Promise<Folder> {
		const path = segments.join('/') || '.';
		const open = () => this.#openBelowRoot(segments.length === 0 ? ['.'] : segments, access);
		// One that is read has its own place in the listing.
		return access === 'path' ? this.#shared.acquire(path, open) : open();
	}

	#openBelowRoot(segments: readonly string[], access: FolderAccess): Folder | Promise<Folder> {
		const root = this.#shared.acquire('', () => this.root.openCached() ?? this.root.open());
		const open = (from: Folder) =>
			new OpeningFolder(from, segments, access, (folder, path, flags) => this.openNow(folder, path, flags)).open();
		return root instanceof Folder ? open(root) : root.then(open);
	}
}

/** Refuses paths that only the storage itself may use, with the message for missing items. */
function assertUsable(path: StoragePath): void {
	if (isPrivateName(pathSegments(path)[0] ?? '') && !isWithin(path, trashFolder)) throw noSuchEntry(path);
}

interface Opening {
	readonly folder: Folder | Promise<Folder>;
	references: number;
}

/**
 * Open folders that the calls of one burst share. A burst lasts until nothing is left to do at once: nothing can happen to the disk
 * through this process before its end, so sharing is as good as opening anew. Only for uses without a state of their own, such as a
 * position in a listing or a lock.
 */
export class OpenFolderCache {
	readonly #openings = new Map<string, Opening>();

	/** The folder of that key, opened by the first caller. Each caller disposes of it. */
	acquire(key: string, open: () => Folder | Promise<Folder>): Folder | Promise<Folder> {
		const opening = this.#openings.get(key) ?? this.#begin(key, open);
		opening.references++;
		const share = (folder: Folder) => new SharedFolder(folder, () => release(opening));
		return opening.folder instanceof Folder ? share(opening.folder) : opening.folder.then(share);
	}

	#begin(key: string, open: () => Folder | Promise<Folder>): Opening {
		// One for the burst itself.
		const opening = { folder: open(), references: 1 };
		this.#openings.set(key, opening);
		process.nextTick(() => {
			this.#openings.delete(key);
			release(opening);
		});
		return opening;
	}
}

function release(opening: Opening): void {
	opening.references--;
	if (opening.references > 0) return;
	if (opening.folder instanceof Folder) opening.folder[Symbol.dispose]();
	else {
		// Callers that waited for one that could not be opened get its error.
		opening.folder.then(
			(folder) => folder[Symbol.dispose](),
			() => {},
		);
	}
}

class SharedFolder extends Folder {
	readonly #release: () => void;

	constructor(folder: Folder, release: () => void) {
		super(folder.fd, folder.isNamedByDescriptor ? undefined : folder.path);
		this.#release = release;
	}

	override [Symbol.dispose](): void {
		this.#release();
	}
}
