import { createHash } from 'node:crypto';
import { type Files, type Turn, type WalkedItem, Yielder } from '@stowage/plugin-api';
import {
	type Area,
	archiveNamer,
	baseName,
	type Chosen,
	Failure,
	type Owner,
	PathMap,
	parentPath,
	pathSegments,
	type StoragePath,
	utf8Length,
	type Viewer,
} from '@stowage/rules';
import { Manifest } from './Manifest.js';

/** The selected items, all in one area. A root is no item. */
export interface Selection {
	area: Area;
	items: readonly ChosenItem[];
}

/** A selection whose items are kept elsewhere. A list may be long, so it is read in the turn of the work that needs it. */
export interface KeptSelection {
	area: Area;
	readItems(turn: Turn, signal?: AbortSignal): Promise<readonly ChosenItem[]>;
}

export interface ChosenItem {
	path: StoragePath;
	owner?: Owner;
}

/** The content of an archive of a selection. */
export interface Contents {
	manifest: Manifest;
	/** The selected items, in the order of selection. */
	chosen: Chosen[];
	/** How many items were left out since they can't be read. */
	skipped: number;
	/** A fingerprint of the list of contents. */
	fingerprint: string;
}

interface Dependencies {
	files: Files;
	viewer: Viewer;
	area: Area;
	/** Called with a number of bytes before that memory is taken; throws to refuse it. */
	reserve(bytes: number): void;
	maxEntries: number;
	signal: AbortSignal | undefined;
	turn?: Turn;
}

/** Longest path that an archive can contain, without the slash of a folder. */
const maxNameBytes = 65_534;

/** An object for a chosen item, besides its path. */
const itemBytes = 300;

/** A folder above a chosen one, besides its name. */
const folderBytes = 300;

/** Bytes of text that are hashed at once. */
const hashBatchBytes = 16 * 1024;

/**
 * Stats each selected item as the viewer may see it, in the order of selection; duplicates, and items in another selected folder, are
 * left out. Throws `notFound` if any is not there.
 */
export async function statSelected(
	{ files, viewer, area, reserve, signal, turn }: Omit<Dependencies, 'maxEntries'>,
	chosen: readonly ChosenItem[],
): Promise<WalkedItem[]> {
	const items = new PathMap<WalkedItem>();
	const yielder = new Yielder(turn);
	const distinct = await withoutDuplicates(area, chosen, yielder, signal);
	for await (const item of files.stat(viewer, area, distinct, signal)) {
		if (yielder.shouldYield) await yielder.yield(signal);
		reserve(itemBytes + 2 * item.path.length);
		items.set(keyOf(item), item);
	}
	const folders = new ChosenFolders(reserve);
	for (const item of items.values()) {
		if (yielder.shouldYield) await yielder.yield(signal);
		if (item.type === 'directory') folders.add(item);
	}
	const kept: WalkedItem[] = [];
	for (const item of items.values()) {
		if (yielder.shouldYield) await yielder.yield(signal);
		if (!folders.contain(item)) kept.push(item);
	}
	return kept;
}

/** Lists the resolved items and all below them. An item has its own name in the archive, without the folders above it. */
export async function makeManifest(dependencies: Dependencies, items: readonly WalkedItem[]): Promise<Contents> {
	const { reserve, signal, turn } = dependencies;
	const manifest = new Manifest(reserve);
	const yielder = new Yielder(turn);
	let skipped = 0;
	for (const [top, item] of items.entries()) {
		if (yielder.shouldYield) await yielder.yield(signal);
		assertRoom(manifest, 1, dependencies);
		manifest.add(item, top);
		if (item.type === 'directory') skipped += await addBelow(dependencies, manifest, item, top, yielder);
	}
	manifest.name(await namesOf(items, yielder, signal));
	const { fingerprint, tooLong } = await finish(manifest, yielder, signal);
	manifest.drop(tooLong);
	return { manifest, chosen: [...items], skipped: skipped + tooLong.length, fingerprint };
}

/** Lists the items below a folder, those of a folder together and by name. Resolves to how many were left out. */
async function addBelow(
	dependencies: Dependencies,
	manifest: Manifest,
	{ owner }: WalkedItem,
	top: number,
	yielder: Yielder,
): Promise<number> {
	const { files, viewer, area, signal } = dependencies;
	let skipped = 0;
	const folders = [manifest.count - 1];
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		if (yielder.shouldYield) await yielder.yield(signal);
		signal?.throwIfAborted();
		const first = manifest.count;
		const { path } = manifest.entry(folder);
		for await (const batch of files.listWithStats(viewer, { area, path, ...ownedBy(owner) })) {
			signal?.throwIfAborted();
			if (yielder.shouldYield) await yielder.yield(signal);
			skipped += batch.skipped;
			assertRoom(manifest, batch.items.length, dependencies);
			for (const item of batch.items) manifest.add(item, top);
		}
		await manifest.sortFrom(first, yielder, signal);
		for (let index = manifest.count - 1; index >= first; index--) if (manifest.isFolder(index)) folders.push(index);
	}
	return skipped;
}

function assertRoom({ count }: Manifest, more: number, { maxEntries }: Dependencies): void {
	if (count + more > maxEntries) throw tooManyEntries(maxEntries);
}

function tooManyEntries(limit: number): Failure {
	const sentence = `This is too much for one ZIP: it can hold ${limit.toLocaleString('en-US')} files and folders at most.`;
	return new Failure('tooLarge', sentence);
}

/** Returns a function from a path in a selected item to its name in the archive. */
async function namesOf(
	items: readonly WalkedItem[],
	yielder: Yielder,
	signal: AbortSignal | undefined,
): Promise<(top: number, path: StoragePath) => string> {
	const nameNext = archiveNamer();
	/** Items that got another name because of a conflict. */
	const renamed = new Map<number, string>();
	for (const [top, item] of items.entries()) {
		if (yielder.shouldYield) await yielder.yield(signal);
		const name = nameNext(item);
		if (name !== baseName(item.path)) renamed.set(top, name);
	}
	return (top, path) => {
		const own = (items[top] as WalkedItem).path;
		const name = renamed.get(top);
		if (name !== undefined) return name + path.slice(own.length);
		const above = parentPath(own);
		return path.slice(above && above.length + 1);
	};
}

/** Hashes the whole list, and finds the items that an archive can't contain. */
async function finish(manifest: Manifest, yielder: Yielder, signal: AbortSignal | undefined) {
	const hash = createHash('sha256');
	const tooLong: number[] = [];
	let text = '';
	for (let index = 0; index < manifest.count; index++) {
		if (yielder.shouldYield) await yielder.yield(signal);
		const { name, type, size, mtime, contentKey } = manifest.entry(index);
		if (name.length * 3 > maxNameBytes && utf8Length(name) > maxNameBytes) {
			tooLong.push(index);
			continue;
		}
		text += `${type} ${size} ${mtime} ${contentKey}\0${name}\0`;
		if (text.length < hashBatchBytes) continue;
		hash.update(text);
		text = '';
	}
	return { fingerprint: hash.update(text).digest('base64url'), tooLong };
}

/** The owner has no meaning but in the public area, and a search in all trees is not the same as a name in one. */
const keyOf = ({ path, owner }: ChosenItem) => `${owner === undefined ? '' : `${owner ?? ''}/`}/${path}`;

async function withoutDuplicates(
	area: Area,
	chosen: readonly ChosenItem[],
	yielder: Yielder,
	signal: AbortSignal | undefined,
): Promise<Iterable<ChosenItem>> {
	const distinct = new PathMap<ChosenItem>();
	for (const { path, owner } of chosen) {
		if (yielder.shouldYield) await yielder.yield(signal);
		const item: ChosenItem = area === 'public' ? { path, ...ownedBy(owner) } : { path };
		const key = keyOf(item);
		if (!distinct.has(key)) distinct.set(key, item);
	}
	return distinct.values();
}

interface FolderNode {
	isChosen: boolean;
	readonly inside: Map<string, FolderNode>;
}

/**
 * The chosen folders, level by level: a folder may lie a thousand levels deep, and the path of each level, as a text, would take its
 * length once more.
 */
class ChosenFolders {
	readonly #trees = new Map<Owner | undefined, FolderNode>();

	constructor(readonly reserve: (bytes: number) => void) {}

	add({ path, owner }: ChosenItem): void {
		let node = this.#inside(this.#trees, owner, 0);
		for (const name of pathSegments(path)) node = this.#inside(node.inside, name, name.length);
		node.isChosen = true;
	}

	/** Whether an item lies in one of them. */
	contain({ path, owner }: ChosenItem): boolean {
		let node = this.#trees.get(owner);
		for (const name of pathSegments(parentPath(path))) {
			node = node?.inside.get(name);
			if (node === undefined) return false;
			if (node.isChosen) return true;
		}
		return false;
	}

	#inside<Key>(nodes: Map<Key, FolderNode>, key: Key, length: number): FolderNode {
		const known = nodes.get(key);
		if (known !== undefined) return known;
		this.reserve(folderBytes + 2 * length);
		const node = { isChosen: false, inside: new Map() };
		nodes.set(key, node);
		return node;
	}
}

export const ownedBy = (owner: Owner | undefined) => (owner === undefined ? {} : { owner });
