import type { StoragePath } from '@stowage/rules';

/**
 * `moving`: on its way into the trash, and `leaving`: on its way out of it, so it is there or at its path. `kept`: there. `purging`: gone
 * for everybody, and only its space is not free yet.
 */
export type TrashState = 'moving' | 'leaving' | 'kept' | 'purging';

/** Bytes and items, with all that a folder contains. */
export interface TrashSize {
	bytes: number;
	entries: number;
}

/** What every item in the trash has. Times are milliseconds since the epoch. */
interface KeptItem {
	/** 32 hexadecimal digits; also its name in the trash of its root. */
	id: string;
	/** The user in whose home it was; their name then, which a lost user is known by. */
	ownerId: string;
	ownerName: string;
	/** The root whose trash it is in. */
	rootId: string;
	/** Relative to the home. */
	path: StoragePath;
	deletedAt: number;
	/** The name of the user who deleted it. */
	deletedBy: string;
	state: TrashState;
}

/** A file or folder that was deleted; `path` is where it was. */
export interface TrashedItem extends KeptItem {
	kind: 'item';
	type: 'file' | 'directory';
	/** Undefined until a folder was measured. */
	size: TrashSize | undefined;
}

/**
 * A former content of a file that is there; `path` is where that file is, also after it was moved. `deletedAt` is when
 * it was replaced.
 */
export interface FileVersion extends KeptItem {
	kind: 'version';
	type: 'file';
	size: TrashSize;
	mtime: number;
	/** The identity of the file that it is a version of. Until it is `kept`, it may still be its own. */
	versionOf: string;
	/** The identity that it had itself when it was the file. */
	replacedId: string;
	/** The id of the member of a folder who is known to have written it. Left out, it counts as the owner's, and no member ends it. */
	writtenBy?: string;
	/** The item that replaced it, with its content, where a member is known to have written that: what `writerOf` finds. */
	next?: { item: string; writtenBy: string };
}

export type TrashRecord = TrashedItem | FileVersion;

type TrashKind = TrashRecord['kind'];

/** Chooses items: all that fit each given property. */
export interface TrashSelection {
	ids?: readonly string[];
	ownerId?: string;
	rootId?: string;
	/** Deleted at that time or before. */
	deletedUntil?: number;
	/** Only those without a size. */
	isUnmeasured?: true;
	/** Left out for both kinds. */
	kind?: TrashKind;
}

/** How many items there are, and the bytes of all their paths: a path may have 64 kB, and a database has it several times. */
export interface TrashCount {
	items: number;
	pathBytes: number;
}

/** A count of what a user has. */
export interface OwnersTrashCount extends TrashCount {
	/** How much of it others have put there, the members of the user's folders, by the name of each. */
	ofOthers: ReadonlyMap<string, TrashCount>;
}

export interface TrashTotals extends TrashSize {
	/** How many of the items are not measured. */
	unmeasured: number;
}

/** What is in the trash. The disk has the items; a row is there before its item arrives and until it has left. */
export interface TrashStore {
	add(record: TrashRecord): Promise<void>;
	/** Adds those whose ids are not known. */
	addMissing(records: readonly TrashRecord[]): Promise<void>;
	/** The record with this id, whatever its state is. */
	get(id: string): Promise<TrashRecord | undefined>;
	/**
	 * Up to `limit` records that are not `purging`, by the time of their deletion, from the one that follows `after`; only those whose paths
	 * have more bytes than `pathBytesOver`, where that is given; of those that their owners have put there themselves, or that others have,
	 * where `deletedBy` says so.
	 */
	list<Kind extends TrashKind = TrashKind>(
		options: {
			order: 'newest' | 'oldest';
			limit: number;
			after?: Pick<TrashRecord, 'deletedAt' | 'id'> | undefined;
			kind?: Kind;
			pathBytesOver?: number;
			deletedBy?: 'owner' | 'others' | undefined;
		} & TrashSelection,
	): Promise<Extract<TrashRecord, { kind: Kind }>[]>;
	/** Which of these there are, whatever their state is. */
	known(ids: readonly string[]): Promise<string[]>;
	/** How many of a kind a user has that are not `purging`. */
	count(ownerId: string, kind: TrashKind): Promise<OwnersTrashCount>;
	/** The sums of those that are not `purging`. */
	totals(selection: TrashSelection): Promise<TrashTotals>;
	/** The records that have been in this state the longest, entered by `until` (any time by default), after the first `skip` of them. */
	inState(
		state: 'moving' | 'leaving' | 'purging',
		options: { limit: number; until?: number | undefined; skip?: number | undefined },
	): Promise<TrashRecord[]>;
	/**
	 * Sets the state `kept` for those that were in the state `from`, except versions that still belong to themselves. Resolves to how many.
	 * What has begun to leave meanwhile is not taken for kept by who records that it has arrived.
	 */
	settle(ids: readonly string[], from: 'moving' | 'leaving'): Promise<number>;
	/** Sets the state `leaving`, unless it is `purging` or there is no such record: then it resolves to false. */
	beginLeaving(id: string): Promise<boolean>;
	/**
	 * Sets the state `purging`, of a few at a time. Resolves to how many were not in it before. Versions are found without their paths: with
	 * `forgetsPaths` these take no room any more, however long it is until the rows are removed.
	 */
	beginPurging(
		selection: TrashSelection & { ids: readonly string[] },
		options?: { forgetsPaths?: boolean },
	): Promise<number>;
	/** Records that it is a file or a folder. Does nothing where there is no such record. */
	setType(id: string, type: TrashedItem['type']): Promise<void>;
	/** Saves sizes by the ids of the records. */
	setSizes(sizes: ReadonlyMap<string, TrashSize>): Promise<void>;
	/** Records that it is in the trash of another root now. Resolves to false where there is no such record, in any state. */
	setRoot(id: string, rootId: string): Promise<boolean>;
	remove(ids: readonly string[]): Promise<void>;
}
