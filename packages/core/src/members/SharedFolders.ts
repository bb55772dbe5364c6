import { isDeepStrictEqual } from 'node:util';
import type { JoinedFolder, MemberStore } from '@stowage/plugin-api';
import {
	Failure,
	homeRoot,
	isFailure,
	joinPath,
	type MemberRole,
	type Membership,
	parsePath,
	pathSegments,
	relativePath,
	type StoragePath,
	type User,
	viewOnlyMessage,
} from '@stowage/rules';
import { BoundedDisks } from '../limits/BoundedDisks.js';
import { createKeyedMutex } from '../limits/keyedMutex.js';
import type { MemberRights } from '../trees/MemberFolders.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import { notFound } from '../trees/Tree.js';
import type { NamedFolder } from './folderNames.js';
import { type Held, HeldAccess } from './HeldAccess.js';
import type { InnerRoles } from './InnerRoles.js';
import { isBelow, Moment, type MomentParts } from './Moment.js';
import { WatchedLists } from './WatchedLists.js';

/** What a path of the area of shared folders means for a member. */
export interface SharedPlace extends NamedFolder {
	/** Where the folder is now, relative to the home of its owner. */
	root: StoragePath;
	/** The item, relative to the same. */
	path: StoragePath;
	/** What the member may do with it: of the folders with members that it lies in, the one that is closest to it counts. */
	role: MemberRole;
	/** The folders with members below the item, where the role is their own. */
	inner: InnerRoles;
}

interface Dependencies extends MomentParts {
	store: Pick<MemberStore, 'joined' | 'joinedNames' | 'countsIn'>;
	storage: () => Pick<MountedStorage, 'list' | 'open' | 'stat' | 'count'>;
	/** The name of the root that a home lies on. */
	rootOf(username: string): Promise<string>;
}

/** How often the folders may be moved while one of them is looked for. */
const maxMoves = 3;

/** For how long what was read counts for other items of the same call. */
const readForMs = 100;

/** How long a list of all that is shared waits for the disk of one folder, which may have a million items. */
const diskMs = 10_000;

/** The folders that are shared with users, as the database and the disk have them at the moment: nothing is remembered. */
export class SharedFolders implements MemberRights {
	/** What members have under way. */
	readonly held = new HeldAccess(() => {
		const now = this.#now();
		return {
			atMost: (held) => atMost(held, now),
			rootOf: async (held) => this.#parts.rootOf((await rowOf(held, now)).owner.username),
			locate: (held) => this.#locate(held, now),
		};
	});
	/** Their lists of shared folders that are open. */
	readonly lists = new WatchedLists((userId) => this.#parts.store.joinedNames(userId));
	readonly #parts: Dependencies;
	readonly #disks: BoundedDisks;
	/** Counts of members that have not begun yet. */
	readonly #counts = new Map<string, Promise<ReadonlyMap<string, number>>>();
	readonly #countAlone = createKeyedMutex();

	/** A list of all that is shared waits `listMs` for each disk. */
	constructor(parts: Dependencies, listMs = diskMs) {
		this.#parts = parts;
		this.#disks = new BoundedDisks(listMs);
	}

	/**
	 * All folders that a user has joined, with their names. Also those that are not there at the moment: names must not
	 * depend on that.
	 */
	joined(userId: string): Promise<readonly NamedFolder[]> {
		return this.#now().named(userId);
	}

	/**
	 * How many members each folder has that lies directly in one of its owner's, by the name that is known of it. They may
	 * be by the hundred thousand: all who ask before a count begins share it, and it begins after the one before.
	 */
	memberCounts({ id }: Pick<User, 'id'>, folder: StoragePath): Promise<ReadonlyMap<string, number>> {
		const key = JSON.stringify([id, folder]);
		const waiting = this.#counts.get(key);
		if (waiting !== undefined) return waiting;
		const next = this.#countAlone(key, () => {
			this.#counts.delete(key);
			return this.#parts.store.countsIn(id, folder);
		});
		this.#counts.set(key, next);
		return next;
	}

	/** What `ask` finds in a home. Throws `unavailable` where its disk doesn't answer in time: for who looks into many homes. */
	async inTime<T>(username: string, ask: () => Promise<T>): Promise<T> {
		return this.#disks.ask(await this.#parts.rootOf(username), ask);
	}

	/** What a list says of a folder; undefined for one that is not there. Throws `unavailable`, also where its disk doesn't answer in time. */
	look({ folder }: NamedFolder): Promise<{ mtime: number; count: number } | undefined> {
		return this.inTime(folder.owner.username, () => this.#look(folder));
	}

	async #look(folder: JoinedFolder): Promise<{ mtime: number; count: number } | undefined> {
		const root = await this.#now().locate(folder);
		if (root === undefined) return undefined;
		const storage = this.#parts.storage();
		const path = joinPath(homeRoot(folder.owner.username), root);
		try {
			return { mtime: (await storage.stat(path)).mtime, count: await storage.count(path) };
		} catch (error) {
			if (isFailure(error, 'notFound')) return undefined;
			if (isFailure(error, 'forbidden')) return { mtime: 0, count: 0 };
			throw error;
		}
	}

	/** The folder that a path is in, as it is known, for the audit log; undefined for a path in no folder of the user's. */
	async folderOf({ id }: Pick<User, 'id'>, path: string): Promise<JoinedFolder | undefined> {
		const [name] = path.split('/');
		return (await this.joined(id)).find((each) => each.name === name)?.folder;
	}

	/** Throws `notFound` for a path in no folder of the user's. */
	at(user: Pick<User, 'id'>, path: StoragePath): Promise<SharedPlace> {
		return this.#at(user, path);
	}

	/** A view for the many items of one call, for which the folders are not read each time. */
	forMany(): Pick<SharedFolders, 'at'> {
		let now = this.#now();
		let readAt = performance.now();
		return {
			at: (user, path) => {
				if (performance.now() - readAt > readForMs) {
					now = this.#now();
					readAt = performance.now();
				}
				return this.#at(user, path, now);
			},
		};
	}

	/** The place of an item, by its path in the home of its owner (a former one, too), in the closest shared folder. Throws `notFound`. */
	holding(user: Pick<User, 'id'>, { ownerId, path }: { ownerId: string; path: StoragePath }): Promise<SharedPlace> {
		return this.#find(user, undefined, async (now) => {
			let closest: { found: NamedFolder; root: StoragePath } | undefined;
			for (const found of await now.named(user.id)) {
				const root = found.folder.owner.id === ownerId ? await now.locate(found.folder) : undefined;
				if (root === undefined || !isBelow(path, root)) continue;
				if (closest === undefined || root.length > closest.root.length) closest = { found, root };
			}
			if (closest === undefined) throw notFound();
			const { found, root } = closest;
			return this.#placeAt(now, user, joinPath(parsePath(found.name), relativePath(path, root)));
		});
	}

	/** Whether the member may only look at something that lies in the item. */
	async hasLocked({ id }: Pick<User, 'id'>, { folder, path }: SharedPlace): Promise<boolean> {
		const now = this.#now();
		return now.hasLocked(await now.joined(id, folder.owner.id), path);
	}

	/** Throws `forbidden` for a folder that the member may only look at, where they could edit it once they have left it. */
	async assertMayLeave({ id }: Pick<User, 'id'>, { folder }: NamedFolder): Promise<void> {
		if (folder.role === 'edit') return;
		const now = this.#now();
		if (await now.isInEditable(await now.joined(id, folder.owner.id), folder))
			throw new Failure('forbidden', 'You may edit a folder that this one lies in: leave that one first.');
	}

	async assertMayEdit(owner: User, member: Membership, path: StoragePath): Promise<void> {
		const role = await this.#find(member, owner.id, async (now) => {
			const found = await now.roleAt(await now.joined(member.id, owner.id), path);
			if (found === undefined) throw notFound();
			return found;
		});
		if (role !== 'edit') throw viewOnly();
	}

	#now(): Moment {
		return new Moment(this.#parts);
	}

	/**
	 * What `find` finds at one moment. A folder that was moved after its row was read is not where that said: then at the
	 * next one, if the rows have changed, those of one owner or of all.
	 */
	async #find<T>(
		{ id }: Pick<User, 'id'>,
		ownerId: string | undefined,
		find: (now: Moment) => Promise<T>,
		now = this.#now(),
		left = maxMoves,
	): Promise<T> {
		try {
			return await find(now);
		} catch (error) {
			if (!isFailure(error, 'notFound') || !now.hasMissed || left === 0) throw error;
			const next = this.#now();
			if (isDeepStrictEqual(await next.joined(id, ownerId), await now.joined(id, ownerId))) throw error;
			return this.#find({ id }, ownerId, find, next, left - 1);
		}
	}

	#at(user: Pick<User, 'id'>, path: StoragePath, first?: Moment): Promise<SharedPlace> {
		return this.#find(user, undefined, (now) => this.#placeAt(now, user, path), first);
	}

	async #placeAt(now: Moment, { id }: Pick<User, 'id'>, path: StoragePath): Promise<SharedPlace> {
		const [name = '', ...segments] = pathSegments(path);
		const folders = await now.named(id);
		const found = folders.find((each) => each.name === name);
		const root = found && (await now.locate(found.folder));
		if (found === undefined || root === undefined) throw notFound();
		const { folder } = found;
		const at = joinPath(root, ...segments);
		const ofOwner = folders.map((each) => each.folder).filter(({ owner }) => owner.id === folder.owner.id);
		const near = now.near(ofOwner, folder, root);
		const role = (await now.roleAt(ofOwner, at, near)) ?? folder.role;
		return { ...found, root, path: at, role, inner: await now.rolesBelow(ofOwner, at, near) };
	}

	/** Where something that was found once is now, and what may be done with it. Throws `notFound`. */
	#locate({ user, folderId, ownerId, inside }: Held, first: Moment): Promise<Pick<SharedPlace, 'path' | 'role'>> {
		return this.#find(
			user,
			ownerId,
			async (now) => {
				const folders = await now.joined(user.id, ownerId);
				const folder = folders.find((each) => each.id === folderId);
				const root = folder && (await now.locate(folder));
				if (folder === undefined || root === undefined) throw notFound();
				const path = joinPath(root, inside);
				const near = now.near(folders, folder, root);
				return { path, role: (await now.roleAt(folders, path, near)) ?? folder.role };
			},
			first,
		);
	}
}

/** The folder of something that was found once, whether it is there or not. Throws `notFound` for who is no member any more. */
async function rowOf({ user, folderId, ownerId }: Held, now: Moment): Promise<JoinedFolder> {
	const folder = (await now.joined(user.id, ownerId)).find(({ id }) => id === folderId);
	if (folder === undefined) throw notFound();
	return folder;
}

/** The most that a member may do with something that was found once, wherever that is. Throws `notFound` as `rowOf` does. */
async function atMost(held: Held, now: Moment): Promise<MemberRole> {
	await rowOf(held, now);
	const folders = await now.joined(held.user.id, held.ownerId);
	return folders.some(({ role }) => role === 'edit') ? 'edit' : 'view';
}

/** The refusal of a change by a member who may only look. */
export const viewOnly = () => new Failure('forbidden', viewOnlyMessage);

/** The end of what a member has under way in a folder that is not shared with them any more. */
export const notSharedAnyMore = () => new Failure('notFound', 'This is not shared with you any more.');
