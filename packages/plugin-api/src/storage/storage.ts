import { parsePath, type StoragePath } from '@stowage/rules';

/**
 * The folder of a root in which removed items wait until they are restored or gone for good. It is used as any other
 * one, but the root does not list it, and where other programs can use the files of the root, none but the server
 * itself gets to it. It may be missing, but not its parent: who moves something there makes it.
 */
export const trashFolder = parsePath('.stowage/trash');

/** A file or folder of a storage. */
export interface StorageEntry {
	name: string;
	type: 'file' | 'directory';
	/** Bytes; 0 for a folder. */
	size: number;
	/** Whole milliseconds since the epoch. */
	mtime: number;
	/** In a listing: a file that this process may not read, or a folder that it may not list. Optional. */
	unreadable?: true;
}

/** The properties that `stat` and `open` return beyond a listing's row. */
export interface StorageItem extends StorageEntry {
	/** Names the object itself: it stays through rename and move, and a new object of the same name has another. */
	id: string;
	/** Set if ids may be reused: once the object is removed, a new one may get its id. */
	mayReuseId?: true;
	/** Changes whenever the content may have changed; fit for a strong ETag once it is quoted. */
	version: string;
	/**
	 * The beginning of `version` that stays as long as nothing is written: also through rename and move, and a change of permissions. It
	 * may stay where a program writes into the file and sets its time back, so it only says who has written a content, never which it is.
	 * Optional: without it these make another version, of which nobody knows that it has the same content.
	 */
	contentVersion?: string;
}

/** Bytes `start` to `end`, both included, as in HTTP ranges. */
export interface ByteRange {
	start: number;
	end: number;
}

/** A file of this machine that another program may read, or write where the method permits it. */
export interface LocalFile {
	/**
	 * Open; only its owner closes it. Given to a child process as a further entry of its `stdio` it is the file itself there, such as
	 * `/proc/self/fd/3`, whatever has become of its name.
	 */
	readonly descriptor: number;
}

/** A file opened for reading: its properties and its bytes belong to one object, whatever happens to its name. */
export interface OpenFile {
	readonly item: StorageItem;
	/**
	 * Yields the bytes of the range, all of them by default, in large chunks, and fails with `conflict` if the file turns out shorter. May
	 * be called several times, also concurrently. A chunk is valid until the next one is requested.
	 */
	read(range?: ByteRange): AsyncIterable<Uint8Array>;
	/** Fills the buffers, one behind another, with the bytes from `position` on, and fails as `read` does. Optional. */
	readInto?(buffers: readonly Uint8Array[], position: number): Promise<void>;
	/** Lends the open file itself, which stays open until `use` has settled. Optional. */
	withLocalFile?<T>(use: (file: LocalFile) => Promise<T>): Promise<T>;
	/**
	 * Whether the content may have been written to since it was opened. A new name, or none any more, is no change; nor is more at its end
	 * where it `mayGrow`, as a log does. Asked before the last chunk of a read is given back, it may then compare the ends of what was read.
	 */
	isChanged(options?: { mayGrow?: boolean }): Promise<boolean>;
	/** Frees the file once running reads have ended. May be called again. */
	close(): Promise<void>;
}

/** Replaces the file with this version, as `stat` returns it. */
export interface ReplaceVersion {
	replace: string;
	/**
	 * A free name in the trash folder that the replaced file gets, durably, instead of being removed. At any moment,
	 * also after a power cut, it is there or in its former place. Throws `notFound` where that folder is missing, and
	 * `alreadyExists` for a taken name; then nothing has changed.
	 */
	keepAs?: StoragePath | undefined;
}

/** Alternative names for an item whose name is taken. */
export interface NamingOptions {
	/**
	 * What happens if the name of the path is taken. `fail` tries the other names, and throws `alreadyExists` if all are taken.
	 *
	 * With a version the existing file is replaced in one step, and no other name is tried. Throws `preconditionFailed` if anything but
	 * that version of the file is there, or nothing, and `invalid` for a folder, for a file that shall replace itself, and where the
	 * storage can't (`canReplace`); then nothing has changed. A power cut at any time leaves the old file or the new one there, whole.
	 * @default 'fail'
	 */
	onConflict?: 'fail' | ReplaceVersion | undefined;
	/** Names to try in this order once that of the path is taken; the returned item has the one it got. May be iterated more than once. */
	otherNames?: Iterable<string>;
}

export interface MoveOptions extends NamingOptions {
	/**
	 * Awaited before the item gets a name, so that the caller can record it before it exists; called again for each further name after one
	 * that turns out to be taken.
	 */
	beforeNaming?: ((name: string) => Promise<void>) | undefined;
}

export interface RemovalOptions {
	/** Called where the space is freed by and by, such as that of a folder, with what resolves once that has ended, however. */
	onFreeing?: (freed: Promise<void>) => void;
	/** Called once it is removed, with the item that was: something else may have got the path since the caller has looked. */
	onRemoved?: (item: StorageItem) => void;
}

export interface CommitOptions extends MoveOptions {
	/** Milliseconds since the epoch. */
	mtime?: number;
}

/** Continuation of an interrupted copy. */
export interface CopyStaging {
	/** The id of the interrupted copy, if there is one; it may have been removed. */
	id?: string | undefined;
	/** The name that `beforeNaming` was last called with for that copy, unless it was the name of the path. */
	name?: string | undefined;
	/** Awaited with the id of a new copy before anything is copied, if no copy of the given id was found. */
	onBegin(id: string): Promise<void>;
}

export interface CopyOptions extends MoveOptions {
	/** Ends the copy, of which then nothing is left, unless it is staged. */
	signal?: AbortSignal | undefined;
	/**
	 * Makes a copy that survives a failure as well as a crash, until it is discarded: the next copy with its id continues it. Files that
	 * are complete in it are not copied again, unless the original has another size or modified time by now; items that the original no
	 * longer has are removed. A copy that was published, though the process ended before it could record that, is found under the name of
	 * the path or that of `staged`, whichever version it was to replace, and nothing is copied. Throws `locked` while
	 * another call works on it.
	 */
	staged?: CopyStaging | undefined;
	/** Awaited before each file and folder of the copy is created, or found to exist already; an error ends the copy. */
	beforeItem?: (item: Pick<StorageItem, 'type' | 'size'>) => Promise<void>;
	/** Awaited before bytes are written that take room on the disk, which those shared with the original do not. */
	beforeBytes?: (bytes: number) => Promise<void>;
	/** Called with the number of bytes added to the copy, whether they were written, shared with the original or existed already. */
	afterBytes?: (bytes: number) => void;
}

/** The exclusive use of a staged file. */
export interface StagedLock {
	/** Ends the exclusive use. To be called once all calls on the file have settled; may be called again. */
	release(): void;
}

/** A file in the making, invisible to readers. It survives a restart by its id until it is committed or discarded. */
export interface StagedFile {
	readonly id: string;
	/** The bytes written so far. */
	size(): Promise<number>;
	/**
	 * Writes the body at offset `at`; the bytes from there on are dropped first. Resolves to the new size. Throws `conflict` for an offset
	 * past the end and `locked` while another call appends or commits. When the body fails, the bytes received by then are kept and the
	 * error is thrown. A chunk may be written after the next one is requested, so the body must not reuse its memory. An empty body at the
	 * end counts as a use as well, after which a sweep takes the file for new.
	 */
	append(body: AsyncIterable<Uint8Array>, at: number): Promise<number>;
	/**
	 * Lends the file itself, open for reading and writing, to a program of its own, until `use` has settled. The file then contains what
	 * the program wrote. Throws `locked` as `append` does, and locks the file meanwhile. Optional.
	 */
	withLocalFile?<T>(use: (file: LocalFile) => Promise<T>): Promise<T>;
	/**
	 * Locks the file against all others, in this process and elsewhere, also between the calls that are made meanwhile. Throws `locked`
	 * while another one works on it, and `notFound` for one that left staging. The lock ends with the process. Optional.
	 */
	lock?(): Promise<StagedLock>;
	/**
	 * A new staged file with the first `size` bytes of this one, durable, even while this one is locked: those bytes must not be changed
	 * any more. Not every storage has such.
	 */
	fork?(size: number): Promise<StagedFile>;
	/**
	 * Resolves when every byte would survive a power cut. When it fails, the file is dropped: a later sync might succeed although bytes are
	 * lost.
	 */
	sync(): Promise<void>;
	/**
	 * Publishes the file under `path`, durably and completely; replaces nothing unless requested: throws `alreadyExists` if that and all
	 * `otherNames` are taken. Throws `notFound` where the folder is missing, and for a file that was published or discarded before:
	 * `findPublished` distinguishes them.
	 */
	commit(path: StoragePath, options?: CommitOptions): Promise<StorageItem>;
	/** Removes the file. Does nothing if it was committed or discarded before. */
	discard(): Promise<void>;
}

/** Until when something in staging must have been left alone to be swept, milliseconds since the epoch. */
export interface StagingCutoffs {
	staged: number;
	copies: number;
}

/**
 * One opened root: bytes and names. It knows no users, no areas and no HTTP. A change is durable when its promise resolves.
 * Everywhere: `notFound` for a missing item (or a symbolic link or special file), `alreadyExists` for a taken name, `storageFull` and
 * `unavailable` (root away, read only) as Failures.
 */
export interface StorageProvider {
	/** The id that is stored in the root itself, so that an empty mount point is never taken for it. */
	readonly rootId: string;
	/** Rows of a folder in batches, in no order, as they are found. Throws `notFound` before the first batch; also for a file. */
	list(path: StoragePath): AsyncIterable<StorageEntry[]>;
	/** How many rows `list` would yield. */
	count(path: StoragePath): Promise<number>;
	stat(path: StoragePath): Promise<StorageItem>;
	/** Opens a file. Throws `notFound` for a folder. The caller closes. */
	open(path: StoragePath): Promise<OpenFile>;
	/** Creates one folder; its parent must exist. */
	makeDirectory(path: StoragePath): Promise<StorageItem>;
	/** Moves a file or a folder with its contents in one step. Throws `invalid` for a folder into itself or below. */
	move(from: StoragePath, to: StoragePath, options?: MoveOptions): Promise<StorageItem>;
	/**
	 * Copies a file or a folder with its contents and modified times; the copy appears completely or not at all. Of a folder that changes
	 * meanwhile it has what only got another name there.
	 */
	copy(from: StoragePath, to: StoragePath, options?: CopyOptions): Promise<StorageItem>;
	/** Removes an unfinished staged copy. Does nothing for one that was published or discarded before. */
	discardCopy(id: string): Promise<void>;
	/**
	 * Removes a file or a folder with its contents; for readers it disappears in one step. Throws `conflict`, and removes nothing, where
	 * something is mounted in it (`MountAwareStorage`).
	 */
	remove(path: StoragePath, options?: RemovalOptions): Promise<void>;
	/** Removes an empty folder. Throws `conflict` if it contains anything, also items that are not listed, and `notFound` for a file. */
	removeEmptyFolder(path: StoragePath): Promise<void>;
	/**
	 * Begins a file, or finds one again by the id it had. Throws `notFound` for an id that was never given. Of a file that was committed or
	 * discarded all calls but `discard` throw that.
	 */
	stage(id?: string): Promise<StagedFile>;
	/**
	 * The durable item at the path, if it is the staged file of this id, published there by a call that may have been interrupted after
	 * that. Undefined for anything else, and where nothing is.
	 */
	findPublished(id: string, path: StoragePath): Promise<StorageItem | undefined>;
	/**
	 * Removes unused staged files and copies that were not modified since then, milliseconds since the epoch. A clock may have been wrong
	 * when they were: `isNeeded` is called with the id of each of them.
	 */
	sweepStaging(before: StagingCutoffs, isNeeded: (id: string) => Promise<boolean>): Promise<void>;
	/**
	 * Bytes that may still be written; undefined if the storage does not know. Then nothing is refused beforehand: the storage throws
	 * `storageFull` itself.
	 */
	freeSpace(): Promise<number | undefined>;
	/** The total bytes of the disk, written or not; undefined if the storage does not know. */
	totalSpace(): Promise<number | undefined>;
	/** Checks the root: mounted, writable and with our id. Throws `unavailable` with the reason. */
	check(): Promise<void>;
	close(): Promise<void>;
}

/** The driver of a storage plugin: it opens a root. */
export interface StorageDriver {
	/**
	 * Opens the root with the id `rootId`. Without an id (the database knows none) a root that is there already is taken over as it is, and
	 * a new one is made where there is nothing. `location` says where it lies, such as a folder; left out, it is where the plugin's options
	 * say. Throws `invalid` for one that can't be valid. Also resolves if a known root is not available now: then its calls throw
	 * `unavailable` until it is.
	 */
	open(rootId: string | undefined, location?: string): Promise<StorageProvider>;
	/**
	 * The id of the root at a location, which is not changed; undefined if there is none. Throws `invalid` for an impossible location, and
	 * `unavailable` for one that can't be read right now. A storage that can't determine it lacks this.
	 */
	identify?(location: string): Promise<string | undefined>;
	/**
	 * The folder of this machine in which the root lies that the plugin's options say, if it is one: no other root lies in it, or holds
	 * it.
	 */
	readonly folder?: string;
}
