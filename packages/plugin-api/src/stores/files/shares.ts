import type { ShareMode, StoragePath } from '@stowage/rules';
import type { BoundItem } from './links.js';

/** What the owner of a share chooses, and may change. */
export interface ShareSettings {
	title: string;
	message: string;
	/** Null is never. Milliseconds since the epoch, as all times. */
	expiresAt: number | null;
	/** What the way of signing in keeps of the password; null is none. */
	passwordSecret: string | null;
	/** Null is no limit, of both. */
	maxDownloads: number | null;
	maxUploadBytes: number | null;
	isPaused: boolean;
}

export interface SharedItemRecord extends BoundItem {
	type: 'file' | 'directory';
}

/** A page for chosen items of its owner's private area. */
export interface ShareRecord extends ShareSettings {
	id: string;
	owner: { id: string; username: string };
	/** Encrypted: a copy of the database opens no share. */
	sealedToken: string;
	mode: ShareMode;
	/** Whether who sends files says their name. */
	asksName: boolean;
	createdAt: number;
	/** Whether it was found to have expired; it stays expired, whatever the clock says later, until it gets another end. */
	isEnded: boolean;
	downloads: number;
	bytesSent: number;
	uploads: number;
	bytesReceived: number;
	lastUsedAt: number | null;
	/** The shared items in the order of choice, without those that were removed for good. */
	items: SharedItemRecord[];
}

/** A share without its items, which are up to a thousand with paths of any length. */
export type ShareHead = Omit<ShareRecord, 'items'>;

/** Some of the items of a share. */
export interface SharedItemsPart {
	items: SharedItemRecord[];
	last: number | undefined;
}

/** A share's place in the order of a list, the newest first. */
export type SharePosition = Pick<ShareRecord, 'createdAt' | 'id'>;

/** A share as it is made. */
export interface NewShare extends Omit<ShareSettings, 'isPaused'> {
	tokenHash: string;
	sealedToken: string;
	ownerId: string;
	mode: ShareMode;
	asksName: boolean;
	items: readonly { path: StoragePath; itemId: string; type: 'file' | 'directory' }[];
}

/** Shares by the hash of their token. Their items are followed as those of temporary links are, by `LinkStore`. */
export interface ShareStore {
	/**
	 * Throws `rateLimited` if the owner would have more shares, or more items in them, than the limits, and `notFound`
	 * for an unknown owner.
	 */
	add(share: NewShare, limits: { shares: number; items: number }): Promise<ShareRecord>;
	/** The share of a token; undefined for an unknown one and for one whose owner is disabled. */
	find(tokenHash: string): Promise<ShareHead | undefined>;
	/** Finds a share by its id; undefined as for `find`. */
	findById(id: string): Promise<ShareHead | undefined>;
	/**
	 * Items of a share in the order of choice, the first or those after a position, as many as are read in a moment. `last`
	 * is the position of the last one; undefined if none follow.
	 */
	itemsOf(share: Pick<ShareHead, 'id' | 'owner'>, after?: number): Promise<SharedItemsPart>;
	/** Finds a share by its id, also that of a disabled owner; only one owner's if an owner is given. */
	get(id: string, ownerId?: string): Promise<ShareRecord | undefined>;
	/** Up to `limit` shares of one owner or of all, the newest first, from the one that follows `after`. */
	page(options: { limit: number; ownerId?: string; after?: SharePosition }): Promise<ShareHead[]>;
	/** The first of these with their items: so many shares as have few items together, at least one. One that was removed has none. */
	withItems(shares: readonly ShareHead[]): Promise<ShareRecord[]>;
	/** Resolves to undefined if there is no such share of the owner. Its end makes it one that has not ended. */
	change(id: string, ownerId: string, changes: Partial<ShareSettings>): Promise<'changed' | 'same' | undefined>;
	/** Marks it as expired, if it still has that end. */
	end(id: string, expiresAt: number): Promise<void>;
	/** Removes a share, of this owner if one is given; resolves to whether there was one. */
	remove(id: string, ownerId?: string): Promise<boolean>;
}
