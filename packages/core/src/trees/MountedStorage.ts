import { createHash } from 'node:crypto';
import {
	type CommitOptions,
	type CopyOptions,
	type FolderListener,
	hasLocalFiles,
	hasReplace,
	hasSurvey,
	hasWatch,
	type MoveOptions,
	type NamingOptions,
	type OpenFile,
	type ReplacingStorage,
	type StagedFile,
	type StagingCutoffs,
	type StorageEntry,
	type StorageItem,
	type StorageProvider,
	type SurveyBatch,
	type SurveyingStorage,
	type Watch,
	type WatchingStorage,
} from '@stowage/plugin-api';
import {
	anonymousOwner,
	Failure,
	isFailure,
	joinPath,
	parsePath,
	pathSegments,
	type StoragePath,
} from '@stowage/rules';
import { type Crossing, commitAcross, publishedAcross } from './commitAcross.js';
import { copyAcross, discardAcross, sweepAcross } from './copyAcross.js';
import { itemsIn } from './itemsIn.js';
import { wrapStaged } from './metered.js';

/** A storage root with its place among the others. */
export interface Mount {
	/** The name the administrator gave it. */
	readonly name: string;
	/** Prefix of the ids of its items and staged files, so that no two roots have an id in common. Empty for the first root, whose ids are older than other roots. */
	readonly tag: string;
	readonly storage: StorageProvider;
}

/** Maps homes to roots. */
export interface Mounts {
	/** The root of the public trees without a user, and of homes without a record. */
	readonly default: Mount;
	all(): readonly Mount[];
	ofHome(username: string): Mount | Promise<Mount>;
	/** Records the root of a home that is being created, unless it is known. */
	assignHome(username: string): Promise<void>;
	/** Records that a home lies on the root of another one, whose name it will get. Does nothing if that one no longer exists. */
	assignHomeOfRename(username: string, newName: string): Promise<void>;
	/** Runs `work`, which changes a home. Throws `locked` while the home is frozen, as it moves to another root; a move waits for changes that began before. */
	changing<T>(username: string, work: () => Promise<T>): Promise<T>;
	/** Throws `locked` as soon as this process knows that a home is frozen: for long work that began before. */
	assertChangeable(username: string): void;
	/** Throws `conflict` while a home is being moved to another root. */
	assertNotMoving(username: string): Promise<void>;
	/** Names of the homes on a root, also while it is not available. */
	homesOn(mount: Mount): Promise<readonly string[]>;
}

/** The folder of all homes, which are on several roots. */
const homesFolder = parsePath('users');

/**
 * All storage roots as one: each home is on one of them, and everything without a user on the default one. A root that is not available affects its own part
 * and nothing else. A file is staged for a path, since it must lie on the disk that it will be published on.
 */
export class MountedStorage implements ReplacingStorage, SurveyingStorage, WatchingStorage {
	readonly #mounts: Mounts;

	constructor(mounts: Mounts) {
		this.#mounts = mounts;
	}

	get rootId(): string {
		return this.#mounts.default.storage.rootId;
	}

	/** The root that contains the path. */
	mountAt(path: StoragePath): Mount | Promise<Mount> {
		const home = homeAt(path);
		return home === undefined ? this.#mounts.default : this.#mounts.ofHome(home);
	}

	/** Runs work that depends on the root of a home and on the ids of its items: it is not moved meanwhile. Throws `locked` while it is. */
	changing<T>(path: StoragePath, work: () => Promise<T>): Promise<T> {
		const home = homeAt(path);
		return home === undefined ? work() : this.#mounts.changing(home, work);
	}

	/** Called before an account is renamed or removed. Throws `conflict` while its home is being moved to another root. */
	assertNotMoving(username: string): Promise<void> {
		return this.#mounts.assertNotMoving(username);
	}

	/** Called before a home is made. */
	assignHome(username: string): Promise<void> {
		return this.#mounts.assignHome(username);
	}

	/** Called before a home gets another name. */
	assignHomeOfRename(username: string, newName: string): Promise<void> {
		return this.#mounts.assignHomeOfRename(username, newName);
	}

	/** The root of this staged file or copy. Throws `notFound` for an unknown id. */
	#mountOf(id: string): Mount {
		const [tag] = splitId(id);
		const mount = this.#mounts.all().find((each) => each.tag === tag);
		if (mount === undefined) throw new Failure('notFound', 'That upload is not known.');
		return mount;
	}

	async *list(path: StoragePath): AsyncGenerator<StorageEntry[]> {
		if (path === homesFolder) yield* this.#homes();
		else yield* (await this.mountAt(path)).storage.list(path);
	}

	async count(path: StoragePath): Promise<number> {
		if (path !== homesFolder) return (await this.mountAt(path)).storage.count(path);
		let count = 0;
		for await (const batch of this.#homes()) count += batch.length;
		return count;
	}

	async *survey(path: StoragePath): AsyncGenerator<SurveyBatch> {
		const { storage, tag } = await this.mountAt(path);
		const batches = hasSurvey(storage) ? storage.survey(path) : itemsIn(storage, path);
		for await (const { items, skipped } of batches) {
			yield { items: tag === '' ? items : items.map((item) => tagged(item, tag)), skipped };
		}
	}

	async stat(path: StoragePath): Promise<StorageItem> {
		const { storage, tag } = await this.mountAt(path);
		return tagged(await storage.stat(path), tag);
	}

	async open(path: StoragePath): Promise<OpenFile> {
		const { storage, tag } = await this.mountAt(path);
		return taggedFile(await storage.open(path), tag);
	}

	async canReplace(path: StoragePath): Promise<boolean> {
		const { storage } = await this.mountAt(path);
		return hasReplace(storage) && (await storage.canReplace(path));
	}

	makeDirectory(path: StoragePath): Promise<StorageItem> {
		return this.changing(path, async () => {
			const { storage, tag } = await this.mountAt(path);
			return tagged(await storage.makeDirectory(path), tag);
		});
	}

	move(from: StoragePath, to: StoragePath, options?: MoveOptions): Promise<StorageItem> {
		const move = async () => {
			const [source, target] = await Promise.all([this.mountAt(from), this.mountAt(to)]);
			if (source !== target) throw new Failure('invalid', 'Items can’t be moved to a home on another disk.');
			await this.#assertReplaceable(to, options);
			return tagged(await source.storage.move(from, to, options), source.tag);
		};
		return this.changing(from, () => (homeAt(to) === homeAt(from) ? move() : this.changing(to, move)));
	}

	copy(from: StoragePath, to: StoragePath, options: CopyOptions = {}): Promise<StorageItem> {
		return this.changing(to, () => this.#copy(from, to, options));
	}

	async #copy(from: StoragePath, to: StoragePath, options: CopyOptions): Promise<StorageItem> {
		await this.#assertReplaceable(to, options);
		const [source, target] = await Promise.all([this.mountAt(from), this.mountAt(to)]);
		const { staged, ...rest } = options;
		const home = homeAt(to);
		// A copy may take hours, for which no home stays frozen: it is interrupted, and a staged one continues afterwards.
		const assertChangeable = () => {
			if (home !== undefined) this.#mounts.assertChangeable(home);
		};
		const targetOptions: CopyOptions = {
			...rest,
			async beforeItem(item) {
				assertChangeable();
				await rest.beforeItem?.(item);
			},
			async beforeBytes(bytes) {
				assertChangeable();
				await rest.beforeBytes?.(bytes);
			},
		};
		if (staged !== undefined) {
			const isElsewhere = staged.id !== undefined && splitId(staged.id)[0] !== target.tag;
			// Begun on the root that the home lay on before.
			if (isElsewhere && staged.id !== undefined) await this.discardCopy(staged.id).catch(ignoreMissing);
			targetOptions.staged = {
				id: staged.id === undefined || isElsewhere ? undefined : withoutTag(staged.id, target.tag),
				name: staged.name,
				onBegin: (id) => staged.onBegin(withTag(id, target.tag)),
			};
		}
		const made =
			source === target
				? source.storage.copy(from, to, targetOptions)
				: copyAcross(source.storage, from, target.storage, to, targetOptions);
		return tagged(await made, target.tag);
	}

	async discardCopy(id: string): Promise<void> {
		const { storage, tag } = this.#mountOf(id);
		const own = withoutTag(id, tag);
		if (!(await discardAcross(storage, own))) await storage.discardCopy(own);
	}

	remove(path: StoragePath): Promise<void> {
		return this.changing(path, async () => (await this.mountAt(path)).storage.remove(path));
	}

	removeEmptyFolder(path: StoragePath): Promise<void> {
		return this.changing(path, async () => (await this.mountAt(path)).storage.removeEmptyFolder(path));
	}

	/** `at` is where a new file shall go, the default root where it is left out. */
	async stage(id?: string, at: StoragePath = parsePath('')): Promise<StagedFile> {
		const { storage, tag } = id === undefined ? await this.mountAt(at) : this.#mountOf(id);
		const staged = await storage.stage(id === undefined ? undefined : withoutTag(id, tag));
		return this.#mountedFile(staged, storage, tag);
	}

	/** The name of the root that a staged file lies on; undefined where there is no such root any more. */
	rootOfStaged(id: string): string | undefined {
		const [tag] = splitId(id);
		return this.#mounts.all().find((mount) => mount.tag === tag)?.name;
	}

	async findPublished(id: string, path: StoragePath): Promise<StorageItem | undefined> {
		const target = await this.mountAt(path);
		const [tag] = splitId(id);
		if (tag === target.tag) {
			const item = await target.storage.findPublished(withoutTag(id, tag), path);
			return item && tagged(item, tag);
		}
		const source = this.#mounts.all().find((mount) => mount.tag === tag);
		const item = source && (await publishedAcross(this.#crossing(id, source.storage, target), path));
		return item && tagged(item, target.tag);
	}

	#crossing(id: string, source: StorageProvider, { storage }: Mount): Crossing {
		return { key: createHash('sha256').update(id).digest('hex'), source, target: storage };
	}

	/** Refuses early what the root itself would refuse, before bytes are copied between roots. */
	async #assertReplaceable(path: StoragePath, { onConflict = 'fail' }: NamingOptions = {}): Promise<void> {
		if (onConflict === 'fail') return;
		if (!(await this.canReplace(path)))
			throw new Failure('invalid', 'Files can’t be replaced in one step on this disk.');
		const found = await this.stat(path).catch(ignoreMissing);
		if (found !== undefined && found.version !== onConflict.replace) {
			throw new Failure('preconditionFailed', 'The file has changed.');
		}
	}

	/** Sweeps each root, also if another one is not available. */
	async sweepStaging(before: StagingCutoffs, isNeeded: (id: string) => Promise<boolean>): Promise<void> {
		const sweep = async ({ storage, tag }: Mount) => {
			const isOwnNeeded = (id: string) => isNeeded(withTag(id, tag));
			await storage.sweepStaging(before, isOwnNeeded);
			await sweepAcross(storage, before, isOwnNeeded);
		};
		const swept = await Promise.allSettled(this.#mounts.all().map(sweep));
		for (const outcome of swept) if (outcome.status === 'rejected') throw outcome.reason;
	}

	/** Of the default root. What may be written into a home is asked of its own root. */
	freeSpace(): Promise<number | undefined> {
		return this.#mounts.default.storage.freeSpace();
	}

	totalSpace(): Promise<number | undefined> {
		return this.#mounts.default.storage.totalSpace();
	}

	/** Undefined if the path is on another root than the first, which is the one that other programs get as a folder. */
	async localPath(path: StoragePath): Promise<string | undefined> {
		const { storage, tag } = await this.mountAt(path);
		return tag === '' && hasLocalFiles(storage) ? storage.localPath(path) : undefined;
	}

	async watch(path: StoragePath, listener: FolderListener): Promise<Watch | undefined> {
		if (path === homesFolder && this.#mounts.all().length > 1) return undefined;
		const { storage } = await this.mountAt(path);
		return hasWatch(storage) ? storage.watch(path, listener) : undefined;
	}

	async check(): Promise<void> {
		for (const { storage } of this.#mounts.all()) await storage.check();
	}

	async close(): Promise<void> {
		await Promise.all(this.#mounts.all().map(({ storage }) => storage.close()));
	}

	/** Homes as rows, those of an unavailable root as empty ones: their owners still exist. */
	async *#homes(): AsyncGenerator<StorageEntry[]> {
		const all = this.#mounts.all();
		for (const mount of all) {
			try {
				for await (const batch of mount.storage.list(homesFolder)) yield await this.#homesOf(mount, batch);
			} catch (error) {
				if (isFailure(error, 'notFound') && all.length > 1) continue;
				if (!isFailure(error, 'unavailable') || all.length === 1) throw error;
				yield (await this.#mounts.homesOn(mount)).map((name) => ({ name, type: 'directory', size: 0, mtime: 0 }));
			}
		}
	}

	/** The homes that are used on this root, without the former trees of homes on other roots. */
	async #homesOf(mount: Mount, homes: StorageEntry[]): Promise<StorageEntry[]> {
		if (this.#mounts.all().length === 1) return homes;
		const mounts = await Promise.all(homes.map(({ name }) => this.mountAt(joinPath(homesFolder, name))));
		return homes.filter((_, index) => mounts[index] === mount);
	}

	#mountedFile(staged: StagedFile, storage: StorageProvider, tag: string): StagedFile {
		return wrapStaged(staged, (own) => {
			const id = withTag(own.id, tag);
			return { id, commit: (path, options) => this.#commit({ own, id, storage }, path, options) };
		});
	}

	#commit({ own, id, storage }: Staged, path: StoragePath, options?: CommitOptions): Promise<StorageItem> {
		return this.changing(path, async () => {
			// Before it leaves the staging of its own root.
			await this.#assertReplaceable(path, options);
			const target = await this.mountAt(path);
			const item =
				target.storage === storage
					? await own.commit(path, options)
					: await commitAcross(own, this.#crossing(id, storage, target), path, options);
			return tagged(item, target.tag);
		});
	}
}

/** A staged file as its root has it, with the id that it has among all roots. */
interface Staged {
	own: StagedFile;
	id: string;
	storage: StorageProvider;
}

/** The owner of the home that a path is in, or is. */
function homeAt(path: StoragePath): string | undefined {
	const [first, home] = pathSegments(path);
	return first === homesFolder && home !== anonymousOwner ? home : undefined;
}

function ignoreMissing(error: unknown): void {
	if (!isFailure(error, 'notFound')) throw error;
}

/** A character that no id of a storage may contain. */
const separator = '~';

/** The external id of an item on a root. */
export function withTag(id: string, tag: string): string {
	return tag === '' ? id : `${tag}${separator}${id}`;
}

function withoutTag(id: string, tag: string): string {
	return tag === '' ? id : id.slice(tag.length + separator.length);
}

/** The tag of an id, empty for the first root's. */
function splitId(id: string): [tag: string, id: string] {
	const at = id.indexOf(separator);
	return at === -1 ? ['', id] : [id.slice(0, at), id.slice(at + separator.length)];
}

export function tagged(item: StorageItem, tag: string): StorageItem {
	return tag === '' ? item : { ...item, id: withTag(item.id, tag) };
}

function taggedFile(file: OpenFile, tag: string): OpenFile {
	if (tag === '') return file;
	const { readInto, withLocalFile } = file;
	return {
		item: tagged(file.item, tag),
		read: (range) => file.read(range),
		...(readInto === undefined ? {} : { readInto: readInto.bind(file) }),
		...(withLocalFile === undefined ? {} : { withLocalFile: (use) => withLocalFile.call(file, use) as never }),
		isChanged: () => file.isChanged(),
		close: () => file.close(),
	};
}
