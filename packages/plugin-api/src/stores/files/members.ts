import type { MemberRole, StoragePath } from '@stowage/rules';
import type { BoundItem } from './links.js';

/** A member of a folder. */
export interface MemberRecord {
	user: { id: string; username: string };
	role: MemberRole;
}

/** A folder of its owner's private area that has members. */
export interface SharedFolderRecord extends BoundItem {
	createdAt: number;
	/** Sorted by name. */
	members: MemberRecord[];
}

/** A folder as one of its members has it. */
export interface JoinedFolder extends BoundItem {
	role: MemberRole;
	/** Since when the user is a member. */
	createdAt: number;
}

/** A folder as one of its members has it, by the ends of its paths alone: a path may have 64,000 characters. */
export interface JoinedNames {
	id: string;
	role: MemberRole;
	/** The name of its owner. */
	owner: string;
	/** The first and the last name of its path, and after that of the planned one, if there is one. */
	ends: { first: string; last: string }[];
}

/** What one account may have, since all of an owner's, or all of a member's, is read in each call. */
export interface MemberLimits {
	/** Folders with members of one owner. */
	folders: number;
	/** Folders of one owner and of all together that a user can be a new member of. */
	ofOneOwner: number;
	ofAllOwners: number;
}

/** What one member has changed in a shared folder in one go, by items. */
export interface MemberChange {
	id: string;
	/** What its owner called the folder then. */
	folder: string;
	/** The name that the member had then. */
	member: string;
	added: number;
	changed: number;
	removed: number;
	begunAt: number;
	endedAt: number;
}

/** What is added to that. */
export interface CountedChanges extends Omit<MemberChange, 'id'> {
	ownerId: string;
	folderId: string;
	memberId: string;
}

/**
 * The members of folders. The folders are followed as the items of temporary links are, by `LinkStore`, and their
 * members go with them.
 */
export interface MemberStore {
	/**
	 * Makes these, and nobody else, the members of a folder; nobody ends it. Who was one already stays one since then.
	 * Resolves to whether that changed anything. Throws `noSuchUser` for a user who is gone, and `rateLimited` for more than `limits`.
	 */
	set(
		folder: { ownerId: string; path: StoragePath; itemId: string },
		members: readonly { userId: string; role: MemberRole }[],
		limits: MemberLimits,
	): Promise<boolean>;
	/** The shared folder with this item id, with its members; undefined for one without members. */
	find(ownerId: string, itemId: string): Promise<SharedFolderRecord | undefined>;
	/**
	 * The folders that a user is a member of, of one owner or of all, those joined first before others, without those of disabled owners. A
	 * disabled user has none.
	 */
	joined(userId: string, ownerId?: string): Promise<JoinedFolder[]>;
	/** What `joined` has of all owners, for who looks often whether others are joined: not all as of one moment. */
	joinedNames(userId: string): Promise<JoinedNames[]>;
	/** The folders with members of one owner or of all, by owner and path. */
	list(ownerId?: string): Promise<SharedFolderRecord[]>;
	/** How many members each folder of an owner has that lies directly in this one, by the name that it has or is to get. */
	countsIn(ownerId: string, folder: StoragePath): Promise<Map<string, number>>;
	/** Resolves to whether the user was a member. */
	leave(folderId: string, userId: string): Promise<boolean>;
	/**
	 * Counts what members have changed, for the owners: that of one member and folder without longer pauses than an hour
	 * together, and the latest 50 of a folder.
	 */
	countChanges(changes: readonly CountedChanges[]): Promise<void>;
	/** What others have changed in the folders of an owner, also in those that are shared no more, the latest first. */
	changes(ownerId: string, limit: number): Promise<MemberChange[]>;
	/** Forgets what was changed before. */
	forgetChanges(before: number): Promise<void>;
}
