import { Failure } from '../failure.js';
import { isWithin, joinChecked, joinPath, parsePath, type StoragePath } from '../names/paths.js';

/**
 * The values of `type` in the API: the caller's own home, the merged view of public trees, or the folders that are
 * shared with the caller.
 */
export type Area = 'private' | 'public' | 'shared';

/** Who a public tree belongs to: a user name, `'anonymous'` for visitors' uploads, or `null` for the administrator's tree. */
export type Owner = string | null;

export const anonymousOwner = 'anonymous';

/** The name of a home's public tree. */
export const publicFolderName = 'Public';

/** Top-level folders of a home that can't be cut, copied, moved, renamed, deleted or dragged (spec, section 9). */
export const protectedFolders: readonly string[] = [publicFolderName];

/** What callers without an account may do in the public area: upload and read, read only, or nothing. */
export type VisitorAccess = 'upload' | 'read' | 'off';

/** The caller. */
export type Viewer = Visitor | User | Guest;

/** A caller without an account. */
export interface Visitor {
	kind: 'anonymous';
	access: VisitorAccess;
}

/** A signed-in caller. */
export interface User {
	kind: 'user';
	id: string;
	username: string;
	/** Set where guests of a share send files to the user: what they send is the user's, and limited as a visitor's. */
	receives?: Receiving;
	/** Set where a member of folders of the user works in them: what they do there, they do in the user's private area. */
	member?: Membership;
}

/** A member at work, and the folders that they may see of the home. */
export interface Membership {
	id: string;
	username: string;
	/** Relative to the home, each with the storage's id of the folder: no other folder of that path is meant. */
	folders: readonly { path: StoragePath; itemId: string }[];
}

/** The share that is sent to, and which of its clients sends. */
export interface Receiving {
	share: string;
	client: string;
}

/** Whether it is somebody without an account who acts. */
export function isStranger(viewer: Viewer): boolean {
	return viewer.kind !== 'user' || viewer.receives !== undefined;
}

/** An item of a share as its guests see it. */
export interface SharedItem {
	/** Among the items of its share, which may lie in several folders, no other has this name. */
	name: string;
	type: 'file' | 'directory';
	/** Relative to the home of the owner. */
	path: StoragePath;
	/** The storage's id of the item: no other item of that path is meant. */
	itemId: string;
}

/**
 * A caller who has the address of a share, and its password where it has one. The share is the guest's private area:
 * the contents of the one folder that is shared, or the items beside each other. It can be read, and nothing else.
 */
export interface Guest {
	kind: 'guest';
	/** The id of the share, which opens nothing. */
	share: string;
	owner: User;
	root: { kind: 'folder'; folder: SharedItem } | { kind: 'items'; items: readonly SharedItem[] };
}

/** Throws `notSignedIn` for everybody else. */
export function signedIn(viewer: Viewer): User {
	if (viewer.kind !== 'user') throw new Failure('notSignedIn', 'Please sign in first.');
	return viewer;
}

/**
 * The path of a user's home, or of the anonymous one, in the storage. Throws `invalidPath` for an invalid user name.
 */
export function homeRoot(username: string): StoragePath {
	// An owner may come straight from a query: `bob/private` would name the tree in a folder of Bob's home.
	if (username !== anonymousOwner && !isValidUsername(username)) {
		throw new Failure('invalidPath', 'That is not a valid owner.');
	}
	return parsePath(`users/${username}`);
}

/** Whether a path of a home lies in its public tree. */
export function isPublicPath(path: StoragePath): boolean {
	return isWithin(path, parsePath(publicFolderName));
}

/** The path of an owner's public tree in the storage. */
export function publicRoot(owner: Owner): StoragePath {
	return owner === null ? parsePath(publicFolderName) : joinPath(homeRoot(owner), publicFolderName);
}

/** A path of the caller's own public tree or private area as the home has it: `docs` in public is `Public/docs`. */
export function homePath(area: Area, path: StoragePath): StoragePath {
	return area === 'public' ? joinChecked(parsePath(publicFolderName), path) : path;
}

/** Whether a path of the private area is one of the protected folders. Their contents are not. */
export function isProtected(area: Area, path: StoragePath): boolean {
	return area === 'private' && protectedFolders.includes(path);
}

/** The owner whose tree a viewer writes to in the public area. */
export function writingOwner(viewer: Viewer): string {
	return viewer.kind === 'user' ? viewer.username : anonymousOwner;
}

/** The public trees that a viewer sees, in the order in which a read without `owner` searches them (spec, section 6). */
export function visibleOwners(viewer: Viewer): Owner[] {
	return viewer.kind === 'user' ? [viewer.username, null, anonymousOwner] : [null, anonymousOwner];
}

/** The owners whose public trees a listing shows: those of section 6, or all users. */
export type PublicListing = 'own' | 'everyone';

/** Whether listings, searches and counts include an owner's public tree. */
export function isVisibleOwner(viewer: Viewer, owner: Owner, publicListing: PublicListing): boolean {
	return publicListing === 'everyone' || visibleOwners(viewer).includes(owner);
}

/** User names: 1 to 32 of `a-z A-Z 0-9 . _ -`, beginning with a letter or digit; `anonymous` and `public` are taken. */
export function isValidUsername(username: string): boolean {
	return (
		/^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/.test(username) && !['anonymous', 'public'].includes(foldUsername(username))
	);
}

/** The form in which user names are unique and looked up. They are ASCII, so lower case suffices as case folding. */
export function foldUsername(username: string): string {
	return username.toLowerCase();
}

export const passwordLength = { min: 8, max: 256 } as const;
