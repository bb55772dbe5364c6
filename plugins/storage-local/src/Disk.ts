import { constants } from 'node:fs';
import { Failure, parentPath, pathSegments, type StoragePath } from '@stowage/rules';
import { fstat, lstat } from './descriptors.js';
import { Folder } from './Folder.js';
import { FolderLocks } from './FolderLocks.js';
import { FolderSyncs } from './FolderSyncs.js';
import { type Facts, factsOfStats } from './facts.js';
import { isFault, noSuchEntry } from './faults.js';
import { type Access, folderFlags, openFolder, placeOnly } from './opening.js';
import { isPrivateName, privateFolder, stagingFolder, type trashFolder } from './privateFolder.js';
import { RenameFlag } from './RenameFlag.js';
import type { Root } from './Root.js';
import { SharedFolders } from './SharedFolders.js';
import type { SystemCalls } from './systemCalls.js';

/** The root of a storage with the ways to open what lies in it. Each burst of calls begins at the root itself, newly opened. */
export class Disk {
	readonly syncs: FolderSyncs;
	readonly locks: FolderLocks;
	readonly renameFlag: RenameFlag;
	/** Names of the staged files that somebody in this process works on. */
	readonly busyUploads = new Set<string>();
	/** Names of the staged files that could not be made durable, and may never be committed. */
	readonly lostUploads = new Set<string>();
	/** Names of the staged files whose names are known to be durable, so that a sync of their bytes is enough. */
	readonly durablyNamed = new Set<string>();
	/** Set when work in the background shall come to an end. */
	isClosing = false;
	readonly #shared = new SharedFolders();

	constructor(
		readonly root: Root,
		readonly calls: SystemCalls,
	) {
		this.syncs = new FolderSyncs(calls);
		this.locks = new FolderLocks(calls);
		this.renameFlag = new RenameFlag(calls, () => this.privateFolder(stagingFolder, 'pass'));
	}

	/** Whether cached knowledge may be asked for at once, on the thread that answers requests. */
	get isLocal(): boolean {
		return !this.root.isRemote;
	}

	async folder(path: StoragePath, access: Access): Promise<Folder> {
		demandPublic(path);
		return this.#open(pathSegments(path), access);
	}

	/** The folder that `path` lies in. Throws `notFound` for the private folder and what is in it. */
	parentOf(path: StoragePath, access: Access): Promise<Folder> {
		demandPublic(path);
		return this.folder(parentPath(path), access);
	}

	async privateFolder(name: typeof stagingFolder | typeof trashFolder, access: Access): Promise<Folder> {
		try {
			return await this.#open([privateFolder, name], access);
		} catch (cause) {
			if (!isFault(cause, 'ENOENT', 'ENOTDIR')) throw cause;
			// Somebody removed it by hand: the next call makes it again.
			this.root.verifyAgain();
			throw new Failure('unavailable', 'The storage lacks a folder of its own.', { cause });
		}
	}

	/** What is known of the object of that name in an open folder, which may also be a link. */
	async factsAt(folder: Folder, name: string): Promise<Facts> {
		const fd = this.openCached(folder, name, placeOnly | constants.O_NOFOLLOW);
		if (fd === undefined)
			return this.identified(factsOfStats(await lstat(folder.at(name), { bigint: true })), folder.fd, name);
		using place = new Folder(fd);
		return await this.factsOf(place.fd);
	}

	async factsOf(fd: number): Promise<Facts> {
		const facts = (this.isLocal ? this.calls.factsCached(fd) : undefined) ?? factsOfStats(await fstat(fd));
		return this.identified(facts, fd, '');
	}

	/** What `factsAt` tells, at once; nothing if it vanished. Left out where it can't be had so. */
	get factsNow(): ((folder: Folder, name: string) => Facts | undefined) | undefined {
		const { factsNow } = this.calls;
		if (!this.isLocal || factsNow === undefined) return undefined;
		return (folder, name) => {
			const facts = factsNow(folder.fd, name);
			return facts && this.identified(facts, folder.fd, name);
		};
	}

	/** What is known of the object of that name in a folder, or of the open one for '', with its handle where it needs one. */
	identified(facts: Facts, fd: number, name: string): Facts {
		if (facts.birthtimeNs !== 0n || facts.type === 'other' || facts.device !== this.root.deviceOfHandles) return facts;
		const handle = this.calls.handleOf?.(fd, name);
		return handle === undefined ? facts : { ...facts, handle };
	}

	openCached(folder: Folder, path: string, flags: number): number | undefined {
		return this.isLocal ? this.calls.openCached(folder.fd, path, flags) : undefined;
	}

	/** Fills the buffer if the kernel has all of it in memory; what it holds after a false is undefined. */
	readCached(fd: number, buffer: Buffer, position: number): boolean {
		return this.isLocal && this.calls.readCached(fd, buffer, position) === buffer.length;
	}

	async #open(segments: readonly string[], access: Access): Promise<Folder> {
		const path = segments.join('/') || '.';
		const open = () => this.#openBelowRoot(segments, path, access);
		// One that is read has its own place in the listing.
		return access === 'pass' ? await this.#shared.take(path, open) : await open();
	}

	async #openBelowRoot(segments: readonly string[], path: string, access: Access): Promise<Folder> {
		using root = await this.#shared.take('', () => this.root.open());
		const fd = this.openCached(root, path, folderFlags(access));
		return fd === undefined ? await openFolder(root, segments, access) : new Folder(fd);
	}
}

/** Refuses what only the storage itself may touch, in the words for what is not there. */
function demandPublic(path: StoragePath): void {
	if (isPrivateName(pathSegments(path)[0] ?? '')) throw noSuchEntry(path);
}
