import {
	type JoinedFolder,
	type MemberStore,
	type StorageItem,
	type StorageProvider,
	Yielder,
} from '@stowage/plugin-api';
import {
	homeRoot,
	isFailure,
	isWithin,
	joinChecked,
	joinPath,
	type MemberRole,
	PathMap,
	parentPath,
	pathDepth,
	pathsTo,
	type StoragePath,
	undefinedIf,
} from '@stowage/rules';
import { locateLink } from '../links/locateLink.js';
import { identityOf } from '../trees/identity.js';
import { isTrashedLink } from '../trees/trash/trashPaths.js';
import { type NamedFolder, namedFolders } from './folderNames.js';
import { InnerRoles } from './InnerRoles.js';
import { once } from './once.js';

export interface MomentParts {
	store: Pick<MemberStore, 'joined'>;
	storage: () => Pick<StorageProvider, 'list' | 'open' | 'stat'>;
}

/** Levels below a shared folder at which the ids of folders are compared; what lies deeper counts as what may only be looked at. */
const maxLevels = 100;

/** Items among which a folder is looked for that is not where its row says; of a larger tree it is not known. */
const maxItems = 10_000;

/** Characters of their paths, which are kept meanwhile. */
const maxCharacters = 5_000_000;

/** The folders with members as the database and the disk have them at one moment: each is read once. */
export class Moment {
	readonly #parts: MomentParts;
	readonly #yielder = new Yielder();
	readonly #joined = new Map<string, Promise<JoinedFolder[]>>();
	readonly #named = new Map<string, Promise<NamedFolder[]>>();
	readonly #located = new Map<string, Promise<StoragePath | undefined>>();
	readonly #items = new PathMap<Promise<StorageItem | undefined>>();
	readonly #near = new Map<JoinedFolder, readonly JoinedFolder[]>();
	/** By the folder, of a member's, that they lie in. */
	readonly #locked = new Map<JoinedFolder, Promise<ReadonlySet<string>>>();
	/** Whether a folder was not where its row said, as one that was moved after that was read. */
	hasMissed = false;

	constructor(parts: MomentParts) {
		this.#parts = parts;
	}

	/** The folders that a user has joined, of one owner or of all, without those in the trash. */
	joined(userId: string, ownerId?: string): Promise<JoinedFolder[]> {
		return once(this.#joined, `${userId} ${ownerId ?? ''}`, async () => {
			const folders = await this.#parts.store.joined(userId, ownerId);
			return folders.flatMap((folder) => outsideTrash(folder) ?? []);
		});
	}

	/** All of a user, also those that are not there: names must not depend on that. */
	named(userId: string): Promise<NamedFolder[]> {
		return once(this.#named, userId, async () => namedFolders(await this.joined(userId)));
	}

	/** Where a folder is; undefined for one that is gone, public or in the trash. */
	locate(folder: JoinedFolder): Promise<StoragePath | undefined> {
		return once(this.#located, folder.id, async () => {
			await this.#giveTurn();
			const located = await locateLink(this.#parts.storage(), folder);
			if (located?.item.type === 'directory' && located.path !== '') return located.path;
			this.hasMissed = true;
			return undefined;
		});
	}

	/**
	 * Of a member's folders of one owner those that can count for items of the one that is at `root`: what it lies in, and what lies in it.
	 * They may be hundreds with long paths, and are compared once for all of its items.
	 */
	near(folders: readonly JoinedFolder[], folder: JoinedFolder, root: StoragePath): readonly JoinedFolder[] {
		const isNear = (at: StoragePath) => isWithin(root, at) || isWithin(at, root);
		const found = this.#near.get(folder) ?? folders.filter((each) => recordedPaths(each).some(isNear));
		this.#near.set(folder, found);
		return found;
	}

	/**
	 * What a member of these folders of one owner may do with an item of the home: the folder that is closest to it counts. One in which
	 * they may do less also counts where another program has moved it to, by whatever spelling it is reached, and what is at its recorded
	 * path while it is not there: what takes rights away must not depend on a text.
	 */
	async roleAt(folders: readonly JoinedFolder[], path: StoragePath, near = folders): Promise<MemberRole | undefined> {
		let closest: { folder: JoinedFolder; root: StoragePath; depth: number; role: MemberRole } | undefined;
		let lostDepth = 0;
		for (const each of near) {
			const { role } = each;
			const known = recordedPaths(each).filter((at) => isWithin(path, at));
			if (known.length === 0) continue;
			// One that was moved by another program is not where its row says.
			const root = await this.locate(each);
			if (root === undefined && role === 'view') lostDepth = Math.max(lostDepth, ...known.map(pathDepth));
			if (root === undefined || !isWithin(path, root)) continue;
			const depth = pathDepth(root);
			if (closest === undefined || depth > closest.depth) closest = { folder: each, root, depth, role };
		}
		if (closest?.role !== 'edit') return closest?.role;
		if (lostDepth > closest.depth) return 'view';
		return (await this.#leadsThroughLocked(folders, path, closest)) ? 'view' : 'edit';
	}

	/** The roles of those that lie in an item. */
	async rolesBelow(folders: readonly JoinedFolder[], path: StoragePath, near = folders): Promise<InnerRoles> {
		const roles = new InnerRoles(path);
		for (const each of near) {
			const below = recordedPaths(each).filter((at) => isBelow(at, path));
			if (below.length === 0) continue;
			const root = await this.locate(each);
			if (root !== undefined && isBelow(root, path)) roles.add(root, each.role);
			else if (root === undefined && each.role === 'view' && !(await this.#isTaken(folders, each)))
				for (const at of below) roles.add(at, 'view');
		}
		return roles;
	}

	/**
	 * Whether something lies in an item, or may lie there, that a member of these folders of one owner may only look at: where that is
	 * recorded, by whatever spelling, and where another program has moved it to.
	 */
	async hasLocked(folders: readonly JoinedFolder[], path: StoragePath): Promise<boolean> {
		const locked = folders.filter(({ role }) => role === 'view');
		const owner = locked[0]?.owner;
		const item = owner && (await this.#itemAt(owner, path));
		if (owner === undefined || item?.type !== 'directory') return false;
		const lost: JoinedFolder[] = [];
		for (const each of locked) {
			const root = await this.locate(each);
			if (root !== undefined && isWithin(root, path)) return true;
			if (root !== undefined) continue;
			lost.push(each);
			const isRecorded = recordedPaths(each).some((at) => isWithin(at, path));
			if (isRecorded && !(await this.#isTaken(folders, each))) return true;
		}
		const depth = pathDepth(path);
		for (const each of locked) {
			for (const at of recordedPaths(each)) {
				const above = upTo(at, depth);
				if (above === undefined || above === path) continue;
				if ((await this.#identityAt(owner, above)) === identityOf(item)) return true;
			}
		}
		return lost.length > 0 && this.#mayHold(owner, path, new Set(lost.map(({ itemId }) => itemId)));
	}

	/**
	 * Whether a folder lies in one that a member of these folders of one owner may edit, or may lie there: of those that it lies in the
	 * closest counts, by their ids.
	 */
	async isInEditable(folders: readonly JoinedFolder[], folder: JoinedFolder): Promise<boolean> {
		const roles = new Map(folders.map(({ itemId, role }) => [itemId, role]));
		roles.delete(folder.itemId);
		if (![...roles.values()].includes('edit')) return false;
		const root = await this.locate(folder);
		if (root === undefined) return true;
		for (const path of pathsTo(parentPath(root)).reverse()) {
			const identity = await this.#identityAt(folder.owner, path);
			const role = identity === undefined ? undefined : roles.get(identity);
			if (role !== undefined) return role === 'edit';
		}
		return false;
	}

	/** Whether one of the folders below a shared one, by which a path leads, is one that the member may only look at. */
	async #leadsThroughLocked(
		folders: readonly JoinedFolder[],
		path: StoragePath,
		{ folder, root }: { folder: JoinedFolder; root: StoragePath },
	): Promise<boolean> {
		if (path === root || folders.every(({ role }) => role === 'edit')) return false;
		if (pathDepth(path) - pathDepth(root) > maxLevels) return true;
		const locked = await once(this.#locked, folder, () => this.#readLocked(folders, root));
		for (let end = root.length; end < path.length; ) {
			end = endOfName(path, end + 1);
			const identity = await this.#identityAt(folder.owner, path.slice(0, end) as StoragePath);
			if (identity === undefined) return false;
			if (locked.has(identity)) return true;
		}
		return false;
	}

	/**
	 * The ids of the folders that the member may only look at, and of what is at the recorded paths of those that are not there, where that
	 * lies below a folder: hundreds may lie elsewhere, and cost no stat.
	 */
	async #readLocked(folders: readonly JoinedFolder[], root: StoragePath): Promise<ReadonlySet<string>> {
		const locked = new Set<string>();
		for (const each of folders) {
			if (each.role !== 'view') continue;
			locked.add(each.itemId);
			for (const at of recordedPaths(each)) {
				if (!(await this.#leadsThrough(each.owner, at, root))) continue;
				if ((await this.locate(each)) !== undefined || (await this.#isTaken(folders, each))) break;
				const identity = await this.#identityAt(each.owner, at);
				if (identity !== undefined) locked.add(identity);
			}
		}
		return locked;
	}

	/** Whether a path leads below a folder, by whatever spelling: that has as many names in each. */
	async #leadsThrough(owner: JoinedFolder['owner'], path: StoragePath, folder: StoragePath): Promise<boolean> {
		const above = upTo(path, pathDepth(folder));
		if (above === undefined || above === path) return false;
		return above === folder || (await this.#itemAt(owner, above))?.id === (await this.#itemAt(owner, folder))?.id;
	}

	/** Whether the owner has said anew what the member may do at the path of a folder that is not there. */
	async #isTaken(folders: readonly JoinedFolder[], { path }: JoinedFolder): Promise<boolean> {
		for (const each of folders)
			if (recordedPaths(each).includes(path) && (await this.locate(each)) === path) return true;
		return false;
	}

	/** Whether one of the folders with these ids is in a folder, or is not known not to be. */
	async #mayHold(owner: JoinedFolder['owner'], folder: StoragePath, itemIds: ReadonlySet<string>): Promise<boolean> {
		const storage = this.#parts.storage();
		const left = [folder];
		let looked = 0;
		let characters = 0;
		for (let next = left.pop(); next !== undefined; next = left.pop()) {
			try {
				for await (const batch of storage.list(placeOf(owner, next))) {
					looked += batch.length;
					characters += batch.length * next.length;
					if (looked > maxItems || characters > maxCharacters) return true;
					for (const { name, type } of batch) {
						if (type !== 'directory') continue;
						const path = joinPath(next, name);
						const identity = await this.#identityAt(owner, path);
						if (identity !== undefined && itemIds.has(identity)) return true;
						left.push(path);
					}
				}
			} catch (error) {
				// What can't be listed, or lies too deep, may hold it.
				if (isFailure(error, 'forbidden') || isFailure(error, 'invalidPath')) return true;
				if (!isFailure(error, 'notFound')) throw error;
			}
		}
		return false;
	}

	async #identityAt(owner: JoinedFolder['owner'], path: StoragePath): Promise<string | undefined> {
		const item = await this.#itemAt(owner, path);
		return item?.type === 'directory' ? identityOf(item) : undefined;
	}

	#itemAt(owner: JoinedFolder['owner'], path: StoragePath): Promise<StorageItem | undefined> {
		return once(this.#items, `${owner.id} ${path}`, async () => {
			await this.#giveTurn();
			return undefinedIf(this.#parts.storage().stat(placeOf(owner, path)), 'notFound', 'forbidden');
		});
	}

	/** Before each look, of which there may be a thousand: of what the system has in memory the disk tells at once. */
	async #giveTurn(): Promise<void> {
		if (this.#yielder.shouldYield) await this.#yielder.yield();
	}
}

function placeOf({ username }: JoinedFolder['owner'], path: StoragePath): StoragePath {
	return joinChecked(homeRoot(username), path);
}

/**
 * A folder by its paths that are not in the trash; undefined where it has none. One that is moving to the trash or out of it may be at
 * either, and what a member may only look at stays so until it has left.
 */
function outsideTrash(folder: JoinedFolder): JoinedFolder | undefined {
	const [path, nextPath] = recordedPaths(folder).filter((at) => !isTrashedLink(at));
	return path === undefined ? undefined : { ...folder, path, nextPath };
}

const recordedPaths = ({ path, nextPath }: JoinedFolder) => (nextPath === undefined ? [path] : [path, nextPath]);

/** Where the name ends that begins there. */
function endOfName(path: StoragePath, start: number): number {
	const end = path.indexOf('/', start);
	return end === -1 ? path.length : end;
}

/** The first names of a path; undefined where it has fewer. */
function upTo(path: StoragePath, depth: number): StoragePath | undefined {
	let end = -1;
	for (let names = 0; names < depth; names++) {
		if (end === path.length) return undefined;
		end = endOfName(path, end + 1);
	}
	return path.slice(0, end) as StoragePath;
}

export function isBelow(path: StoragePath, folder: StoragePath): boolean {
	return path !== folder && isWithin(path, folder);
}
