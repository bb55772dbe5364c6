import type { StoragePath } from '@stowage/rules';
import type { StorageItem, StorageProvider } from './storage.js';

/** A part of a folder's items. */
export interface StatsBatch {
	items: StorageItem[];
	/** How many further items can't be served: special files, names that no path can contain, unreadable items. */
	skipped: number;
	/** Their names, where a storage has them; bytes that are no UTF-8 are replaced by U+FFFD. */
	skippedNames?: readonly string[];
}

/**
 * An optional ability of a storage: to list a folder with all properties of `stat`, for less than a `stat` each, and to count the items
 * that it leaves out.
 */
export interface StatsListingStorage extends StorageProvider {
	/** Batches in no order, as they are found. Throws like `list`. */
	listWithStats(path: StoragePath): AsyncIterable<StatsBatch>;
}

/** Whether a storage has this ability. */
export function hasListWithStats(storage: StorageProvider): storage is StatsListingStorage {
	return 'listWithStats' in storage;
}

/** A file that was opened, read whole and closed. */
export interface SmallFile {
	/** The item that `open` would return. */
	item: StorageItem;
	/** Its whole content as of one moment, a part of the given memory. */
	bytes: Uint8Array;
}

/** An optional ability of a storage: to read small files of one folder together, for less than an `open` each. */
export interface SmallFilesStorage extends StorageProvider {
	/**
	 * The files of these names, in their order, one after another in `into`. Undefined for what has to be opened: a file
	 * that does not fit there, one that changes just now, one of which a disk has to be waited for, and what is no file,
	 * not there or may not be read. Throws as `list` does.
	 */
	readSmallFiles(
		folder: StoragePath,
		names: readonly string[],
		into: Buffer,
	): Promise<readonly (SmallFile | undefined)[]>;
}

/** Whether a storage has this ability. */
export function hasSmallFiles(storage: StorageProvider): storage is SmallFilesStorage {
	return 'readSmallFiles' in storage;
}

/** A further ability of a storage: to set the modified time of a folder, which each new name in it changes. */
export interface FolderTimesStorage extends StorageProvider {
	/** `mtime` is milliseconds since the epoch. Throws `notFound` for a file. */
	setFolderTime(folder: StoragePath, mtime: number): Promise<void>;
}

/** Whether a storage has this ability. */
export function hasFolderTimes(storage: StorageProvider): storage is FolderTimesStorage {
	return 'setFolderTime' in storage;
}

/** A further ability of a storage: to tell the time by the clock that its modified times are by, which may be another machine's. */
export interface ClockStorage extends StorageProvider {
	/** Milliseconds since the epoch. */
	currentTime(): Promise<number>;
}

/** Whether a storage has this ability. */
export function hasClock(storage: StorageProvider): storage is ClockStorage {
	return 'currentTime' in storage;
}

/** What programs beside this server may do with an item. */
export interface ItemAccess {
	/** The numbers of the user and the group that it belongs to. */
	owner: number;
	group: number;
	/** Permission bits, with setgid and the sticky bit for a folder. */
	mode: number;
	/** Access control lists as the storage has them; undefined for none. */
	acl?: Uint8Array;
	/** Only for a folder: the list that new items in it get. */
	defaultAcl?: Uint8Array;
}

export type AccessPart = 'owner' | 'group' | 'mode' | 'acl';

/** An optional ability of a storage: its items belong to users and groups of the system, and other programs use them by that. */
export interface AccessStorage extends StorageProvider {
	readAccess(path: StoragePath): Promise<ItemAccess>;
	/** Durable once it resolves. Parts that can't be kept here are left as they are: the owner always is. */
	writeAccess(path: StoragePath, access: ItemAccess): Promise<void>;
	/** Which parts an item would not have after `writeAccess`, tried with one that is not visible. */
	findLostAccess(type: 'file' | 'directory', access: ItemAccess): Promise<AccessPart[]>;
	/** Gives a folder that was made elsewhere the access of one that is made in `parent`; what is made in it from now on inherits that. */
	inheritAccess(folder: StoragePath, parent: StoragePath): Promise<void>;
}

/** Whether a storage has this ability. */
export function hasAccess(storage: StorageProvider): storage is AccessStorage {
	return 'readAccess' in storage;
}

/** Why the server can't use an item. */
export type UnusableReason =
	/**
	 * A file that may not be read, or a folder that may not be listed or entered; in an unwritable folder nothing may be made, renamed or
	 * removed.
	 */
	| { kind: 'unreadable' | 'unwritable'; owner: number; mode: number }
	/**
	 * No path can contain the name: its bytes are no UTF-8, it has characters that are refused, or it is too long. `freeName` is like it,
	 * valid, and not taken; undefined if none was found.
	 */
	| { kind: 'name'; fault: 'encoding' | 'characters' | 'length'; freeName: string | undefined }
	/** Neither file nor folder. */
	| { kind: 'link' | 'special' }
	/** The file system can't tell what it is, or what is in it. */
	| { kind: 'damaged' }
	/** A folder that lies so deep that nothing in it is listed. */
	| { kind: 'depth' };

/** An item that is left out or refused, although it is there. */
export interface UnusableItem {
	/** Where the system has it, as an absolute path without links on the way: not every name is UTF-8. */
	location: Uint8Array;
	type: 'file' | 'directory' | 'other';
	reason: UnusableReason;
}

/** A part of the items of a tree. */
export interface InspectedBatch {
	/** How many items were examined for it. */
	inspected: number;
	/** One item may be in it for several reasons. */
	unusable: UnusableItem[];
}

/** An optional ability of a storage: to find what other programs put into it in a way that the server can't use. */
export interface InspectableStorage extends StorageProvider {
	/**
	 * Walks a folder with all below it, and leads over no link. The name of a folder is reported after what is in it, so that the places
	 * found before are still right once it has been renamed. Throws `notFound` for a missing folder; one that may not be read is an
	 * unusable item.
	 */
	findUnusable(folder: StoragePath): AsyncIterable<InspectedBatch>;
}

/** Whether a storage has this ability. */
export function hasInspection(storage: StorageProvider): storage is InspectableStorage {
	return 'findUnusable' in storage;
}

/** An optional ability of a storage: to tell what it could not remove. */
export interface LeftoversStorage extends StorageProvider {
	/** The places, for people, of what was removed by that time (milliseconds since the epoch) and still takes room. */
	findLeftovers(until: number): Promise<string[]>;
}

/** Whether a storage has this ability. */
export function hasLeftovers(storage: StorageProvider): storage is LeftoversStorage {
	return 'findLeftovers' in storage;
}

/** An optional ability of a storage: to replace an existing file (`NamingOptions.onConflict`). */
export interface ReplacingStorage extends StorageProvider {
	/** Whether files at the path can be replaced: not every file system can. */
	canReplace(path: StoragePath): Promise<boolean>;
}

/** Whether a storage has this ability. */
export function hasReplace(storage: StorageProvider): storage is ReplacingStorage {
	return 'canReplace' in storage;
}

/** An optional ability of a storage: to find out whether several machines may change it at once. One that lacks it may be shared. */
export interface SharingStorage extends StorageProvider {
	/** Why they must not: a sentence for each reason. Throws `unavailable` while it can't be used at all. */
	sharingFaults(): Promise<string[]>;
}

/** Whether a storage has this ability. */
export function hasSharing(storage: StorageProvider): storage is SharingStorage {
	return 'sharingFaults' in storage;
}

/**
 * An optional ability of a storage: its files are plain files below one folder, and another program of this machine may read them there.
 */
export interface LocalFilesStorage extends StorageProvider {
	/** The place of an item, relative to that folder. */
	localPath(path: StoragePath): string;
}

/** Whether a storage has this ability. */
export function hasLocalFiles(storage: StorageProvider): storage is LocalFilesStorage {
	return 'localPath' in storage;
}

/**
 * An optional ability of a storage: folders of other places may be mounted within it, whose files must not go with what
 * is removed here.
 */
export interface MountAwareStorage extends StorageProvider {
	/** Throws `conflict` where something is mounted at the path or below it. So does `remove`, which then removes nothing. */
	assertUnmounted(path: StoragePath): Promise<void>;
}

/** The same of any storage; without this ability nothing is refused. */
export async function assertUnmounted(storage: StorageProvider, path: StoragePath): Promise<void> {
	if ('assertUnmounted' in storage) await (storage as MountAwareStorage).assertUnmounted(path);
}

/** A folder that is watched until it is closed. */
export interface Watch {
	/** No listener is called after this. May be called again. */
	close(): void;
}

/** Callbacks for a folder that is watched. */
export interface FolderListener {
	/** Rows of the folder have changed, or may have. */
	onChange(): void;
	/** The folder is no longer at its path, or can't be watched any longer. The last call. */
	onEnd(): void;
	/** The folder is not watched because the system allows no more watches. */
	onLimitReached?(): void;
}

/** An optional ability of a storage: to report changes as they happen, by any process. */
export interface WatchingStorage extends StorageProvider {
	/**
	 * Watches the rows of one folder; once it has resolved, no later change is missed. Throws `notFound`. Resolves to undefined where
	 * changes can't be reported as they happen (files on a network file system, a limit of the system is reached): then poll the folder.
	 */
	watch(path: StoragePath, listener: FolderListener): Promise<Watch | undefined>;
}

/** Whether a storage has this ability. */
export function hasWatch(storage: StorageProvider): storage is WatchingStorage {
	return 'watch' in storage && typeof storage.watch === 'function';
}
