import { addTo, isWithin, type MemberRole, type StoragePath } from '@stowage/rules';

/** The folders with members that lie in an item, where the role is their own. */
export class InnerRoles {
	readonly #item: StoragePath;
	readonly #roles = new Map<StoragePath, MemberRole>();
	/** The paths with roles by the child of this item that they lie in: a large listing asks for each child. */
	readonly #byChild = new Map<string, StoragePath[]>();

	constructor(item: StoragePath) {
		this.#item = item;
	}

	add(root: StoragePath, role: MemberRole): void {
		this.#roles.set(root, role);
		addTo(this.#byChild, this.#childOf(root), root);
	}

	/**
	 * What a member may do with what lies in the item, or is it: as little as with anything in that which is shared
	 * apart. `role` is theirs for the item.
	 */
	roleOf(path: StoragePath, role: MemberRole): MemberRole {
		if (this.#roles.size === 0) return role;
		const roots = path === this.#item ? [...this.#roles.keys()] : (this.#byChild.get(this.#childOf(path)) ?? []);
		let closest = { role, at: '' };
		for (const root of roots) {
			const own = this.#roles.get(root) ?? role;
			if (own === 'view' && isWithin(root, path)) return 'view';
			if (isWithin(path, root) && root.length >= closest.at.length) closest = { role: own, at: root };
		}
		return closest.role;
	}

	#childOf(path: StoragePath): string {
		const end = path.indexOf('/', this.#item.length + 1);
		return end === -1 ? path : path.slice(0, end);
	}
}
