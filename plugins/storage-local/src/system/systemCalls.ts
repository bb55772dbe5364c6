import type { StorageEntry } from '@stowage/plugin-api';
import type { FileStat, Ownership } from './fileStat.js';
import type { Folder } from './openFolder.js';
import type { RawEntry } from './rawNames.js';

/** Extended attributes (xattr(7)) of objects that are open for reading or writing. */
export interface Attributes {
	/** The value of an attribute; undefined for an object or a file system without it. */
	read(fd: number, name: string): Promise<Buffer | undefined>;
	/** `read` as a synchronous call, which may block on a network file system. */
	readSync(fd: number, name: string): Buffer | undefined;
	/** Rejects with EOPNOTSUPP where the file system has none of this kind. */
	write(fd: number, name: string, value: Buffer): Promise<void>;
	remove(fd: number, name: string): Promise<void>;
}

/**
 * Calls of the operating system beyond node:fs. `nodeCalls` implements those that are possible without, so that everything runs anywhere.
 */
export interface SystemCalls {
	/** Whether the items of an open folder can be named through its descriptor, as `/proc` allows on Linux. */
	readonly namesByDescriptor: boolean;
	/** Renames unless the new name is taken (EEXIST). Rejects with ENOSYS or EINVAL if there is no such call. */
	renameNoReplace(from: Folder, fromName: string, to: Folder, toName: string): Promise<void>;
	/** Exchanges the names of two objects atomically. Rejects with ENOENT if one of them is missing. Left out if there is no such call. */
	readonly exchange?: (one: Folder, oneName: string, other: Folder, otherName: string) => Promise<void>;
	/** Locks an open file against other processes until it is closed. False if it is locked; undefined if its file system has no locks. */
	readonly tryLock?: (fd: number) => boolean | undefined;
	/** Syncs the whole file system. False if there is no such call. */
	syncFileSystem(fd: number): Promise<boolean>;
	/** Starts writing bytes to the disk, so that less is left for the sync that a caller waits for. */
	startWriteback(fd: number, position: number, length: number): Promise<void>;
	/**
	 * Copies the next bytes of one open file to the end of another without reading them; resolves to how many, 0 at the end.
	 * Undefined if that is not possible between these two.
	 */
	copyRange(source: number, target: number, length: number): Promise<number | undefined>;
	/** All in a folder that was opened for reading, in batches, the first one small. */
	readNames(folder: Folder): AsyncIterable<RawEntry[]>;
	/**
	 * Opens an item below a folder if that takes no disk access and meets no link; `missing` if the kernel knows without one that there is
	 * none; undefined in any other case, and then the slow path throws the reason.
	 */
	openCached(fd: number, path: string, flags: number): number | 'missing' | undefined;
	/** Opens the administrator's own absolute path likewise, but follows links in it. */
	openRootCached(path: string, flags: number): number | undefined;
	/** Reads cached bytes of an open file, and returns how many they were. */
	readCached(fd: number, buffer: Buffer, position: number): number;
	/** The stat of an open object, without access to a disk or network. */
	statCached(fd: number): FileStat | undefined;
	/** The owner, group and mode of an open object, without access to a disk or network. */
	ownershipCached(fd: number): Ownership | undefined;
	/**
	 * The file system's own identifier of an object, unique even after its inode number was reused: of the one of that name, or of the open
	 * one for ''. Undefined if it has none.
	 */
	readonly handleOf?: (fd: number, name: string) => string | undefined;
	/** Extended attributes of open objects, such as ACLs. Left out if there are none. */
	readonly attributes?: Attributes;
	/** Names the mount through which an object was opened, which is a mount of its own for each that is mounted below a root. */
	mountOf(fd: number): string;
	/** The paths at which something is mounted; none where the system does not list them. */
	mountPoints(): Promise<readonly string[]>;
	/** Whether this process may read the object of that name; for a folder, also its contents. Rejects if there is none. */
	mayRead(folder: Folder, name: string, type: 'file' | 'directory'): Promise<boolean>;
	/** Whether this process may create, rename and remove items in an open folder, as far as permissions go. */
	mayChange(folder: Folder): Promise<boolean>;
	/** A synchronous stat of the object of that name, which may be a link; undefined if it vanished. Left out if it may block. */
	readonly statSync?: ((fd: number, name: string) => FileStat | undefined) | undefined;
	/** `mayRead` as a synchronous call. Left out if it may block. */
	readonly mayReadSync?: ((fd: number, name: string, type: 'file' | 'directory') => boolean) | undefined;
	/** The row of a listing, synchronously; undefined if it vanished or is neither file nor folder. Left out if it may block. */
	readonly entrySync?: ((fd: number, name: string) => StorageEntry | undefined) | undefined;
}
