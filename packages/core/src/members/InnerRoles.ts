import { addTo, isWithin, type MemberRole, PathMap, type StoragePath } from '@stowage/rules';

interface InnerFolder {
	root: StoragePath;
	role: MemberRole;
}

/** The folders with members that lie in an item, where the role is their own. */
export class InnerRoles {
	readonly #item: StoragePath;
	readonly #folders = new PathMap<InnerFolder>();
	/** By the name of the child of this item that they lie in: a large listing asks for each child, of which the paths may be long. */
	readonly #byChild = new Map<string, InnerFolder[]>();

	constructor(item: StoragePath) {
		this.#item = item;
	}

	add(root: StoragePath, role: MemberRole): void {
		const known = this.#folders.get(root);
		if (known !== undefined) {
			known.role = role;
			return;
		}
		const folder = { root, role };
		this.#folders.set(root, folder);
		addTo(this.#byChild, this.#childOf(root), folder);
	}

	/**
	 * What a member may do with what lies in the item, or is it: as little as with anything in that which is shared
	 * apart. `role` is theirs for the item.
	 */
	roleOf(path: StoragePath, role: MemberRole): MemberRole {
		if (this.#folders.size === 0) return role;
		const folders = path === this.#item ? this.#folders.values() : (this.#byChild.get(this.#childOf(path)) ?? []);
		let closest = { role, at: '' };
		for (const { root, role: own } of folders) {
			if (own === 'view' && isWithin(root, path)) return 'view';
			if (isWithin(path, root) && root.length >= closest.at.length) closest = { role: own, at: root };
		}
		return closest.role;
	}

	#childOf(path: StoragePath): string {
		const start = this.#item === '' ? 0 : this.#item.length + 1;
		const end = path.indexOf('/', start);
		return path.slice(start, end === -1 ? undefined : end);
	}
}
