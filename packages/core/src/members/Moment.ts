import type { JoinedFolder, MemberStore, StorageProvider } from '@stowage/plugin-api';
import { isWithin, type MemberRole, pathSegments, type StoragePath } from '@stowage/rules';
import { locateLink } from '../links/locateLink.js';
import { isTrashedLink } from '../trees/trash/trashPaths.js';
import { type NamedFolder, namedFolders } from './folderNames.js';
import { InnerRoles } from './InnerRoles.js';

export interface MomentParts {
	store: Pick<MemberStore, 'joined'>;
	storage: () => Pick<StorageProvider, 'open' | 'stat'>;
}

/** The folders with members as the database and the disk have them at one moment: each is read once. */
export class Moment {
	readonly #parts: MomentParts;
	readonly #joined = new Map<string, Promise<JoinedFolder[]>>();
	readonly #named = new Map<string, Promise<NamedFolder[]>>();
	readonly #located = new Map<string, Promise<StoragePath | undefined>>();
	/** Whether a folder was not where its row said, as one that was moved after that was read. */
	hasMissed = false;

	constructor(parts: MomentParts) {
		this.#parts = parts;
	}

	/** The folders that a user has joined, of one owner or of all, without those in the trash. */
	joined(userId: string, ownerId?: string): Promise<JoinedFolder[]> {
		return once(this.#joined, `${userId} ${ownerId ?? ''}`, async () => {
			const folders = await this.#parts.store.joined(userId, ownerId);
			return folders.filter(({ path, nextPath }) => ![path, nextPath ?? path].some(isTrashedLink));
		});
	}

	/** All of a user, also those that are not there: names must not depend on that. */
	named(userId: string): Promise<NamedFolder[]> {
		return once(this.#named, userId, async () => namedFolders(await this.joined(userId)));
	}

	/** Where a folder is; undefined for one that is gone, public or in the trash. */
	locate(folder: JoinedFolder): Promise<StoragePath | undefined> {
		return once(this.#located, folder.id, async () => {
			const located = await locateLink(this.#parts.storage(), folder);
			if (located?.item.type === 'directory' && located.path !== '') return located.path;
			this.hasMissed = true;
			return undefined;
		});
	}

	/** What a member of these folders of one owner may do with an item of the home: the folder that is closest to it counts. */
	async roleAt(folders: readonly JoinedFolder[], path: StoragePath): Promise<MemberRole | undefined> {
		let closest: { depth: number; role: MemberRole } | undefined;
		for (const each of folders) {
			const { path: at, nextPath = at, role } = each;
			if (!isWithin(path, at) && !isWithin(path, nextPath)) continue;
			// One that was moved by another program is not where its row says.
			const root = await this.locate(each);
			if (root === undefined || !isWithin(path, root)) continue;
			const depth = pathSegments(root).length;
			if (closest === undefined || depth > closest.depth) closest = { depth, role };
		}
		return closest?.role;
	}

	/** The roles of those that lie in an item. */
	async rolesBelow(folders: readonly JoinedFolder[], path: StoragePath): Promise<InnerRoles> {
		const roles = new InnerRoles(path);
		for (const each of folders) {
			const { path: at, nextPath = at, role } = each;
			if (!isBelow(at, path) && !isBelow(nextPath, path)) continue;
			const root = await this.locate(each);
			if (root !== undefined && isBelow(root, path)) roles.add(root, role);
		}
		return roles;
	}
}

export function isBelow(path: StoragePath, folder: StoragePath): boolean {
	return path !== folder && isWithin(path, folder);
}

function once<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
	const found = known.get(key) ?? read();
	known.set(key, found);
	return found;
}
