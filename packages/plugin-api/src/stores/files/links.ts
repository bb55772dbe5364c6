import type { StoragePath } from '@stowage/rules';

/** What an address leads to: an item of its owner's private area, wherever the owner moves it. */
export interface BoundItem {
	id: string;
	owner: { id: string; username: string };
	/** Relative to the owner's home. */
	path: StoragePath;
	/** The target of a move whose end has not been recorded yet. */
	nextPath: StoragePath | undefined;
	/** The storage's id of the item: the address does not lead to another item of the same name. */
	itemId: string;
}

/**
 * A temporary link to an item; or an item of a share or a folder with members, which has no token of its own and never
 * expires by itself.
 */
export interface LinkRecord extends BoundItem {
	createdAt: number;
	expiresAt: number;
	/** Whether it was found to have expired; it stays expired, whatever the clock says later. */
	isEnded: boolean;
	downloads: number;
}

/** A link's place in the order of a list, the newest first. */
export type LinkPosition = Pick<LinkRecord, 'createdAt' | 'id'>;

/**
 * Temporary links by the hash of their token: the token itself is never stored. What follows items when they are moved, replaced and
 * removed (`hasAny`, `eachWithin`, `pathBytes`, `get`, `planMoves`, `setPaths`, `completeMove`, `rebind`, `remove`) is for items of
 * shares and for folders with members as well.
 */
export interface LinkStore {
	/**
	 * Throws `rateLimited` if the owner has `most` links that have not expired, and `notFound` for an unknown owner. All of an owner are
	 * never more than that: those that expired first give way.
	 */
	add(
		link: {
			tokenHash: string;
			ownerId: string;
			path: StoragePath;
			itemId: string;
			expiresAt: number;
		},
		limit: number,
	): Promise<LinkRecord>;
	/** The link of a token; undefined for an unknown one and for one whose owner is disabled. */
	find(tokenHash: string): Promise<LinkRecord | undefined>;
	/**
	 * Up to `limit` links of one owner or of all, the newest first, from the one that follows `after`; with `withShares`
	 * also the items of shares and folders with members.
	 */
	page(options: { limit: number; ownerId?: string; after?: LinkPosition; withShares?: boolean }): Promise<LinkRecord[]>;
	hasAny(ownerId: string): Promise<boolean>;
	/** Calls `use`, one call after the other, with the owner's links whose path or planned path is this one or below it. */
	eachWithin(ownerId: string, path: StoragePath, use: (some: LinkRecord[]) => Promise<void>): Promise<void>;
	/** The bytes of the paths of all that the owner has, without planned ones. */
	pathBytes(ownerId: string): Promise<number>;
	/** The links with these ids that exist. */
	get(ids: readonly string[]): Promise<LinkRecord[]>;
	/** Saves where items are and are about to go; of many some only if it fails. */
	planMoves(moves: ReadonlyMap<string, { path: StoragePath; nextPath: StoragePath }>): Promise<void>;
	/** Saves where items are now, of many some only if it fails; nothing is planned for them any more. */
	setPaths(places: ReadonlyMap<string, StoragePath>): Promise<void>;
	/** Records that a planned move was done, unless another one has been planned since. */
	completeMove(id: string, nextPath: StoragePath): Promise<void>;
	countDownload(id: string): Promise<void>;
	/**
	 * Binds it to another item if it still has the expected one and is not being moved; resolves to whether it was bound. With the path
	 * at which the other item is, also where a move from there or to there is planned: that has ended, and its place is settled.
	 */
	rebind(id: string, expectedItemId: string, itemId: string, path?: StoragePath): Promise<boolean>;
	/** Marks it as expired. */
	end(id: string): Promise<void>;
	/** Removes the existing ones among them, only one owner's if an owner is given; resolves to how many. */
	remove(ids: readonly string[], ownerId?: string): Promise<number>;
	/** Removes those that expired before the time; resolves to how many. */
	sweep(expiredBefore: number): Promise<number>;
}
