import type { Area, Entry, Owner, SearchQuery, StoragePath, Viewer } from '@stowage/rules';
import type { Turn } from '../limits/Yielder.js';
import type { SmallFile, StatsBatch, Watch } from '../storage/abilities.js';
import type { CopyOptions, LocalFile, OpenFile, StagedFile, StorageItem } from '../storage/storage.js';

/** An item in an area. `owner` names the public tree; without it a read searches the visible trees and a write means the viewer's own. */
export interface ItemRef {
	area: Area;
	path: StoragePath;
	owner?: Owner;
	/** In the area of shared folders: the id of the one that the path must be in. Another one that has got its name is not found. */
	folderId?: string;
}

/** The result of a search. */
export interface FoundListing {
	entries: Entry[];
	/** When the index that was asked was current; null where the disk was read. Milliseconds since the epoch. */
	indexedAt: number | null;
	/** Only a search that found more than it may answer. */
	truncated?: true;
	/** Owners whose public trees could not be read, since their disk is not available. */
	missing?: Owner[];
}

/** A file or folder as it is right now, with the `id` and `version` of its content. */
export interface WalkedItem extends StorageItem {
	/** Relative to the area's root. */
	path: StoragePath;
	/** In the public area: the owner of the tree. */
	owner?: Owner;
	/** In the area of shared folders: the id of the one that it is in. */
	folderId?: string;
}

/** A batch of a folder's items. */
export interface WalkBatch {
	items: WalkedItem[];
	/** How many items were left out since they can't be served: special files, and unreadable ones. */
	skipped: number;
}

/**
 * What happens where an item's name is taken. `rename`: it gets ` (n)`. `fail`: `alreadyExists`. `replace`: it replaces
 * the file in one step, never a folder (`alreadyExists`), and with `ifMatch` only a version that matches: an ETag of a
 * download, several by comma, or `*`; throws `preconditionFailed` for another one and where no file has the name.
 */
export type OnConflict = { kind: 'rename' } | { kind: 'fail' } | { kind: 'replace'; ifMatch?: string };

/** How an item gets its name. */
export interface ConflictOptions {
	/** @default rename */
	onConflict?: OnConflict | undefined;
	/** Called once it has replaced a file, as that was. */
	onReplaced?: ((replaced: StorageItem) => void) | undefined;
}

/** A file that is about to be published under a name in a folder. */
export interface PublishRequest extends ConflictOptions {
	staged: StagedFile;
	/** The wished name; the one in the result may have ` (n)` unless `onConflict` says otherwise. */
	name: string;
	/** Milliseconds since the epoch. */
	mtime?: number;
}

/** Options for files whose ids are recorded elsewhere, so that they can be removed from staging or found once published. */
export interface PublishOptions {
	/**
	 * Called when this file could not be published: `false` leaves everything as it is, staged or published. `publish` throws in any case.
	 */
	mayRollBack(refused: PublishRequest): Promise<boolean>;
}

/** A staged file that a program of its own writes, wherever in it it likes. */
export interface DescriptorFile extends LocalFile {
	/**
	 * The size that it may grow to, as far as is known now: a limit that the system can enforce on the program. Infinity if the storage
	 * does not know its space.
	 */
	readonly maxBytes: number;
	/** Fires once it may not grow any more; its reason is a Failure. The program has to end then. */
	readonly full: AbortSignal;
}

/** An item that has left its path: whoever goes on using that no longer changes it. */
export interface TakenItem {
	/** As it was at its path, unless it was changed just before it left that: then with another version. */
	item: StorageItem;
	/** The contents of the folder that it is, or of one in it, by the path relative to it. Throws as a listing does. */
	list(folder: StoragePath): AsyncIterable<StatsBatch>;
}

export interface RemoveOptions {
	/** Pass the trash by. False is refused where there is no trash; left out, the item is removed for good there. */
	isForGood?: boolean | undefined;
	/**
	 * Asked once the item has left its path, before it is removed for good: whether it is what was to be removed. If not, or if this
	 * throws, it is put back; `remove` then throws `preconditionFailed`, or what this has thrown. Of a process that ends meanwhile it is
	 * in the trash.
	 */
	isMeant?: ((taken: TakenItem) => Promise<boolean>) | undefined;
}

export interface FileMoveOptions extends ConflictOptions {
	/** In the area of shared folders: the id of the one that the new path is in. */
	toFolderId?: string | undefined;
}

/** Progress, cancellation and continuation of a copy. */
export type FileCopyOptions = Pick<CopyOptions, 'signal' | 'beforeItem' | 'afterBytes' | 'beforeNaming' | 'staged'> &
	ConflictOptions;

/**
 * Files as a viewer may see and change them. All access to files goes through here, so no permission check can be forgotten: each call
 * throws a Failure for anything that the rules do not allow.
 */
export interface Files {
	/**
	 * The rows of a folder in batches as they are found, in no order. Refusals are thrown before the first batch. `onMissing` is called for
	 * each owner whose public tree can't be shown, since its disk is away, as long as there is another tree to show.
	 */
	list(viewer: Viewer, folder: ItemRef, onMissing?: (owner: Owner) => void): AsyncIterable<Entry[]>;
	/** Everything below the folder that matches; of more than 1,000 the best, best first. It passes its turn where it has one. */
	search(viewer: Viewer, folder: ItemRef, query: SearchQuery, signal?: AbortSignal, turn?: Turn): Promise<FoundListing>;
	/**
	 * Calls `onChange` each time the listing of the folder may have changed, by any process, and at once if that was a moment ago. Also
	 * when the folder is removed or created again: the caller lists again. `onEnd` is called once the folder is not shared with the viewer
	 * any more. Throws as `list` does.
	 */
	watch(viewer: Viewer, folder: ItemRef, onChange: () => void, onEnd?: () => void): Promise<Watch>;
	/**
	 * The item by the path that it has now: a shared folder is found by its id, whatever its owner calls it by now. Any other one as it is.
	 * Throws `notFound` for a folder that is not shared with the viewer any more.
	 */
	locate(viewer: Viewer, ref: ItemRef): Promise<ItemRef>;
	/** The item of `ref`. A public item may be read by anyone who names its owner. */
	find(viewer: Viewer, ref: ItemRef): Promise<Entry>;
	/** Opens a file for reading; the caller closes it. Throws `notFound` for a folder. */
	open(viewer: Viewer, ref: ItemRef): Promise<{ entry: Entry; file: OpenFile }>;
	/**
	 * The files of these names in a folder, in their order, as far as the storage can read them together: undefined for
	 * each that has to be opened (`SmallFilesStorage`).
	 */
	readSmallFiles(
		viewer: Viewer,
		folder: ItemRef,
		names: readonly string[],
		into: Buffer,
	): Promise<readonly (SmallFile | undefined)[]>;
	/**
	 * Stats several items of an area, one after another in their order. Throws `notFound` at a missing one, and for a root, which is no
	 * item.
	 */
	stat(
		viewer: Viewer,
		area: Area,
		items: Iterable<Omit<ItemRef, 'area'>>,
		signal?: AbortSignal,
	): AsyncIterable<WalkedItem>;
	/**
	 * The direct contents of a folder with a stat of each, in no order; empty for a folder that was removed. A tree is walked folder by
	 * folder. In the public area it takes the owner.
	 */
	listWithStats(viewer: Viewer, folder: ItemRef): AsyncIterable<WalkBatch>;
	/** Creates an empty file. Throws `alreadyExists` for a taken name. */
	createFile(viewer: Viewer, folder: ItemRef, name: string): Promise<Entry>;
	createFolder(viewer: Viewer, folder: ItemRef, name: string): Promise<Entry>;
	rename(viewer: Viewer, item: ItemRef, newName: string): Promise<Entry>;
	/** Moves to a full new path in the same area, with its missing parents. */
	move(viewer: Viewer, item: ItemRef, toPath: StoragePath, options?: FileMoveOptions): Promise<Entry>;
	/**
	 * Copies to a full new path, with its missing parents. Throws `storageFull` once it would use the reserve. A
	 * staged copy is counted with all that was copied before, and refused like a new one.
	 */
	copy(viewer: Viewer, item: ItemRef, to: ItemRef, options?: FileCopyOptions): Promise<Entry>;
	/** Removes an unfinished staged copy. Does nothing for one that was published or discarded before. */
	discardCopy(id: string): Promise<void>;
	/**
	 * Puts a file, or a folder with its contents, into the trash, and resolves to its id there. It is removed for good
	 * where there is no trash: then without an id.
	 */
	remove(viewer: Viewer, item: ItemRef, options?: RemoveOptions): Promise<{ trashId?: string }>;
	/** Refuses what `remove` would refuse to put into the trash. */
	assertRemovable(viewer: Viewer, item: ItemRef): Promise<void>;
	/**
	 * Begins a file that the viewer will publish, on the disk of their files, or finds one by its id. It is invisible, and permissions are
	 * not checked, before `publish`. Its bytes end with `storageFull` where they would take from the space that stays free. One for a
	 * shared folder is named with that: it is begun on the disk of the folder's owner, and refused who may not change the folder.
	 */
	stage(viewer: Viewer, id?: string, folder?: ItemRef): Promise<StagedFile>;
	/**
	 * Lends a staged file to a program of its own until `use` has settled; if a storage has no such files, a temporary one whose bytes are
	 * staged after that. It is checked while it grows, and throws `storageFull` as an upload into the folder does once it would use the
	 * reserved space, or exceed the quota of the viewer, in a shared folder of its owner.
	 */
	withDescriptor<T>(
		viewer: Viewer,
		target: { staged: StagedFile; folder: ItemRef },
		use: (file: DescriptorFile) => Promise<T>,
	): Promise<T>;
	/** Refuses a folder, and a file in it, as `publish` would, before any byte arrives. */
	assertUpload(viewer: Viewer, folder: ItemRef, file?: Pick<PublishRequest, 'name' | 'onConflict'>): Promise<void>;
	/** Publishes all or none. Discards the files that it could not publish. */
	publish(
		viewer: Viewer,
		folder: ItemRef,
		requests: readonly PublishRequest[],
		options?: PublishOptions,
	): Promise<Entry[]>;
	/**
	 * Publishes one file, however often it is asked: a file that an interrupted call has published is found under the name that it got.
	 * Discards nothing when it fails. Throws `notFound` if the folder is gone, or the file and its published entry.
	 */
	publishOnce(viewer: Viewer, folder: ItemRef, request: PublishRequest): Promise<Entry>;
	/**
	 * The entry of a published staged file with this wished name in the folder; undefined if it was not published, or has been moved or
	 * removed since.
	 */
	findPublished(viewer: Viewer, folder: ItemRef, stagedId: string, name: string): Promise<Entry | undefined>;
}
