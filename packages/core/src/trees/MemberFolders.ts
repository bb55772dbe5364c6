import { trashFolder } from '@stowage/plugin-api';
import {
	homeRoot,
	isWithin,
	joinChecked,
	type Membership,
	relativePath,
	type StoragePath,
	type User,
} from '@stowage/rules';
import { identityOf } from './identity.js';
import type { ItemStorage } from './storage/Mounts.js';
import { notFound } from './Tree.js';

/** Who may change what in homes of others, as it is at the moment. */
export interface MemberRights {
	/** Throws `notFound` unless it is a member who may see that path of the home, and `forbidden` for one who may not change it. */
	assertMayEdit(owner: User, member: Membership, path: StoragePath): Promise<void>;
}

/** The folders of a home that a member has, as long as they are the very ones that were shared. */
export class MemberFolders {
	readonly #home: Pick<ItemStorage, 'stat'>;
	readonly #folders: readonly { path: StoragePath; itemId: string }[];
	readonly #assertMayEdit: (path: StoragePath) => Promise<void>;

	/** `home` is the whole home, as its owner has it. */
	constructor(home: Pick<ItemStorage, 'stat'>, owner: User, member: Membership, rights: MemberRights) {
		const root = homeRoot(owner.username);
		this.#home = home;
		this.#folders = member.folders.map(({ path, itemId }) => ({ path: joinChecked(root, path), itemId }));
		this.#assertMayEdit = (path) => rights.assertMayEdit(owner, member, relativePath(path, root));
	}

	/** Whether any of them is below that path. */
	areBelow(path: StoragePath): boolean {
		return this.#folders.some((folder) => folder.path !== path && isWithin(folder.path, path));
	}

	/** Throws `notFound` for what lies elsewhere, and for all in a folder that is not where it was. The trash is reached by ids alone. */
	async assertInside(path: StoragePath): Promise<void> {
		if (isWithin(path, trashFolder)) return;
		for (const folder of this.#folders) {
			if (!isWithin(path, folder.path)) continue;
			if (identityOf(await this.#home.stat(folder.path)) === folder.itemId) return;
		}
		throw notFound();
	}

	/** Throws what `assertInside` throws, and `forbidden` where the member may not change it now. */
	async assertMayChange(path: StoragePath): Promise<void> {
		if (isWithin(path, trashFolder)) return;
		await this.assertInside(path);
		await this.#assertMayEdit(path);
	}
}
