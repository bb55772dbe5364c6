import { type LinkRecord, type LinkStore, Yielder } from '@stowage/plugin-api';
import { batchesOf, isWithin, joinChecked, relativePath, type StoragePath, utf8Length } from '@stowage/rules';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import { isTrashedLink } from '../trees/trash/trashPaths.js';
import { locateLink } from './locateLink.js';
import { PathSizes } from './PathRoom.js';

/** Items whose paths are written together at most, and characters of these. */
const writtenAtOnce = { items: 1_000, characters: 4_000_000 };

/** Characters of paths of linked items that a move keeps in memory. Further ones, of very many or very long paths, are read again. */
const keptCharacters = 4_000_000;

/** Items that are read at once by their ids: the paths of each may have 64,000 characters. */
const readAtOnce = 100;

/** Linked items by their ids, with their paths below an item that is moved; undefined for what is to be read again. */
type LinkedItems = ReadonlyMap<string, StoragePath | undefined>;

/** The paths of linked items, of which a user may have very many: they are read, planned and set a part after the other. */
export class LinkedPaths {
	readonly #links: LinkStore;
	readonly #storage: () => Pick<MountedStorage, 'open' | 'stat'>;

	constructor(links: LinkStore, storage: () => Pick<MountedStorage, 'open' | 'stat'>) {
		this.#links = links;
		this.#storage = storage;
	}

	/** The linked items at `source` or below. */
	async within(ownerId: string, source: StoragePath): Promise<LinkedItems> {
		const linked = new Map<string, StoragePath | undefined>();
		const yielder = new Yielder();
		let characters = 0;
		await this.#links.eachWithin(ownerId, source, async (some) => {
			for (const link of some) {
				if (yielder.shouldYield) await yielder.yield();
				const path = await this.#currentPath(link);
				if (path === undefined || !isWithin(path, source)) continue;
				characters += path.length;
				linked.set(link.id, characters > keptCharacters ? undefined : relativePath(path, source));
			}
		});
		return linked;
	}

	/** Throws `invalidPath` for a target that is too long for one of the items. */
	async sizes(linked: LinkedItems, source: StoragePath, target: StoragePath): Promise<PathSizes> {
		const sizes = new PathSizes();
		const [from, to] = [utf8Length(source), utf8Length(target)];
		const yielder = new Yielder();
		for await (const [, inside] of this.#below(linked, source, (link) => this.#currentPath(link))) {
			if (yielder.shouldYield) await yielder.yield();
			joinChecked(target, inside);
			const below = inside === '' ? 0 : utf8Length(inside) + 1;
			sizes.add(to + below, from + below);
		}
		return sizes;
	}

	/** Calls `assertHeld` before each part: a plan that is written later would undo the one of whoever moves these items then. */
	planMoves(
		linked: LinkedItems,
		{ source, target }: { source: StoragePath; target: StoragePath },
		assertHeld: () => void,
	): Promise<void> {
		return inParts(
			this.#below(linked, source, (link) => this.#currentPath(link)),
			(inside) => {
				const item = { path: joinChecked(source, inside), nextPath: joinChecked(target, inside) };
				return { item, characters: item.path.length + item.nextPath.length };
			},
			async (part) => {
				assertHeld();
				await this.#links.planMoves(part);
			},
		);
	}

	/** Ends with the lease: what is planned is valid as well, and is completed by its next holder. */
	set(linked: LinkedItems, target: StoragePath, isHeld: () => boolean): Promise<void> {
		return inParts(
			this.#below(linked, target, async ({ nextPath }) => nextPath),
			(inside) => {
				const item = joinChecked(target, inside);
				return { item, characters: item.length };
			},
			async (part) => {
				if (isHeld()) await this.#links.setPaths(part);
			},
		);
	}

	/** Removes links whose items are missing: some of these may have been moved out in time. */
	async removeMissing(ids: readonly string[]): Promise<void> {
		const missing: string[] = [];
		const yielder = new Yielder();
		for await (const some of this.#read(ids))
			for (const link of some) {
				if (yielder.shouldYield) await yielder.yield();
				if ((await locateLink(this.#storage(), link)) === undefined) missing.push(link.id);
			}
		await this.#links.remove(missing);
	}

	/**
	 * Where they are after a move that has failed: what stays planned would show under its new path, and could not be
	 * bound to a new file.
	 */
	async settle(ids: readonly string[]): Promise<void> {
		const yielder = new Yielder();
		for await (const some of this.#read(ids)) {
			const places = new Map<string, StoragePath>();
			for (const link of some) {
				if (yielder.shouldYield) await yielder.yield();
				const located = await locateLink(this.#storage(), link);
				if (located !== undefined) places.set(link.id, located.path);
			}
			await this.#links.setPaths(places);
		}
	}

	/** Items that exist, a part after the other: together their paths may take hundreds of megabytes. */
	async *#read(ids: readonly string[]): AsyncGenerator<LinkRecord[]> {
		for (const part of batchesOf(ids, readAtOnce)) yield await this.#links.get(part);
	}

	/** The paths of linked items below `folder`. Those that are read again are where `pathOf` says; what has left the folder is no more. */
	async *#below(
		linked: LinkedItems,
		folder: StoragePath,
		pathOf: (link: LinkRecord) => Promise<StoragePath | undefined>,
	): AsyncGenerator<[id: string, inside: StoragePath]> {
		const unread: string[] = [];
		for (const [id, inside] of linked) {
			if (inside === undefined) unread.push(id);
			else yield [id, inside];
		}
		for await (const some of this.#read(unread))
			for (const link of some) {
				const path = await pathOf(link);
				if (path !== undefined && isWithin(path, folder)) yield [link.id, relativePath(path, folder)];
			}
	}

	async #currentPath(link: LinkRecord): Promise<StoragePath | undefined> {
		if (link.nextPath === undefined) return link.path;
		// One whose item is in neither place is in the trash, if it was to get there or to leave it.
		return (await locateLink(this.#storage(), link))?.path ?? [link.nextPath, link.path].find(isTrashedLink);
	}
}

/** Calls `use` with a part of the items after the other: as whole paths all of them can take hundreds of megabytes. */
async function inParts<T>(
	paths: AsyncIterable<[id: string, inside: StoragePath]>,
	itemOf: (inside: StoragePath) => { item: T; characters: number },
	use: (part: ReadonlyMap<string, T>) => Promise<void>,
): Promise<void> {
	const yielder = new Yielder();
	const part = new Map<string, T>();
	let sum = 0;
	for await (const [id, inside] of paths) {
		if (yielder.shouldYield) await yielder.yield();
		const { item, characters } = itemOf(inside);
		if (part.size === writtenAtOnce.items || (part.size > 0 && sum + characters > writtenAtOnce.characters)) {
			await use(part);
			part.clear();
			sum = 0;
		}
		part.set(id, item);
		sum += characters;
	}
	if (part.size > 0) await use(part);
}
