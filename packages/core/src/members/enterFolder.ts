import type { ItemRef } from '@stowage/plugin-api';
import {
	type Entry,
	Failure,
	joinChecked,
	type MemberRole,
	parsePath,
	relativePath,
	type StoragePath,
	signedIn,
	type User,
	type Viewer,
} from '@stowage/rules';
import { notFound } from '../trees/Tree.js';
import type { Held } from './HeldAccess.js';
import { notSharedAnyMore, type SharedFolders, type SharedPlace, viewOnly } from './SharedFolders.js';

/** An item of a shared folder as it is in the home of its owner, for a member who may do there what was asked for. */
export interface Entered {
	/** The owner, for whom the member acts. */
	viewer: User;
	/** The item in the owner's private area. */
	ref: ItemRef;
	place: SharedPlace;
	held: Held;
	/** A path of the owner's home as the member has it. */
	pathOf(path: StoragePath): StoragePath;
	/** An entry of the owner's home as the member sees it. */
	shown(entry: Entry): Entry;
}

type SharedRef = Pick<ItemRef, 'path' | 'owner' | 'folderId'>;

/**
 * The one gate between the area of shared folders and the homes of their owners. Throws `notSignedIn`, `notFound` for
 * what is in no folder of the viewer's, and `forbidden` for who may only look at it.
 */
export async function enterFolder(
	folders: Pick<SharedFolders, 'at'>,
	viewer: Viewer,
	{ path, owner, folderId }: SharedRef,
	role: MemberRole,
): Promise<Entered> {
	const user = signedIn(viewer);
	if (path === '') throw role === 'edit' ? notHere() : notFound();
	const place = await folders.at(user, path);
	if (owner !== undefined && owner !== place.folder.owner.username) throw notFound();
	if (folderId !== undefined && folderId !== place.folder.id) throw notSharedAnyMore();
	if (role === 'edit' && place.role !== 'edit') throw viewOnly();
	return entered(user, place, role);
}

/**
 * Enters the shared folder with an item, given by its path in the home of its owner, a former one, too. Throws
 * `notFound` for one in no folder of the user's.
 */
export async function enterHolding(
	folders: SharedFolders,
	user: User,
	item: { ownerId: string; path: StoragePath },
	role: MemberRole,
): Promise<Entered> {
	const place = await folders.holding(user, item);
	if (role === 'edit' && place.role !== 'edit') throw viewOnly();
	return entered(user, place, role);
}

function entered(user: User, place: SharedPlace, role: MemberRole): Entered {
	const { folder, name, root } = place;
	const { owner, itemId } = folder;
	const { id, username } = user;
	const member = { id, username, folders: [{ path: root, itemId }] };
	const shared = parsePath(name);
	const pathOf = (path: StoragePath) => joinChecked(shared, relativePath(path, root));
	return {
		viewer: { kind: 'user', id: owner.id, username: owner.username, member },
		ref: { area: 'private', path: place.path },
		place,
		held: { user: { id }, folderId: folder.id, ownerId: owner.id, inside: relativePath(place.path, root), role },
		pathOf,
		shown({ versions, protected: _, ...entry }) {
			const at = pathOf(entry.path as StoragePath);
			const ownRole = place.inner.roleOf(entry.path as StoragePath, place.role);
			return {
				...entry,
				...(at === shared ? { name } : {}),
				path: at,
				...(ownRole === place.role ? {} : { role: ownRole }),
				// Who may only look at a file learns nothing of what it was.
				...(versions === undefined || ownRole === 'view' ? {} : { versions }),
			};
		},
	};
}

/** The viewer of two folders of one owner: the member has the rights in both. */
export function inBoth(one: Entered, other: Entered): User {
	const folders = [one, other].flatMap(({ viewer }) => viewer.member?.folders ?? []);
	return { ...one.viewer, member: { ...(one.viewer.member as NonNullable<User['member']>), folders } };
}

const notHere = () => new Failure('forbidden', 'The list of shared folders can’t be changed here.');
