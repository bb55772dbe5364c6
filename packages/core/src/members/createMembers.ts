import {
	type CounterStore,
	type MemberLimits,
	type MemberStore,
	type Notifications,
	type SharedFolderRecord,
	type UserStore,
	Yielder,
} from '@stowage/plugin-api';
import {
	assertAllowed,
	Failure,
	foldUsername,
	homeRoot,
	isFailure,
	isValidUsername,
	joinChecked,
	type MemberRole,
	type StoragePath,
	shareDenial,
	signedIn,
	type User,
	type Viewer,
} from '@stowage/rules';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import { rateLimited } from '../limits/rateLimited.js';
import { locateLink } from '../links/locateLink.js';
import type { LinkTracker } from '../links/trackItems.js';
import { identityOf } from '../trees/identity.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import type { SharedFolders } from './SharedFolders.js';

/** A member by name. */
export interface NamedMember {
	username: string;
	role: MemberRole;
}

/** Who is a member now and was none, or with another role, and who is none any more. */
export interface MembershipChange {
	username: string;
	role: MemberRole | undefined;
}

/** The members of folders. */
export interface Members {
	/**
	 * Makes these, and nobody else, the members of a folder of the viewer's private area, and resolves to them with their names as they are
	 * registered, and what that has changed. Throws `noSuchUser` with the first name that is unknown, `invalid` for what can't have members,
	 * `notFound` and `rateLimited`.
	 */
	set(
		viewer: Viewer,
		path: StoragePath,
		members: readonly NamedMember[],
	): Promise<{ members: NamedMember[]; changes: MembershipChange[] }>;
	/** The members of a folder of the viewer's own, or of one that the viewer is a member of. Throws `notFound` for any other. */
	list(viewer: Viewer, path: StoragePath, area?: 'private' | 'shared'): Promise<NamedMember[]>;
	/**
	 * Ends the viewer's own membership of a folder, by its path in the area of shared folders. Resolves to its owner. Throws `notFound`, and
	 * `forbidden` for one that the viewer may only look at within one that they may edit.
	 */
	leave(viewer: Viewer, path: StoragePath): Promise<string>;
	/** For the administrator: all folders with members, or those of one owner. */
	folders(ownerId?: string): Promise<SharedFolderRecord[]>;
}

interface Dependencies {
	store: MemberStore;
	users: Pick<UserStore, 'find'>;
	storage: Pick<MountedStorage, 'open' | 'stat' | 'changing'>;
	folders: SharedFolders;
	notifications: Pick<Notifications, 'publish'>;
	limits: Pick<CounterStore, 'find' | 'hit'>;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	links: Pick<LinkTracker, 'adding'>;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
}

/** More than anyone needs: each call of a member reads all that are shared with them. */
const memberLimits: MemberLimits = { folders: 1_000, ofOneOwner: 250, ofAllOwners: 1_000 };

/** The size of the row of a member, with its indexes. */
const rowBytes = 512;

/** Names of nobody that one account may ask for in a window. */
const maxUnknown = 100;
const guessWindowMs = 10 * 60_000;

export function createMembers(parts: Dependencies): Members {
	const { store, users, storage, folders, notifications, links, limits, databaseReserve, now } = parts;
	const notify = (userIds: Iterable<string>) => {
		for (const userId of new Set(userIds)) notifications.publish({ userId }, { kind: 'shared' });
	};

	/** Throws `rateLimited` for too many unknown names, or an account could find out all names that there are. */
	const assertMayGuess = async (key: string) => {
		const guessed = (await limits.find([key], now())).get(key);
		if (guessed === undefined || guessed.count < maxUnknown) return;
		throw rateLimited('Too many unknown users were named. Please wait a moment.', guessed.endsAt, now());
	};

	const known = async ({ id: ownerId, username: owner }: User, wanted: readonly NamedMember[]) => {
		const guesses = `unknown-members:${ownerId}`;
		if (wanted.length > 0) await assertMayGuess(guesses);
		const yielder = new Yielder();
		const found = new Map<string, { userId: string; username: string; role: MemberRole }>();
		for (const { username, role } of wanted) {
			if (yielder.shouldYield) await yielder.yield();
			const user = isValidUsername(username) ? await users.find(username) : undefined;
			if (user === undefined) {
				await limits.hit(guesses, guessWindowMs, now());
				throw new Failure('noSuchUser', `There is no user ${username}.`);
			}
			if (foldUsername(user.username) === foldUsername(owner))
				throw new Failure('invalid', 'The owner of a folder can’t be one of its members.');
			if (found.has(user.id)) throw new Failure('invalid', `${user.username} is named twice.`);
			found.set(user.id, { userId: user.id, username: user.username, role });
		}
		return [...found.values()];
	};

	const folderAt = async (username: string, path: StoragePath) => {
		const item = await storage.stat(joinChecked(homeRoot(username), path));
		if (item.type !== 'directory') throw new Failure('invalid', 'Only folders can have members.');
		return item;
	};

	const named = (folder: SharedFolderRecord | undefined): NamedMember[] =>
		(folder?.members ?? []).map(({ user, role }) => ({ username: user.username, role }));

	const ownMembers = async (viewer: Viewer, path: StoragePath) => {
		const { id, username } = signedIn(viewer);
		return named(await store.find(id, identityOf(await folderAt(username, path))));
	};

	const joinedMembers = async (viewer: Viewer, path: StoragePath) => {
		const { folder, path: at } = await folders.at(signedIn(viewer), path);
		return named(await store.find(folder.owner.id, identityOf(await folderAt(folder.owner.username, at))));
	};

	return {
		async set(viewer, path, wanted) {
			assertAllowed(shareDenial(viewer, { area: 'private', path }));
			const owner = signedIn(viewer);
			const { id: ownerId, username } = owner;
			const chosen = await known(owner, wanted);
			if (chosen.length > 0) await databaseReserve.assertRoom(chosen.length * rowBytes);
			// Items have other ids on another root.
			const changes = await storage.changing(username, async () => {
				const item = await folderAt(username, path);
				// There an id changes with what is put into the folder.
				if (item.mayReuseId && chosen.length > 0)
					throw new Failure(
						'invalid',
						'Folders on this disk can’t have members: it does not tell them from later ones.',
					);
				const itemId = identityOf(item);
				const before = await store.find(ownerId, itemId);
				const added = before === undefined && chosen.length > 0 ? [path] : [];
				const set = () => store.set({ ownerId, path, itemId }, chosen, memberLimits);
				if (!(await links.adding(ownerId, added, set))) return [];
				const made = await store.find(ownerId, itemId);
				const touched = [...(before?.members ?? []), ...(made?.members ?? [])].map(({ user }) => user.id);
				notify([ownerId, ...touched]);
				if (before !== undefined || made === undefined || (await locateLink(storage, made)) !== undefined)
					return changesOf(named(before), named(made));
				// It was moved while nobody followed it yet.
				await store.set({ ownerId, path, itemId }, [], memberLimits);
				throw new Failure('notFound', 'There is no such file or folder.');
			});
			return { members: chosen.map(({ username: name, role }) => ({ username: name, role })), changes };
		},

		async list(viewer, path, area) {
			if (area === 'private') return ownMembers(viewer, path);
			if (area === 'shared') return joinedMembers(viewer, path);
			try {
				return await ownMembers(viewer, path);
			} catch (error) {
				if (!isFailure(error, 'notFound')) throw error;
				return joinedMembers(viewer, path);
			}
		},

		async leave(viewer, path) {
			const user = signedIn(viewer);
			const found = (await folders.joined(user.id)).find(({ name }) => name === path);
			const missing = () => new Failure('notFound', 'There is no such file or folder.');
			if (found === undefined) throw missing();
			await folders.assertMayLeave(user, found);
			if (!(await store.leave(found.folder.id, user.id))) throw missing();
			notify([user.id, found.folder.owner.id]);
			return found.folder.owner.username;
		},

		folders: (ownerId) => store.list(ownerId),
	};
}

function changesOf(before: readonly NamedMember[], after: readonly NamedMember[]): MembershipChange[] {
	const [former, now] = [before, after].map(
		(members) => new Map(members.map(({ username, role }) => [username, role])),
	);
	return [
		...after.filter(({ username, role }) => former?.get(username) !== role),
		...before.flatMap(({ username }) => (now?.has(username) ? [] : [{ username, role: undefined }])),
	];
}
