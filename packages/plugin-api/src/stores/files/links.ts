import type { StoragePath } from '@stowage/rules';

/** A temporary link to an item of its owner's private area. */
export interface LinkRecord {
	id: string;
	owner: { id: string; username: string };
	/** Relative to the owner's home. */
	path: StoragePath;
	/** Where a move that has not been settled yet was to take the item. */
	nextPath: StoragePath | undefined;
	/** The storage's id of the item: another thing under the same name is not what the link leads to. */
	itemId: string;
	createdAt: number;
	expiresAt: number;
	/** It was found to be past its time; it stays so, whatever the clock says later. */
	isEnded: boolean;
	downloads: number;
}

/** Temporary links by the hash of their token: the token itself is never stored. */
export interface LinkStore {
	add(link: {
		tokenHash: string;
		ownerId: string;
		path: StoragePath;
		itemId: string;
		expiresAt: number;
	}): Promise<LinkRecord>;
	/** Nothing for an unknown one and for one whose owner is disabled. */
	find(tokenHash: string): Promise<LinkRecord | undefined>;
	/** Of one owner or of all, the newest first. */
	list(ownerId?: string): Promise<LinkRecord[]>;
	/** Saves, all or none, where items are and are about to go. */
	plan(moves: ReadonlyMap<string, { path: StoragePath; nextPath: StoragePath }>): Promise<void>;
	/** Saves, all or none, where items are now; nothing is planned for them any more. */
	settle(places: ReadonlyMap<string, StoragePath>): Promise<void>;
	/** Settles a plan that was found to be done, unless another has been made since. */
	adopt(id: string, nextPath: StoragePath): Promise<void>;
	countDownload(id: string): Promise<void>;
	/** Binds it to another item, unless it was bound or moved since; resolves to whether it was. */
	rebind(id: string, seenItemId: string, itemId: string): Promise<boolean>;
	/** Marks it as past its time. */
	end(id: string): Promise<void>;
	/** Removes those that there are, only one owner's where one is named; resolves to how many. */
	remove(ids: readonly string[], ownerId?: string): Promise<number>;
	/** Removes those that expired before the time; resolves to how many. */
	sweep(expiredBefore: number): Promise<number>;
}
