import type { StoragePath } from '@stowage/rules';

/**
 * `moving`: on its way into the trash or out of it, so it is there or at its path. `kept`: there. `purging`: gone for everybody, and only its space is not free
 * yet.
 */
export type TrashState = 'moving' | 'kept' | 'purging';

/** Bytes and items, with all that a folder contains. */
export interface TrashSize {
	bytes: number;
	entries: number;
}

/** An item in the trash. Times are milliseconds since the epoch. */
export interface TrashRecord {
	/** 32 hexadecimal digits; also its name in the trash of its root. */
	id: string;
	/** The user in whose home it was; their name then, which a lost user is known by. */
	ownerId: string;
	ownerName: string;
	/** The root whose trash it is in. */
	rootId: string;
	/** Where it was, relative to the home. */
	path: StoragePath;
	type: 'file' | 'directory';
	/** Undefined until a folder was measured. */
	size: TrashSize | undefined;
	deletedAt: number;
	/** The name of the user who deleted it. */
	deletedBy: string;
	state: TrashState;
}

/** Chooses items: all that fit each given property. */
export interface TrashSelection {
	ids?: readonly string[];
	ownerId?: string;
	rootId?: string;
	/** Deleted at that time or before. */
	deletedUntil?: number;
	/** Only those without a size. */
	isUnmeasured?: true;
}

export interface TrashTotals extends TrashSize {
	/** How many of the items are not measured. */
	unmeasured: number;
}

/** What is in the trash. The disk has the items; a row is there before its item arrives and until it has left. */
export interface TrashStore {
	add(record: TrashRecord): Promise<void>;
	/** Whatever its state is. */
	get(id: string): Promise<TrashRecord | undefined>;
	/** Those that are not `purging`, by the time of their deletion, from the one that follows `after`. */
	list(
		options: {
			order: 'newest' | 'oldest';
			limit: number;
			after?: Pick<TrashRecord, 'deletedAt' | 'id'> | undefined;
		} & TrashSelection,
	): Promise<TrashRecord[]>;
	/** Which of these there are, whatever their state is. */
	known(ids: readonly string[]): Promise<string[]>;
	/** How many a user has that are not `purging`. */
	count(ownerId: string): Promise<number>;
	/** The sums of those that are not `purging`. */
	totals(selection: TrashSelection): Promise<TrashTotals>;
	/** Those that have been in this state the longest, entered by `until` (any time by default), after the first `skip` of them. */
	inState(
		state: 'moving' | 'purging',
		options: { limit: number; until?: number | undefined; skip?: number | undefined },
	): Promise<TrashRecord[]>;
	/** `kept` for those that were `moving`. Resolves to how many. */
	settle(ids: readonly string[]): Promise<number>;
	/** `moving`, unless it is `purging` or there is none: then it resolves to false. */
	beginMoving(id: string): Promise<boolean>;
	/** `purging`. Resolves to how many were not before. */
	beginPurging(selection: TrashSelection): Promise<number>;
	setSize(id: string, size: TrashSize): Promise<void>;
	/** It is in the trash of another root now. */
	setRoot(id: string, rootId: string): Promise<void>;
	remove(ids: readonly string[]): Promise<void>;
}
