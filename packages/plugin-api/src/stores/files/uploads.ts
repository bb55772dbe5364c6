import type { Area, StoragePath } from '@stowage/rules';
import type { OnConflict } from '../../services/files.js';

/** An upload over several requests. Times are milliseconds since the epoch. */
export interface UploadRecord {
	/** The staged file; null once it was published or removed. */
	stagedId: string | null;
	/** Its owner; null for a visitor's, which belongs to any client with its id. */
	userId: string | null;
	/** Whose quota it counts in, if that is another user than its owner. */
	payerId?: string;
	/** The shared folder that it goes to, which may have another name by now than the directory begins with. */
	folderId?: string;
	/** The client that limits are counted for. */
	address: string;
	area: Area;
	directory: StoragePath;
	/** The wished name. */
	name: string;
	/** The modified time that the file shall get. */
	mtime: number | null;
	onConflict: OnConflict;
	/** The client's metadata, verbatim. */
	metadata: string;
	/** The size of the whole file in bytes. */
	length: number;
	/** Bytes that survive a power cut. */
	offset: number;
	/** Where the file is, once it is in its place. */
	entryPath: string | null;
	/** The item and version that it has become; null before that, and for one that an older version finished. */
	itemId: string | null;
	/**
	 * Only for an upload that a guest of a share sends to its owner, with a directory relative to the share's folder:
	 * the client, and whether its sender has begun to take it back.
	 */
	received: { share: string; client: string; isTakenBack?: true } | null;
	/** Null for an upload that an older version began. */
	startedAt: number | null;
	/** When its last bytes arrived. */
	touchedAt: number;
	expiresAt: number;
}

/** Uploads by the hash of their id: the id itself is never stored. */
export interface UploadStore {
	/**
	 * Throws `alreadyExists` for a known id, also when two are added at once. A visitor's with a number `maxPerAddress` is refused
	 * (`rateLimited`) if visitors of its address have that many that are not finished, also when many begin at once in several processes.
	 * One that a share receives is refused (`tooLarge`) if the share would receive more than it may.
	 */
	add(idHash: string, upload: UploadRecord, maxPerAddress?: number): Promise<void>;
	find(idHash: string): Promise<UploadRecord | undefined>;
	/** The unfinished uploads of a user, the most recently written first. */
	listUnfinished(userId: string): Promise<UploadRecord[]>;
	/** The unfinished uploads of all users, the most recently written first, each with the hash of its id. */
	listAllUnfinished(): Promise<(UploadRecord & { idHash: string })[]>;
	/**
	 * Saves the number of durable bytes. Resolves to whether it still has this staged file; if not, nothing has changed: another process
	 * continued with another one, or has ended it.
	 */
	saveProgress(
		idHash: string,
		stagedId: string,
		progress: Pick<UploadRecord, 'offset' | 'touchedAt' | 'expiresAt'>,
	): Promise<boolean>;
	/**
	 * Marks it as finished: the file is published completely, as this item. One that a share has received is counted by it. Where its user
	 * has finished a thousand more, the oldest of them are forgotten.
	 * Resolves as `saveProgress` does.
	 */
	finish(idHash: string, stagedId: string, entryPath: string, itemId: string): Promise<boolean>;
	/**
	 * Takes the room of one that a share receives, which goes on at that time: it may have been left to others. Does
	 * nothing for any other one. Throws `tooLarge` where the share may not receive that much any more.
	 */
	claim(idHash: string, touchedAt: number): Promise<void>;
	/** Records that the sender of a received file takes it back, before it is removed: what is left of it then is no other file. */
	beginTakeBack(idHash: string): Promise<void>;
	/** Records that the file was not removed after all. */
	cancelTakeBack(idHash: string): Promise<void>;
	/** Forgets a finished one that a share has received and its sender has taken back: the share does not count it any more. */
	takeBack(idHash: string): Promise<void>;
	/** Replaces its staged file. Resolves as `saveProgress` does. */
	restage(idHash: string, stagedId: string, otherStagedId: string): Promise<boolean>;
	/** Resolves to whether it was there: of several calls at once one removes it. */
	remove(idHash: string): Promise<boolean>;
	/** How many uploads a user has begun and not finished, but for those that shares of theirs receive. */
	countUserUploads(userId: string): Promise<number>;
	/** How many uploads visitors of an address have begun and not finished. */
	countVisitorUploads(address: string, now: number): Promise<number>;
	/**
	 * The bytes and the number of the unfinished uploads that count for a user, or for visitors, except those with one
	 * of these staged files. One into a shared folder counts for its owner as long as its sender may change the folder,
	 * and for the sender after that.
	 */
	unfinishedTotals(userId: string | null, except: readonly string[]): Promise<{ bytes: number; entries: number }>;
	/** Expired uploads whose staged file still exists, the oldest first, after the first `skip` of them. */
	listExpired(now: number, limit: number, skip?: number): Promise<{ idHash: string; stagedId: string }[]>;
	/** Lets an upload expire no sooner than that. */
	extendExpiry(idHash: string, expiresAt: number): Promise<void>;
	/** Clears the staged file, which was removed. The upload still exists as an expired one. */
	clearStaged(idHash: string): Promise<void>;
	/** The number of uploads with a staged file whose id has this prefix. */
	countStaged(prefix: string): Promise<number>;
	/** Whether an upload has this staged file. */
	isStaged(stagedId: string): Promise<boolean>;
	/** Forgets all that expired by then, and the oldest of more ended ones than are kept of all. Resolves to how many. */
	forget(before: number): Promise<number>;
}
