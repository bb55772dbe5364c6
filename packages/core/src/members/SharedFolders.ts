import type { JoinedFolder, MemberStore } from '@stowage/plugin-api';
import {
	baseName,
	candidateNames,
	Failure,
	homeRoot,
	isFailure,
	isWithin,
	joinPath,
	type MemberRole,
	type Membership,
	parsePath,
	pathSegments,
	relativePath,
	type StoragePath,
	truncateToBytes,
	type User,
	viewOnlyMessage,
} from '@stowage/rules';
import { locateLink } from '../links/locateLink.js';
import type { MemberRights } from '../trees/MemberHome.js';
import type { MountedStorage } from '../trees/MountedStorage.js';
import { notFound } from '../trees/Tree.js';
import { isTrashedLink } from '../trees/trash/trashPaths.js';
import { HeldAccess } from './HeldAccess.js';

/** A folder under the name that it has for one of its members. */
export interface NamedFolder {
	name: string;
	folder: JoinedFolder;
}

/** What a path of the area of shared folders means for a member. */
export interface SharedPlace extends NamedFolder {
	/** Where the folder is now, relative to the home of its owner. */
	root: StoragePath;
	/** The item, relative to the same. */
	path: StoragePath;
	/** What the member may do with it: of the folders with members that it lies in, the one that is closest to it counts. */
	role: MemberRole;
	/** The folders with members below the item, where the role is their own. */
	inner: ReadonlyMap<StoragePath, MemberRole>;
}

interface Dependencies {
	store: Pick<MemberStore, 'joined'>;
	storage: () => Pick<MountedStorage, 'open' | 'stat' | 'count'>;
}

/** The folders that are shared with users, as the database and the disk have them at the moment: nothing is remembered. */
export class SharedFolders implements MemberRights {
	/** What members have under way. */
	readonly held = new HeldAccess(this);
	readonly #parts: Dependencies;

	constructor(parts: Dependencies) {
		this.#parts = parts;
	}

	/** Those of a user, also those that are not there at the moment, by which names must not depend. */
	async joined(userId: string): Promise<NamedFolder[]> {
		const folders = await this.#parts.store.joined(userId);
		return named(folders.filter(({ path, nextPath }) => ![path, nextPath ?? path].some(isTrashedLink)));
	}

	/** Where a folder is now; undefined for one that is gone, public or in the trash. */
	async locate({ folder }: NamedFolder): Promise<StoragePath | undefined> {
		const located = await locateLink(this.#parts.storage(), folder);
		return located?.item.type === 'directory' && located.path !== '' ? located.path : undefined;
	}

	/** What a list says of a folder; undefined for one that is not there. Throws `unavailable`. */
	async look(named: NamedFolder): Promise<{ mtime: number; count: number } | undefined> {
		const root = await this.locate(named);
		if (root === undefined) return undefined;
		const storage = this.#parts.storage();
		const path = joinPath(homeRoot(named.folder.owner.username), root);
		try {
			return { mtime: (await storage.stat(path)).mtime, count: await storage.count(path) };
		} catch (error) {
			if (isFailure(error, 'notFound')) return undefined;
			if (isFailure(error, 'forbidden')) return { mtime: 0, count: 0 };
			throw error;
		}
	}

	/** The name of who owns the folder that a path is in, for the audit log; undefined for a path in no folder of the user's. */
	async ownerOf({ id }: Pick<User, 'id'>, path: string): Promise<string | undefined> {
		const [name] = path.split('/');
		return (await this.joined(id)).find((each) => each.name === name)?.folder.owner.username;
	}

	/** Throws `notFound` for a path in no folder of the user's. */
	async at({ id }: Pick<User, 'id'>, path: StoragePath): Promise<SharedPlace> {
		const [name] = pathSegments(path);
		const folders = await this.joined(id);
		const found = folders.find((each) => each.name === name);
		return this.#place(folders, found, path);
	}

	/** The same place once more, by the id of its folder; `inside` is relative to that. */
	async again({ id }: Pick<User, 'id'>, folderId: string, inside: StoragePath): Promise<SharedPlace> {
		const folders = await this.joined(id);
		const found = folders.find(({ folder }) => folder.id === folderId);
		return this.#place(folders, found, joinPath(parsePath(found?.name ?? ''), inside));
	}

	/** The same of an item by where it was or is in the home of its owner, in the folder that is closest to it. */
	async holding(
		{ id }: Pick<User, 'id'>,
		{ ownerId, path }: { ownerId: string; path: StoragePath },
	): Promise<SharedPlace> {
		const folders = await this.joined(id);
		let closest: { found: NamedFolder; root: StoragePath } | undefined;
		for (const found of folders) {
			const root = found.folder.owner.id === ownerId ? await this.locate(found) : undefined;
			if (root === undefined || !isBelow(path, root)) continue;
			if (closest === undefined || root.length > closest.root.length) closest = { found, root };
		}
		if (closest === undefined) throw notFound();
		const { found, root } = closest;
		return this.#place(folders, found, joinPath(parsePath(found.name), relativePath(path, root)));
	}

	/** Whether the member may only look at something that lies in the item. */
	async hasLocked({ id }: Pick<User, 'id'>, { folder, path }: SharedPlace): Promise<boolean> {
		for (const each of await this.joined(id)) {
			if (each.folder.owner.id !== folder.owner.id || each.folder.role === 'edit') continue;
			const root = await this.locate(each);
			if (root !== undefined && isWithin(root, path)) return true;
		}
		return false;
	}

	async assertMayEdit(owner: User, { id }: Membership, path: StoragePath): Promise<void> {
		const folders = (await this.joined(id)).filter(({ folder }) => folder.owner.id === owner.id);
		const role = await this.#roleAt(folders, path);
		if (role === undefined) throw notFound();
		if (role !== 'edit') throw mayOnlyView();
	}

	async #place(folders: readonly NamedFolder[], found: NamedFolder | undefined, path: StoragePath) {
		const root = found && (await this.locate(found));
		if (found === undefined || root === undefined) throw notFound();
		const at = pathSegments(path)
			.slice(1)
			.reduce<StoragePath>((folder, segment) => joinPath(folder, segment), root);
		const ofOwner = folders.filter(({ folder }) => folder.owner.id === found.folder.owner.id);
		const role = (await this.#roleAt(ofOwner, at)) ?? found.folder.role;
		return { ...found, root, path: at, role, inner: await this.#rolesBelow(ofOwner, at) };
	}

	/** The roles of the folders of one owner that lie in an item. */
	async #rolesBelow(folders: readonly NamedFolder[], path: StoragePath): Promise<Map<StoragePath, MemberRole>> {
		const roles = new Map<StoragePath, MemberRole>();
		for (const each of folders) {
			const { path: at, nextPath = at, role } = each.folder;
			if (!isBelow(at, path) && !isBelow(nextPath, path)) continue;
			const root = await this.locate(each);
			if (root !== undefined && isBelow(root, path)) roles.set(root, role);
		}
		return roles;
	}

	/** What a member of these folders of one owner may do with an item of the home: the folder that is closest to it counts. */
	async #roleAt(folders: readonly NamedFolder[], path: StoragePath): Promise<MemberRole | undefined> {
		let closest: { depth: number; role: MemberRole } | undefined;
		for (const each of folders) {
			const { path: at, nextPath = at, role } = each.folder;
			if (!isWithin(path, at) && !isWithin(path, nextPath)) continue;
			// One that was moved by another program is not where its row says.
			const root = await this.locate(each);
			if (root === undefined || !isWithin(path, root)) continue;
			const depth = pathSegments(root).length;
			if (closest === undefined || depth > closest.depth) closest = { depth, role };
		}
		return closest?.role;
	}
}

function isBelow(path: StoragePath, folder: StoragePath): boolean {
	return path !== folder && isWithin(path, folder);
}

/** What a member may do with an item of a place: as little as with anything in it that is shared apart. */
export function roleIn({ role, inner }: Pick<SharedPlace, 'role' | 'inner'>, path: StoragePath): MemberRole {
	let closest = { role, at: '' };
	for (const [root, own] of inner) {
		if (own === 'view' && isWithin(root, path)) return 'view';
		if (isWithin(path, root) && root.length >= closest.at.length) closest = { role: own, at: root };
	}
	return closest.role;
}

/** Throws for who may look at something and not change it. */
export const mayOnlyView = () => new Failure('forbidden', viewOnlyMessage);

/** Folders of one name are told apart by their owners, and those of one owner by numbers, the first joined first. */
function named(folders: readonly JoinedFolder[]): NamedFolder[] {
	const pathOf = ({ path, nextPath }: JoinedFolder) => nextPath ?? path;
	const counts = new Map<string, number>();
	for (const folder of folders) counts.set(baseName(pathOf(folder)), (counts.get(baseName(pathOf(folder))) ?? 0) + 1);
	const taken = new Set<string>();
	return folders.flatMap((folder) => {
		const own = baseName(pathOf(folder));
		const isUnique = counts.get(own) === 1;
		const name = isUnique ? own : withOwner(own, folder.owner.username);
		for (const candidate of candidateNames(name, 'directory')) {
			if (taken.has(candidate) || (candidate !== own && counts.has(candidate))) continue;
			taken.add(candidate);
			return [{ name: candidate, folder }];
		}
		return [];
	});
}

const maxNameBytes = 255;

function withOwner(name: string, owner: string): string {
	const suffix = ` (${owner})`;
	return `${truncateToBytes(name, maxNameBytes - suffix.length)}${suffix}`;
}
