import { randomInt } from 'node:crypto';
import { type Files, type ItemRef, statIfPresent, type TakenItem, type WalkedItem } from '@stowage/plugin-api';
import {
	baseName,
	Failure,
	joinPath,
	pathDepth,
	pathSegments,
	rootPath,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
import { cannotCopyAll, TreeDigest } from '../trees/across/walkHome.js';
import { notFound } from '../trees/Tree.js';

/**
 * The digest of an item with all that is in it, as it is now: of paths, and of the versions of files. Throws `notFound` for
 * a missing item, and `conflict` for one with links and the like, which no copy would have.
 */
export async function digestOfItem(
	files: Pick<Files, 'stat' | 'listWithStats'>,
	viewer: Viewer,
	ref: ItemRef,
	signal?: AbortSignal,
): Promise<string> {
	const digest = new TreeDigest();
	const above = pathDepth(ref.path);
	/** What is above may be renamed meanwhile. */
	const relative = ({ path }: WalkedItem) => pathSegments(path).slice(above).join('/') as StoragePath;
	const folders: StoragePath[] = [];
	const add = (item: WalkedItem) => {
		digest.add(relative(item), item);
		if (item.type === 'directory') folders.push(item.path);
	};
	for await (const item of files.stat(viewer, ref.area, [ref])) add(item);
	for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
		signal?.throwIfAborted();
		for await (const { items, skipped } of files.listWithStats(viewer, { ...ref, path })) {
			if (skipped > 0) throw cannotCopyAll(ref.path);
			items.forEach(add);
		}
	}
	return digest.toString();
}

/** The digest of an item that has left its path, as `digestOfItem`. `path` is its former path, for messages. */
export async function digestOfTaken(
	{ item, list }: TakenItem,
	path: StoragePath,
	signal?: AbortSignal,
): Promise<string> {
	const digest = new TreeDigest();
	digest.add(rootPath, item);
	const folders = item.type === 'directory' ? [rootPath] : [];
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		signal?.throwIfAborted();
		for await (const { items, skipped } of list(folder)) {
			if (skipped > 0) throw cannotCopyAll(path);
			for (const each of items) {
				const inside = joinPath(folder, each.name);
				digest.add(inside, each);
				if (each.type === 'directory') folders.push(inside);
			}
		}
	}
	return digest.toString();
}

/** Times of some file systems are that coarse. */
const coarseMs = 2000;

/**
 * Whether a copy still has all of an item: every file and folder of it, and each file as it was. What was added to the copy since is no
 * fault. Throws `notFound` where one of the two is missing.
 */
export async function hasAllOf(
	files: Pick<Files, 'stat' | 'listWithStats'>,
	viewer: Viewer,
	{ original, copy }: { original: ItemRef; copy: ItemRef },
	signal?: AbortSignal,
): Promise<boolean> {
	const [item, copied] = [await statIfPresent(files, viewer, original), await statIfPresent(files, viewer, copy)];
	if (item === undefined || copied === undefined) throw notFound();
	if (!isAsCopied(item, copied)) return false;
	const folders: [StoragePath, StoragePath][] = item.type === 'directory' ? [[item.path, copied.path]] : [];
	for (let pair = folders.pop(); pair !== undefined; pair = folders.pop()) {
		signal?.throwIfAborted();
		const [from, to] = pair;
		const parts = new NameParts();
		do {
			const there = new Map<string, WalkedItem>();
			for await (const { items } of files.listWithStats(viewer, { ...copy, path: to })) {
				for (const each of items) if (parts.has(each.name)) there.set(each.name, each);
				while (there.size > maxHeld && parts.divide())
					for (const name of there.keys()) if (!parts.has(name)) there.delete(name);
			}
			for await (const { items } of files.listWithStats(viewer, { ...original, path: from })) {
				for (const each of items) {
					if (!parts.has(each.name)) continue;
					const other = there.get(each.name);
					if (other === undefined || !isAsCopied(each, other)) return false;
					if (each.type === 'directory') folders.push([each.path, other.path]);
				}
			}
			signal?.throwIfAborted();
		} while (parts.next());
	}
	return true;
}

/** Items of one folder that are held at once: a larger folder is listed once for each part of its names. */
const maxHeld = 20_000;
const maxParts = 64;

/** Names in parts of about the same size, one after the other. */
class NameParts {
	/** Chosen anew for each folder: names can't be made so that all are in one part. */
	readonly #seed = randomInt(2 ** 32);
	#count = 1;
	#part = 0;

	/** Whether a name is in the present part. */
	has(name: string): boolean {
		if (this.#count === 1) return true;
		let hash = this.#seed;
		for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
		return ((hash ^ (hash >>> 15)) >>> 0) % this.#count === this.#part;
	}

	/** Leaves half of the names of the first part in it. Returns false where there are as many as there may be. */
	divide(): boolean {
		if (this.#part > 0 || this.#count === maxParts) return false;
		this.#count *= 2;
		return true;
	}

	/** Goes on with the next part, if there is one. */
	next(): boolean {
		this.#part++;
		return this.#part < this.#count;
	}
}

function isAsCopied(one: WalkedItem, copy: WalkedItem): boolean {
	if (one.type !== copy.type) return false;
	return one.type === 'directory' || (one.size === copy.size && Math.abs(one.mtime - copy.mtime) <= coarseMs);
}

/** The failure of a move that copies: the copy would lack what was changed in the original meanwhile, so nothing is moved. */
export function changedMeanwhile(path: StoragePath): Failure {
	const sentence = `${baseName(path)} was changed while it was copied, and stays where it was.`;
	return new Failure('conflict', `${sentence} Move it again once nothing changes in it.`);
}

/** The failure of a move whose copy has its name already. */
export function changedAfterwards(path: StoragePath): Failure {
	const sentence = `${baseName(path)} was changed after it was copied, and stays where it was.`;
	return new Failure('conflict', `${sentence} The copy is kept too, without what was changed.`);
}

/** The failure of a move whose copy is not there any more as it was made. */
export function copyGone(path: StoragePath): Failure {
	const sentence = `${baseName(path)} stays where it was: its copy was deleted or changed before the original was to go.`;
	return new Failure('conflict', `${sentence} Move it again if you still want that.`);
}
