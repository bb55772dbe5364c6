/** Who calls in the model: a user by name, or undefined for a visitor. */
export type Actor = string | undefined;
/** `FileModel` knows the first two, `MemberModel` all. */
export type Area = 'private' | 'public' | 'shared';
/** Undefined if the call names no owner. */
export type NamedOwner = string | null | undefined;

/** The expected answer of a call: its status and, if there is one, the path and kind of the entry. */
export interface Expected {
	status: number;
	entry?: { path: string; type: 'file' | 'directory' };
}

export interface ModelRow {
	path: string;
	type: 'file' | 'directory';
	size: number;
	owner?: string | null;
	count?: number;
	protected?: true;
	versions?: number;
	role?: Role;
}

export type Role = 'view' | 'edit';

/** A folder with members. */
export interface SharedFolder {
	owner: string;
	/** `since` orders the folders of each member. */
	members: Map<string, { role: Role; since: number }>;
}

/** What one deletion has put into the trash. */
export interface Trashed {
	/** In whose trash it is. */
	actor: string;
	/** The name of who has deleted it. */
	by: string;
	/** Below the storage root. */
	path: string;
	/** By their paths in it, '' for itself. */
	nodes: Map<string, string | null>;
	versions: Map<string, ModelVersion[]>;
	folders: Map<string, SharedFolder>;
	/** What the server answered. */
	id?: string;
}

/** A former content of a file. Its id is known once it was listed. */
export interface ModelVersion {
	actor: string;
	content: string;
	id?: string;
}

export const refused = (status: number): Expected => ({ status });

/**
 * The rules of the product about homes and public trees, implemented a second time and as plainly as possible: a table of
 * the paths below the storage root with the bytes of each file, null for a folder. It shares no code with the server.
 */
export class FileModel {
	readonly nodes = new Map<string, string | null>([
		['Public', null],
		['users', null],
		['users/anonymous', null],
		['users/anonymous/Public', null],
	]);

	/** The oldest first. */
	readonly trash: Trashed[] = [];

	/** Of each file by its path, the newest first. */
	readonly versions = new Map<string, ModelVersion[]>();

	/** Those with members, by their paths. */
	readonly folders = new Map<string, SharedFolder>();

	/** What a user is called. */
	nameOf(user: string): string {
		return user;
	}

	addUser(name: string): void {
		this.nodes.set(`users/${name}`, null);
		this.nodes.set(`users/${name}/Public`, null);
	}

	createFolder(actor: Actor, area: Area, directory: string, name: string): Expected {
		if (actor === undefined) return refused(401);
		if (!isValidName(name)) return refused(400);
		const parent = join(ownRoot(actor, area), directory);
		if (!this.isFolder(parent)) return refused(404);
		const path = join(parent, trim(name));
		if (this.nodes.has(path)) return refused(409);
		this.nodes.set(path, null);
		return this.#answer(actor, area, path);
	}

	rename(actor: Actor, area: Area, path: string, newName: string, owner: NamedOwner): Expected {
		const refusal = refuseWrite(actor, area, path, owner);
		if (refusal !== undefined || actor === undefined) return refused(refusal ?? 401);
		const from = join(ownRoot(actor, area), path);
		if (newName === base(path)) return this.nodes.has(from) ? this.#answer(actor, area, from) : refused(404);
		if (!isValidName(newName)) return refused(400);
		if (!this.nodes.has(from)) return refused(404);
		const to = join(parent(from), trim(newName));
		// With spaces around it, it is the same name.
		if (to !== from && this.nodes.has(to)) return refused(409);
		this.#move(from, to);
		return this.#answer(actor, area, to);
	}

	move(actor: Actor, area: Area, path: string, toPath: string, owner: NamedOwner): Expected {
		const refusal = refuseWrite(actor, area, path, owner);
		if (refusal !== undefined || actor === undefined) return refused(refusal ?? 401);
		if (parent(toPath) === parent(path) || isWithin(parent(toPath), path)) return refused(400);
		const root = ownRoot(actor, area);
		const from = join(root, path);
		return this.arrive(actor, area, from, toPath, (to) => this.#move(from, to));
	}

	copy(actor: Actor, fromArea: Area, path: string, area: Area, toPath: string, owner: NamedOwner): Expected {
		if (actor === undefined) return refused(401);
		const isForeign = owner !== undefined && owner !== actor;
		if (fromArea === 'private' && isForeign) return refused(403);
		if (fromArea === 'private' && path === 'Public') return refused(403);
		const target = join(ownRoot(actor, area), toPath);
		const isIntoItself = (place: string) => isWithin(parent(target), place);
		// An own item is refused by its path, whether it exists or not, as for a move.
		const isNamedOwn = fromArea === 'private' || owner === actor;
		if (isNamedOwn && isIntoItself(join(ownRoot(actor, fromArea), path))) return refused(400);
		const from = this.find(actor, fromArea, path, owner);
		if (from === undefined) return refused(404);
		if (isIntoItself(from)) return refused(400);
		return this.arrive(actor, area, from, toPath, (to) => this.copyTree(from, to));
	}

	remove(actor: Actor, area: Area, path: string, owner: NamedOwner): Expected {
		const refusal = refuseWrite(actor, area, path, owner);
		if (refusal !== undefined || actor === undefined) return refused(refusal ?? 401);
		const removed = join(ownRoot(actor, area), path);
		if (!this.nodes.has(removed)) return refused(404);
		const nodes = new Map(this.tree(removed).map((each) => [each.slice(removed.length), this.nodes.get(each) ?? null]));
		const versions = taken(this.versions, removed);
		const folders = taken(this.folders, removed);
		this.trash.push({ actor, by: this.nameOf(actor), path: removed, nodes, versions, folders });
		for (const each of this.tree(removed)) this.nodes.delete(each);
		return { status: 200 };
	}

	/** The answer for one item: the path that it got, or the code of the refusal. */
	restore(actor: Actor, item: Trashed): Expected & { restored?: string; failed?: string } {
		if (actor === undefined) return refused(401);
		if (actor !== item.actor || !this.trash.includes(item)) return { status: 200, failed: 'NOT_FOUND' };
		for (let each = parent(item.path); each !== ''; each = parent(each))
			if (this.nodes.has(each) && !this.isFolder(each)) return { status: 200, failed: 'ALREADY_EXISTS' };
		for (let each = parent(item.path); each !== ''; each = parent(each)) this.nodes.set(each, null);
		const type = item.nodes.get('') === null ? 'directory' : 'file';
		const to = this.freeName(parent(item.path), base(item.path), type);
		for (const [path, content] of item.nodes) this.nodes.set(to + path, content);
		for (const [path, versions] of item.versions) this.versions.set(to + path, versions);
		for (const [path, folder] of item.folders) this.folders.set(to + path, folder);
		this.trash.splice(this.trash.indexOf(item), 1);
		return { status: 200, restored: to.slice(`users/${actor}/`.length) };
	}

	purge(actor: Actor, item: Trashed): Expected {
		if (actor === undefined) return refused(401);
		if (actor !== item.actor || !this.trash.includes(item)) return refused(404);
		this.trash.splice(this.trash.indexOf(item), 1);
		return { status: 200 };
	}

	upload(actor: Actor, area: Area, directory: string, name: string, content: string): Expected {
		if (actor === undefined && area === 'private') return refused(401);
		if (!isValidName(name)) return refused(400);
		if (actor === undefined && directory !== '') return refused(403);
		const folder = join(ownRoot(actor ?? 'anonymous', area), directory);
		if (!this.isFolder(folder)) return refused(404);
		const path = this.freeName(folder, trim(name), 'file');
		this.nodes.set(path, content);
		return this.#answer(actor ?? 'anonymous', area, path);
	}

	/** An upload that replaces the file of its name: any, or with `ifMatch` one that is there, or an older version of it. */
	replace(
		actor: string,
		area: Area,
		directory: string,
		name: string,
		content: string,
		ifMatch?: '*' | '"older"',
	): Expected {
		if (!isValidName(name)) return refused(400);
		const folder = join(ownRoot(actor, area), directory);
		if (!this.isFolder(folder)) return refused(404);
		const path = join(folder, trim(name));
		if (path === `users/${actor}/Public`) return refused(403);
		const former = this.nodes.get(path);
		if (former === undefined && ifMatch !== undefined) return refused(412);
		if (former === null) return refused(409);
		if (ifMatch === '"older"') return refused(412);
		if (former !== undefined) this.versions.set(path, [{ actor, content: former }, ...this.versionsAt(path)]);
		this.nodes.set(path, content);
		return this.#answer(actor, area, path);
	}

	/** The bytes of each version, the newest first. */
	listVersions(actor: Actor, area: Area, path: string): Expected & { versions?: readonly ModelVersion[] } {
		const refusal = refuseWrite(actor, area, path, undefined);
		if (refusal !== undefined || actor === undefined) return refused(refusal ?? 401);
		const file = join(ownRoot(actor, area), path);
		return typeof this.nodes.get(file) === 'string' ? { status: 200, versions: this.versionsAt(file) } : refused(404);
	}

	downloadVersion(actor: Actor, area: Area, path: string, id: string): Expected & { content?: string } {
		const found = this.listVersions(actor, area, path);
		const content = found.versions?.find((each) => each.id === id)?.content;
		if (found.status !== 200) return { status: found.status };
		return content === undefined ? refused(404) : { status: 200, content };
	}

	restoreVersion(actor: Actor, area: Area, path: string, id: string): Expected {
		const found = this.downloadVersion(actor, area, path, id);
		if (found.content === undefined || actor === undefined) return { status: found.status };
		const file = join(ownRoot(actor, area), path);
		const others = this.versionsAt(file).filter((each) => each.id !== id);
		this.versions.set(file, [{ actor, content: this.nodes.get(file) ?? '' }, ...others]);
		this.nodes.set(file, found.content);
		return this.#answer(actor, area, file);
	}

	purgeVersion(actor: Actor, id: string): Expected {
		if (actor === undefined) return refused(401);
		const all = [...this.versions, ...this.trash.flatMap((item) => [...item.versions])];
		for (const [, versions] of all) {
			const at = versions.findIndex((each) => each.id === id && each.actor === actor);
			if (at === -1) continue;
			versions.splice(at, 1);
			return { status: 200 };
		}
		return refused(404);
	}

	versionsAt(path: string): ModelVersion[] {
		return this.versions.get(path) ?? [];
	}

	/** The bytes of a file; null for a folder, which is answered as a ZIP. */
	download(actor: Actor, area: Area, path: string, owner: NamedOwner): Expected & { content?: string | null } {
		if (area === 'private' && actor === undefined) return refused(401);
		if (area === 'private' && owner !== undefined && owner !== actor) return refused(404);
		const found = this.find(actor, area, path, owner);
		return found === undefined ? refused(404) : { status: 200, content: this.nodes.get(found) ?? null };
	}

	list(actor: Actor, area: Area, directory: string): Expected & { rows?: ModelRow[] } {
		if (area === 'private' && actor === undefined) return refused(401);
		const roots = this.#roots(actor, area).filter(([root]) => this.isFolder(join(root, directory)));
		if (roots.length === 0) return refused(404);
		const rows = roots.flatMap(([root, owner]) =>
			this.children(join(root, directory)).map((path) => this.#row(actor, path, root, owner)),
		);
		return { status: 200, rows };
	}

	search(actor: Actor, area: Area, directory: string, term: string): Expected & { rows?: ModelRow[] } {
		if (area === 'private' && actor === undefined) return refused(401);
		const roots = this.#roots(actor, area).filter(([root]) => this.isFolder(join(root, directory)));
		if (roots.length === 0) return refused(404);
		const rows = roots.flatMap(([root, owner]) =>
			this.tree(join(root, directory))
				.slice(1)
				.filter((path) => base(path).toLowerCase().includes(term.toLowerCase()))
				.map((path) => this.#row(actor, path, root, owner)),
		);
		return { status: 200, rows };
	}

	/** Every path that a call by this actor could mean, as the area has it. */
	paths(actor: Actor, area: Area): string[] {
		return this.#roots(actor, area).flatMap(([root]) =>
			this.tree(root)
				.slice(1)
				.map((path) => path.slice(root.length + 1)),
		);
	}

	protected arrive(actor: string, area: Area, from: string, toPath: string, place: (to: string) => void): Expected {
		const requested = base(toPath);
		if (requested !== base(from) && !isValidName(requested)) return refused(400);
		const content = this.nodes.get(from);
		if (content === undefined) return refused(404);
		const folder = join(ownRoot(actor, area), parent(toPath));
		const missing: string[] = [];
		for (let each = folder; each !== ''; each = parent(each)) if (!this.isFolder(each)) missing.unshift(each);
		// A new folder has a valid name, or that of a folder above the source.
		const mayBeCreated = (name: string) => (isValidName(name) && trim(name) === name) || from.split('/').includes(name);
		for (const each of missing) {
			if (!mayBeCreated(base(each))) return refused(400);
			if (this.nodes.has(each)) return refused(409);
		}
		for (const each of missing) this.nodes.set(each, null);
		const name = requested === base(from) ? requested : trim(requested);
		const to = this.freeName(folder, name, content === null ? 'directory' : 'file');
		place(to);
		return this.#answer(actor, area, to);
	}

	#move(from: string, to: string): void {
		const moved = this.tree(from).map((path) => [path, this.nodes.get(path) ?? null] as const);
		for (const [path] of moved) this.nodes.delete(path);
		for (const [path, content] of moved) this.nodes.set(to + path.slice(from.length), content);
		const versions = taken(this.versions, from);
		const folders = taken(this.folders, from);
		// What is made public leaves its former contents behind, and its members.
		if (isPublic(to) && !isPublic(from)) return;
		for (const [path, all] of versions) this.versions.set(to + path, all);
		for (const [path, folder] of folders) this.folders.set(to + path, folder);
	}

	/** The versions whose ids are known of files that an area shows its caller, by their paths there. */
	knownVersions(actor: Actor, area: Area): { path: string; id: string }[] {
		return this.paths(actor, area).flatMap((path) =>
			(this.listVersions(actor, area, path).versions ?? []).map(({ id }) => ({ path, id: id ?? '' })),
		);
	}

	protected copyTree(from: string, to: string): void {
		for (const path of this.tree(from)) this.nodes.set(to + path.slice(from.length), this.nodes.get(path) ?? null);
	}

	protected freeName(folder: string, name: string, type: 'file' | 'directory'): string {
		const dot = type === 'file' ? name.lastIndexOf('.') : -1;
		const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
		for (let n = 0; ; n++) {
			const path = join(folder, n === 0 ? name : `${stem} (${n})${extension}`);
			if (!this.isTaken(path)) return path;
		}
	}

	protected isTaken(path: string): boolean {
		return this.nodes.has(path);
	}

	/** The tree of a read: the named one, or the first visible one that has the path. */
	protected find(actor: Actor, area: Area, path: string, owner: NamedOwner): string | undefined {
		const roots =
			area === 'private' || owner === undefined
				? this.#roots(actor, area).map(([root]) => root)
				: [owner === null ? 'Public' : `users/${owner}/Public`];
		return roots.map((root) => join(root, path)).find((each) => this.nodes.has(each));
	}

	#roots(actor: Actor, area: Area): [root: string, owner: string | null | undefined][] {
		if (area === 'private') return actor === undefined ? [] : [[`users/${actor}`, undefined]];
		const own: [string, string][] = actor === undefined ? [] : [[`users/${actor}/Public`, actor]];
		return [...own, ['Public', null], ['users/anonymous/Public', 'anonymous']];
	}

	#row(actor: Actor, path: string, root: string, owner: string | null | undefined): ModelRow {
		const content = this.nodes.get(path) ?? null;
		const row: ModelRow = {
			path: path.slice(root.length + 1),
			type: content === null ? 'directory' : 'file',
			size: content?.length ?? 0,
		};
		if (owner !== undefined) row.owner = owner && this.nameOf(owner);
		if (content === null) row.count = this.children(path).length;
		const { length } = this.versionsAt(path);
		// Only one's own files show them.
		if (length > 0 && (owner === undefined || owner === actor)) row.versions = length;
		if (owner === undefined && row.path === 'Public') row.protected = true;
		return row;
	}

	#answer(actor: string, area: Area, path: string): Expected {
		const type = this.nodes.get(path) === null ? 'directory' : 'file';
		return { status: 200, entry: { path: path.slice(ownRoot(actor, area).length + 1), type } };
	}

	protected isFolder(path: string): boolean {
		return this.nodes.get(path) === null;
	}

	protected children(folder: string): string[] {
		return [...this.nodes.keys()].filter((path) => path.startsWith(`${folder}/`) && parent(path) === folder);
	}

	/** A path and all below it. */
	protected tree(path: string): string[] {
		return [path, ...[...this.nodes.keys()].filter((each) => each.startsWith(`${path}/`))];
	}
}

/** Takes what belongs to a path and all below it out of a map; by their paths in it, '' for itself. */
function taken<T>(of: Map<string, T>, path: string): Map<string, T> {
	const within = [...of].filter(([each]) => isWithin(each, path));
	for (const [each] of within) of.delete(each);
	return new Map(within.map(([each, value]) => [each.slice(path.length), value]));
}

/** The status with which a change is refused before the item is looked up. */
function refuseWrite(actor: Actor, area: Area, path: string, owner: NamedOwner): number | undefined {
	if (actor === undefined) return 401;
	if (owner !== undefined && owner !== actor) return 403;
	return area === 'private' && path === 'Public' ? 403 : undefined;
}

function ownRoot(actor: string, area: Area): string {
	return area === 'private' ? `users/${actor}` : `users/${actor}/Public`;
}

export function isValidName(name: string): boolean {
	return !['', '.', '..'].includes(trim(name)) && !/[<>:"/\\|?*\p{Cc}]/u.test(name);
}

export const isPublic = (path: string) => /^users\/[^/]+\/Public(\/|$)/.test(path);

export const trim = (name: string) => name.replaceAll(/^ +| +$/g, '');
export const base = (path: string) => path.slice(path.lastIndexOf('/') + 1);
export const parent = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
export const join = (...parts: string[]) => parts.filter((part) => part !== '').join('/');
export const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
