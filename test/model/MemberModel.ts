import {
	type Actor,
	type Area,
	base,
	type Expected,
	FileModel,
	isValidName,
	isWithin,
	join,
	type ModelRow,
	type ModelVersion,
	type NamedOwner,
	parent,
	type Role,
	refused,
	type SharedFolder,
	type Trashed,
	trim,
} from './FileModel.js';

/** What a path of the shared area means for a member. */
interface Place {
	/** Of the folder for this member. */
	name: string;
	owner: string;
	/** Below the storage root: of the folder and of the item. */
	root: string;
	path: string;
	role: Role;
}

/** A call that can't be done since it would give a name that the member may not change. */
class NotAllowed extends Error {}

const isRefused = (place: Place | Expected): place is Expected => 'status' in place;

/**
 * The same rules with members of folders, and accounts that are renamed and disabled. Users are called by their first
 * names; `nameOf` says what they are called now.
 */
export class MemberModel extends FileModel {
	readonly names = new Map<string, string>();
	readonly disabled = new Set<string>();
	#joined = 0;
	#acting: { member: string; owner: string } | undefined;

	override nameOf(user: string): string {
		return this.names.get(user) ?? user;
	}

	setMembers(actor: Actor, path: string, members: readonly (readonly [user: string, role: Role])[]): Expected {
		if (actor === undefined) return refused(401);
		if (path === 'Public' || path.startsWith('Public/')) return refused(400);
		const users = members.map(([user]) => user);
		for (const [n, user] of users.entries()) {
			if (!this.nodes.has(`users/${user}`)) return refused(404);
			if (user === actor || users.indexOf(user) < n) return refused(400);
		}
		const at = join(`users/${actor}`, path);
		if (!this.nodes.has(at)) return refused(404);
		if (!this.isFolder(at)) return refused(400);
		const before = this.folders.get(at)?.members;
		const since = ++this.#joined;
		const chosen = new Map(members.map(([user, role]) => [user, { role, since: before?.get(user)?.since ?? since }]));
		if (chosen.size === 0) this.folders.delete(at);
		else this.folders.set(at, { owner: actor, members: chosen });
		return { status: 200 };
	}

	listMembers(actor: Actor, area: Area, path: string): Expected & { members?: readonly string[] } {
		if (actor === undefined) return refused(401);
		const place = area === 'shared' ? this.#enter(actor, path, 'view') : { path: join(`users/${actor}`, path) };
		if ('status' in place) return place;
		if (!this.nodes.has(place.path)) return refused(404);
		if (!this.isFolder(place.path)) return refused(400);
		const members = [...(this.folders.get(place.path)?.members ?? [])];
		return { status: 200, members: members.map(([user, { role }]) => `${this.nameOf(user)} ${role}`).sort() };
	}

	leave(actor: Actor, name: string): Expected {
		if (actor === undefined) return refused(401);
		const found = this.namedFolders(actor).find((each) => each.name === name);
		if (found === undefined) return refused(404);
		const { members } = found.folder;
		members.delete(actor);
		if (members.size === 0) this.folders.delete(found.root);
		return { status: 200 };
	}

	/** The folders that are shared with a user. */
	namedFolders(user: string): { name: string; root: string; folder: SharedFolder; role: Role }[] {
		const joined = [...this.folders]
			.flatMap(([root, folder]) => {
				const own = folder.members.get(user);
				return own === undefined || this.disabled.has(folder.owner) ? [] : [{ root, folder, ...own }];
			})
			.sort((a, b) => a.since - b.since);
		const all = joined.map(({ root }) => base(root));
		const owners = new Set(joined.map(({ folder }) => this.nameOf(folder.owner)));
		const taken = new Set<string>();
		const numbers = new Map<string, number>();
		return joined.map(({ root, folder, role }) => {
			const own = base(root);
			const owner = this.nameOf(folder.owner);
			// A name such as 'A (ann)' is that of a folder of ann's, where she shares any.
			const [, said = ''] = / \((\w+)(?: [\d.]+)?\)$/.exec(own) ?? [];
			const isOfAnother = said !== owner && owners.has(said);
			if (!isOfAnother && all.filter((each) => each === own).length === 1) return { name: own, root, folder, role };
			const number = (numbers.get(`${own} ${owner}`) ?? 0) + 1;
			numbers.set(`${own} ${owner}`, number);
			let name = number === 1 ? `${own} (${owner})` : `${own} (${owner} ${number})`;
			for (let part = 2; taken.has(name) || all.includes(name); part++) name = `${own} (${owner} ${number}.${part})`;
			taken.add(name);
			return { name, root, folder, role };
		});
	}

	isFolderOf(user: Actor, path: string): boolean {
		return this.isFolder(join(`users/${user}`, path));
	}

	override createFolder(actor: Actor, area: Area, directory: string, name: string): Expected {
		if (area !== 'shared') return super.createFolder(actor, area, directory, name);
		return this.#inFolder(actor, directory, (owner, at) => super.createFolder(owner, 'private', at, name));
	}

	override upload(actor: Actor, area: Area, directory: string, name: string, content: string): Expected {
		if (area !== 'shared') return super.upload(actor, area, directory, name, content);
		return (
			this.#refuseName(actor, name) ??
			this.#inFolder(actor, directory, (owner, at) => super.upload(owner, 'private', at, name, content))
		);
	}

	override replace(...[actor, area, directory, name, content, ifMatch]: Parameters<FileModel['replace']>): Expected {
		if (area !== 'shared') return super.replace(actor, area, directory, name, content, ifMatch);
		return (
			this.#refuseName(actor, name) ??
			this.#inFolder(actor, directory, (owner, at) => super.replace(owner, 'private', at, name, content, ifMatch))
		);
	}

	override rename(actor: Actor, area: Area, path: string, newName: string, owner: NamedOwner): Expected {
		if (area !== 'shared') return super.rename(actor, area, path, newName, owner);
		const place = this.#take(actor, path, owner);
		if (isRefused(place)) return place;
		return this.#as(actor, place, (of, at) => {
			const isNew = newName !== base(path) && isValidName(newName);
			if (isNew) this.#assertName(join(`users/${of}`, parent(at), trim(newName)));
			return super.rename(of, 'private', at, newName, undefined);
		});
	}

	override move(actor: Actor, area: Area, path: string, toPath: string, owner: NamedOwner): Expected {
		if (area !== 'shared') return super.move(actor, area, path, toPath, owner);
		if (actor === undefined) return refused(401);
		if (parent(path) === '') return refused(403);
		if (parent(toPath) === parent(path) || isWithin(parent(toPath), path)) return refused(400);
		const from = this.#take(actor, path, owner);
		if (isRefused(from)) return from;
		const into = this.#target(actor, toPath);
		if (isRefused(into)) return into;
		return this.#as(actor, into, (of, at) => {
			if (of === from.owner) return super.move(of, 'private', inHome(from), at, undefined);
			const answer = this.arrive(of, 'private', from.path, at, (to) => this.copyTree(from.path, to));
			if (answer.status === 200) super.remove(from.owner, 'private', inHome(from), undefined);
			if (answer.status === 200) this.#deletedBy(actor);
			return answer;
		});
	}

	override copy(actor: Actor, fromArea: Area, path: string, area: Area, toPath: string, owner: NamedOwner): Expected {
		if (fromArea !== 'shared' && area !== 'shared') return super.copy(actor, fromArea, path, area, toPath, owner);
		if (actor === undefined) return refused(401);
		if (fromArea === 'private' && owner !== undefined && owner !== actor) return refused(403);
		if (fromArea === 'private' && path === 'Public') return refused(403);
		const from = fromArea === 'shared' ? this.#enter(actor, path, 'view', owner) : undefined;
		if (from !== undefined && isRefused(from)) return from;
		const into = area === 'shared' ? this.#target(actor, toPath) : undefined;
		if (into !== undefined && isRefused(into)) return into;
		const copyFrom = (to: string, toArea: Area, at: string): Expected => {
			if (from?.owner === to) return super.copy(to, 'private', inHome(from), toArea, at, undefined);
			const source = from === undefined ? this.find(actor, fromArea, path, owner) : from.path;
			if (source === undefined) return refused(404);
			return this.arrive(to, toArea, source, at, (target) => this.copyTree(source, target));
		};
		if (into === undefined) return copyFrom(actor, area, toPath);
		return this.#as(actor, into, (of, at) => copyFrom(of, 'private', at));
	}

	override remove(actor: Actor, area: Area, path: string, owner: NamedOwner): Expected {
		if (area !== 'shared') return super.remove(actor, area, path, owner);
		const place = this.#take(actor, path, owner);
		if (isRefused(place)) return place;
		const answer = super.remove(place.owner, 'private', inHome(place), undefined);
		if (answer.status === 200) this.#deletedBy(actor as string);
		return answer;
	}

	override restore(actor: Actor, item: Trashed): ReturnType<FileModel['restore']> {
		const isOfMember = actor !== undefined && item.actor !== actor && this.trash.includes(item);
		if (!isOfMember || item.by !== this.nameOf(actor)) return super.restore(actor, item);
		const [closest] = this.namedFolders(actor)
			.filter(({ root, folder }) => folder.owner === item.actor && root !== item.path && isWithin(item.path, root))
			.sort((a, b) => b.root.length - a.root.length);
		if (closest === undefined) return { status: 200, failed: 'NOT_FOUND' };
		const { name, root } = closest;
		if (this.#roleAt(actor, item.actor, item.path) !== 'edit') return { status: 200, failed: 'FORBIDDEN' };
		const answer = this.#acts(actor, item.actor, () => super.restore(item.actor, item));
		if (answer === undefined) return { status: 200, failed: 'FORBIDDEN' };
		const home = `users/${item.actor}`;
		const { restored } = answer;
		return restored === undefined ? answer : { ...answer, restored: name + join(home, restored).slice(root.length) };
	}

	override listVersions(actor: Actor, area: Area, path: string): Expected & { versions?: readonly ModelVersion[] } {
		if (area !== 'shared') return super.listVersions(actor, area, path);
		const place = this.#enter(actor, path, 'edit');
		return isRefused(place) ? place : super.listVersions(place.owner, 'private', inHome(place));
	}

	override restoreVersion(actor: Actor, area: Area, path: string, id: string): Expected {
		if (area !== 'shared') return super.restoreVersion(actor, area, path, id);
		if (actor === undefined) return refused(401);
		if (parent(path) === '') return refused(403);
		const place = this.#enter(actor, path, 'edit');
		if (isRefused(place)) return place;
		return this.#as(actor, place, (of, at) => super.restoreVersion(of, 'private', at, id));
	}

	override download(actor: Actor, area: Area, path: string, owner: NamedOwner): ReturnType<FileModel['download']> {
		if (area !== 'shared') return super.download(actor, area, path, owner);
		const place = this.#enter(actor, path, 'view', owner);
		return isRefused(place) ? place : super.download(place.owner, 'private', inHome(place), undefined);
	}

	override list(actor: Actor, area: Area, directory: string): ReturnType<FileModel['list']> {
		if (area !== 'shared') return super.list(actor, area, directory);
		if (actor === undefined) return refused(401);
		if (directory === '') return { status: 200, rows: this.#sharedRows(actor) };
		return this.#within(actor, directory, (owner, at) => super.list(owner, 'private', at));
	}

	override search(actor: Actor, area: Area, directory: string, term: string): ReturnType<FileModel['search']> {
		if (area !== 'shared') return super.search(actor, area, directory, term);
		if (actor === undefined) return refused(401);
		const within = (folder: string) =>
			this.#within(actor, folder, (owner, at) => super.search(owner, 'private', at, term));
		if (directory !== '') return within(directory);
		const folders = this.#sharedRows(actor);
		const known = this.namedFolders(actor);
		const isOutermost = (name: string) => {
			const own = known.find((each) => each.name === name);
			return !known.some(
				({ root, folder }) =>
					own !== undefined && folder.owner === own.folder.owner && root !== own.root && isWithin(own.root, root),
			);
		};
		const hits = folders
			.filter(({ path }) => isOutermost(path))
			.flatMap(({ path, role }) =>
				(within(path).rows ?? []).map((row): ModelRow => ({ ...(role && { role }), ...row })),
			);
		const named = folders.filter(({ path }) => path.toLowerCase().includes(term.toLowerCase()));
		return { status: 200, rows: [...named, ...hits] };
	}

	override paths(actor: Actor, area: Area): string[] {
		if (area !== 'shared') return super.paths(actor, area);
		if (actor === undefined) return [];
		return this.namedFolders(actor).flatMap(({ name, root }) =>
			this.tree(root).map((path) => name + path.slice(root.length)),
		);
	}

	protected override isTaken(path: string): boolean {
		this.#assertName(path);
		return super.isTaken(path);
	}

	#assertName(path: string): void {
		if (this.#acting === undefined) return;
		const { member, owner } = this.#acting;
		if (this.#roleAt(member, owner, path) !== 'edit') throw new NotAllowed();
	}

	/** Works in the home of an owner. Undefined where that would give a name that the member may not change. */
	#acts<T>(member: string, owner: string, work: () => T): T | undefined {
		this.#acting = { member, owner };
		try {
			return work();
		} catch (error) {
			if (!(error instanceof NotAllowed)) throw error;
			return undefined;
		} finally {
			this.#acting = undefined;
		}
	}

	/** The same, with the path of the answer as the member has it. */
	#as(actor: Actor, place: Place, work: (owner: string, at: string) => Expected): Expected {
		const answer = this.#acts(actor as string, place.owner, () => work(place.owner, inHome(place)));
		if (answer === undefined) return refused(403);
		if (answer.entry === undefined) return answer;
		return { ...answer, entry: { ...answer.entry, path: shown(place, answer.entry.path) } };
	}

	/** The name of a file is looked at before its folder. */
	#refuseName(actor: Actor, name: string): Expected | undefined {
		return actor === undefined || isValidName(name) ? undefined : refused(400);
	}

	#inFolder(actor: Actor, directory: string, work: (owner: string, at: string) => Expected): Expected {
		const folder = this.#enter(actor, directory, 'edit');
		return isRefused(folder) ? folder : this.#as(actor, folder, work);
	}

	#within(
		actor: string,
		directory: string,
		read: (owner: string, at: string) => ReturnType<FileModel['list']>,
	): ReturnType<FileModel['list']> {
		const place = this.#enter(actor, directory, 'view');
		if (isRefused(place)) return place;
		const answer = read(place.owner, inHome(place));
		const inner = this.namedFolders(actor).filter(
			({ root, folder }) => folder.owner === place.owner && root !== place.path && isWithin(root, place.path),
		);
		const roleOf = (path: string): Role => {
			if (inner.some(({ root, role }) => role === 'view' && isWithin(root, path))) return 'view';
			const [closest] = inner.filter(({ root }) => isWithin(path, root)).sort((a, b) => b.root.length - a.root.length);
			return closest?.role ?? place.role;
		};
		const rows = answer.rows?.map(({ versions, protected: _, ...row }): ModelRow => {
			const role = roleOf(join(`users/${place.owner}`, row.path));
			return {
				...row,
				path: shown(place, row.path),
				...(role === place.role ? {} : { role }),
				...(versions === undefined || role === 'view' ? {} : { versions }),
			};
		});
		return { ...answer, ...(rows && { rows }) };
	}

	#sharedRows(actor: string): ModelRow[] {
		return this.namedFolders(actor).map(({ name, root, folder, role }) => ({
			...{ path: name, type: 'directory', size: 0, owner: this.nameOf(folder.owner), role },
			count: this.children(root).length,
		}));
	}

	/** An item that is to leave its name. */
	#take(actor: Actor, path: string, owner: NamedOwner): Place | Expected {
		if (actor === undefined) return refused(401);
		if (parent(path) === '') return refused(403);
		const folder = this.#enter(actor, parent(path), 'edit');
		if (isRefused(folder)) return folder;
		const place = this.#enter(actor, path, 'edit', owner);
		if (isRefused(place)) return place;
		const isLocked = this.namedFolders(actor).some(
			({ root, folder: of, role }) => of.owner === place.owner && role === 'view' && isWithin(root, place.path),
		);
		return isLocked ? refused(403) : place;
	}

	/** A path that an item is to get. */
	#target(actor: string, path: string): Place | Expected {
		const place = this.#enter(actor, path, 'edit');
		if (isRefused(place)) return place;
		const folder = this.#enter(actor, parent(path), 'edit');
		return isRefused(folder) ? folder : place;
	}

	#enter(actor: Actor, path: string, needed: Role, owner?: NamedOwner): Place | Expected {
		if (actor === undefined) return refused(401);
		if (path === '') return refused(needed === 'edit' ? 403 : 404);
		const [first = ''] = path.split('/');
		const found = this.namedFolders(actor).find(({ name }) => name === first);
		if (found === undefined) return refused(404);
		const { name, root, folder } = found;
		if (owner !== undefined && owner !== folder.owner) return refused(404);
		const at = root + path.slice(first.length);
		const role = this.#roleAt(actor, folder.owner, at) ?? found.role;
		if (needed === 'edit' && role === 'view') return refused(403);
		return { name, owner: folder.owner, root, path: at, role };
	}

	/** The folder that is closest to an item counts. */
	#roleAt(user: string, owner: string, path: string): Role | undefined {
		const [closest] = this.namedFolders(user)
			.filter(({ root, folder }) => folder.owner === owner && isWithin(path, root))
			.sort((a, b) => b.root.length - a.root.length);
		return closest?.role;
	}

	#deletedBy(actor: string): void {
		const item = this.trash.at(-1);
		if (item !== undefined) item.by = this.nameOf(actor);
	}
}

const inHome = ({ owner, path }: Place): string => path.slice(`users/${owner}/`.length);

/** A path of the owner's home as the member has it. */
const shown = ({ name, owner, root }: Place, path: string): string =>
	name + join(`users/${owner}`, path).slice(root.length);
