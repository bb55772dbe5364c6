import type { Area, Entry, Owner, StoragePath, Viewer } from '@stowage/rules';
import type { Watch } from '../storage/abilities.js';
import type { CopyOptions, LocalFile, OpenFile, StagedFile, StorageItem } from '../storage/storage.js';

/** A thing in an area. `owner` names the public tree; left out, a read looks through the visible trees and a write means the viewer's own. */
export interface ItemRef {
	area: Area;
	path: StoragePath;
	owner?: Owner;
}

/** What a search found. */
export interface FoundListing {
	entries: Entry[];
	/** Only a search that found more than it may answer. */
	truncated?: true;
	/** Whose public trees could not be looked at, since the disk that they lie on is away. */
	missing?: Owner[];
}

/** A file or folder as it is right now, with the `id` and `version` of its content. */
export interface WalkedItem extends StorageItem {
	/** Relative to the area's root. */
	path: StoragePath;
	/** In the public area: whose tree it lies in. */
	owner?: Owner;
}

/** A batch of what a folder holds. */
export interface WalkBatch {
	items: WalkedItem[];
	/** How many things were left out because nobody can be given them: special files, what may not be read. */
	leftOut: number;
}

/** A file that is about to be published under a name in a folder. */
export interface PublishRequest {
	staged: StagedFile;
	/** The wished name; the one in the answer may carry ` (n)`. */
	name: string;
	/** Milliseconds since the epoch. */
	mtime?: number;
}

/** For files whose ids others know, who may take them from staging or find what they became. */
export interface PublishOptions {
	/** Asked once this file could not be published: `false` leaves everything as it is, staged or published. Then `publish` throws all the same. */
	mayUndo(refused: PublishRequest): Promise<boolean>;
}

/** A staged file that a program of its own writes, wherever in it it likes. */
export interface LentFile extends LocalFile {
	/** What it may grow to, as far as is known now: a limit that the system can hold the program to. Infinity where the storage can't tell. */
	readonly mostBytes: number;
	/** Fires once it may not grow any more; its reason is a Failure. The program has to end then. */
	readonly full: AbortSignal;
}

/** How a copy is followed, ended and gone on with. */
export type FileCopyOptions = Pick<CopyOptions, 'signal' | 'beforeItem' | 'afterBytes' | 'staged'>;

/**
 * Files as a viewer may see and change them. Whatever touches files goes through here, so nobody can forget a permission: each call refuses with a Failure what the rules do not allow.
 */
export interface Files {
	/**
	 * The rows of a folder in batches as they are found, in no order. What is refused is thrown before the first batch. `onMissing` is called for each owner whose public tree
	 * can't be shown, since its disk is away, as long as there is another tree to show.
	 */
	list(viewer: Viewer, folder: ItemRef, onMissing?: (owner: Owner) => void): AsyncIterable<Entry[]>;
	/** Everything below the folder whose name holds the term, without regard to case. */
	search(viewer: Viewer, folder: ItemRef, term: string, signal?: AbortSignal): Promise<FoundListing>;
	/**
	 * Calls `onChange` each time the listing of the folder may have changed, whoever changed it, and at once if that was a moment ago. Also when the folder goes
	 * away or comes back: the caller lists again. Throws as `list` does.
	 */
	watch(viewer: Viewer, folder: ItemRef, onChange: () => void): Promise<Watch>;
	/** What `ref` names. A public item may be read by anyone who names its owner. */
	find(viewer: Viewer, ref: ItemRef): Promise<Entry>;
	/** Opens a file for reading; the caller closes it. Throws `notFound` for a folder. */
	open(viewer: Viewer, ref: ItemRef): Promise<{ entry: Entry; file: OpenFile }>;
	/** Looks at several items of an area, one after another in their order. Throws `notFound` at one that is not there, and for a root, which is no item. */
	stat(
		viewer: Viewer,
		area: Area,
		items: Iterable<Omit<ItemRef, 'area'>>,
		signal?: AbortSignal,
	): AsyncIterable<WalkedItem>;
	/**
	 * Everything directly in a folder, looked at and in no order; nothing for one that is gone. To walk through a tree is to ask for one folder after another.
	 * In the public area it takes the owner.
	 */
	survey(viewer: Viewer, folder: ItemRef): AsyncIterable<WalkBatch>;
	createFolder(viewer: Viewer, folder: ItemRef, name: string): Promise<Entry>;
	rename(viewer: Viewer, item: ItemRef, newName: string): Promise<Entry>;
	/** Moves to a whole new path in the same area, with the parents it lacks; a taken name gets ` (n)`. */
	move(viewer: Viewer, item: ItemRef, toPath: StoragePath): Promise<Entry>;
	/**
	 * Copies to a whole new path, with the parents it lacks; a taken name gets ` (n)`. Throws `storageFull` once it would take from the space that stays free. A staged copy is
	 * asked for with all that was copied before, and refused like a new one.
	 */
	copy(viewer: Viewer, item: ItemRef, to: ItemRef, options?: FileCopyOptions): Promise<Entry>;
	/** Drops what a staged copy holds so far. Nothing happens to one that was published or discarded before. */
	discardCopy(id: string): Promise<void>;
	/** Removes a file, or a folder with all it holds. */
	remove(viewer: Viewer, item: ItemRef): Promise<void>;
	/**
	 * Begins a file that the viewer will publish, on the disk of their files, or finds one again by the id it had. Nothing is visible, and nobody is asked for a permission, before `publish`. Its bytes end with
	 * `storageFull` where they would take from the space that stays free.
	 */
	stage(viewer: Viewer, id?: string): Promise<StagedFile>;
	/**
	 * Lends a staged file to a program of its own until `use` has settled; where a storage has no such files, a temporary one whose bytes are staged after that. It
	 * is looked at while it grows, and throws `storageFull` as an upload does once it would take from the space that stays free, or pass the viewer's quota.
	 */
	lend<T>(viewer: Viewer, staged: StagedFile, use: (file: LentFile) => Promise<T>): Promise<T>;
	/** Refuses a place as `publish` would, before any byte arrives. */
	assertUpload(viewer: Viewer, folder: ItemRef): Promise<void>;
	/** Publishes all or none; a taken name gets ` (n)`. Discards what it could not publish. */
	publish(
		viewer: Viewer,
		folder: ItemRef,
		requests: readonly PublishRequest[],
		options?: PublishOptions,
	): Promise<Entry[]>;
	/**
	 * Publishes one file, however often it is asked: what an earlier call published, though it did not live to answer, is found under whichever name it got.
	 * Discards nothing when it fails. Throws `notFound` if the folder is gone, or the file with what was published of it.
	 */
	publishOnce(viewer: Viewer, folder: ItemRef, request: PublishRequest): Promise<Entry>;
	/** The entry that a staged file with this wish became in the folder; nothing if it became none, or lies there under that name no more. */
	findPublished(viewer: Viewer, folder: ItemRef, stagedId: string, name: string): Promise<Entry | undefined>;
}
