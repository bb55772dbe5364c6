import { createHash } from 'node:crypto';
import type { LinkRecord, LinkStore, OpenFile, StorageProvider } from '@stowage/plugin-api';
import { homeRoot, isFailure, joinPath, type StoragePath, undefinedIf } from '@stowage/rules';
import { identityOf } from '../trees/identity.js';
import { isPublicPath, locateLink } from './locateLink.js';

/** The SHA-256 of a file's bytes, by its path in the storage. */
export interface FileHash {
	path: StoragePath;
	size: number;
	sha256: string;
}

/** Is told of a file or folder that can't be read. */
type OnUnreadable = (path: StoragePath) => void;

/**
 * Hashes a file, or each file in a folder and below. Files that vanish before they are read are left out, and so is what can't be read, such
 * as what another program has closed to the server, or what lies on a disk that is away: `onUnreadable` is told of that.
 */
export async function* hashFiles(
	storage: StorageProvider,
	path: StoragePath,
	onUnreadable: OnUnreadable = () => undefined,
): AsyncGenerator<FileHash> {
	const folders = [path];
	// Where this fails, so does reading it as a folder.
	const item = await storage.stat(path).catch(unlessFailure);
	if (item?.type === 'file') {
		const hash = await hashFile(storage, path, onUnreadable);
		if (hash !== undefined) yield hash.hash;
		return;
	}
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		const names: { name: string; type: string }[] = [];
		try {
			for await (const batch of storage.list(folder)) names.push(...batch);
		} catch (error) {
			unlessFailure(error);
			if (!isFailure(error, 'notFound')) onUnreadable(folder);
		}
		for (const { name, type } of names) {
			const inner = joinPath(folder, name);
			if (type === 'directory') folders.push(inner);
			else {
				const hash = await hashFile(storage, inner, onUnreadable);
				if (hash !== undefined) yield hash.hash;
			}
		}
	}
}

/** Undefined for an expected refusal. Throws any other error. */
function unlessFailure(error: unknown): undefined {
	if (!isFailure(error)) throw error;
}

/** With the id of the very item that was read. */
async function hashFile(
	storage: StorageProvider,
	path: StoragePath,
	onUnreadable: OnUnreadable,
): Promise<{ hash: FileHash; identity: string } | undefined> {
	let file: OpenFile | undefined;
	try {
		file = await storage.open(path);
		const hash = createHash('sha256');
		for await (const chunk of file.read()) hash.update(chunk);
		if (await file.isChanged()) return undefined;
		const { size } = file.item;
		return { hash: { path, size, sha256: hash.digest('hex') }, identity: identityOf(file.item) };
	} catch (error) {
		unlessFailure(error);
		// It is gone, or has changed while it was read.
		if (!isFailure(error, 'notFound') && !isFailure(error, 'conflict')) onUnreadable(path);
		return undefined;
	} finally {
		await file?.close();
	}
}

/** A link as it was when hashes were made. */
export type KnownLink = Pick<LinkRecord, 'id' | 'path' | 'itemId'>;

/** `unavailable`: its disk is away. */
export type Relinked = 'bound' | 'held' | 'differs' | 'unknown' | 'unavailable';

/**
 * Binds a link again to the item at its path, after files were restored by other means and are new objects. It is bound only if link and
 * path are those of before, and the bytes are, in a folder those of most files: another file or folder under an old
 * name is never served. The object that is bound is the one whose bytes were read.
 */
export async function relink(link: LinkRecord, before: Before, stores: Stores): Promise<Relinked> {
	try {
		return await relinkReadable(link, before, stores);
	} catch (error) {
		// Those of other disks are bound all the same.
		if (isFailure(error, 'unavailable')) return 'unavailable';
		throw error;
	}
}

interface Before {
	link: KnownLink | undefined;
	hashes: ReadonlyMap<StoragePath, string>;
}

interface Stores {
	links: LinkStore;
	storage: StorageProvider;
}

async function relinkReadable(link: LinkRecord, before: Before, { links, storage }: Stores): Promise<Relinked> {
	if ((await locateLink(storage, link)) !== undefined) return 'held';
	const known = before.link;
	if (known === undefined || known.path !== link.path || known.itemId !== link.itemId) return 'unknown';
	if (link.nextPath !== undefined || isPublicPath(link.path)) return 'unknown';
	const identity = await sameItem(storage, joinPath(homeRoot(link.owner.username), link.path), before.hashes);
	if (identity === undefined) return 'differs';
	return (await links.rebind(link.id, link.itemId, identity)) ? 'bound' : 'unknown';
}

/** The identity of the item at the path if it is the one of before: a file by its bytes, a folder by those of most of its files. */
async function sameItem(
	storage: StorageProvider,
	path: StoragePath,
	hashes: ReadonlyMap<StoragePath, string>,
): Promise<string | undefined> {
	const item = await undefinedIf(storage.stat(path), 'notFound', 'forbidden');
	if (item?.type === 'file') {
		const read = await hashFile(storage, path, () => undefined);
		return read !== undefined && hashes.get(path) === read.hash.sha256 ? read.identity : undefined;
	}
	if (item === undefined || !(await isSameFolder(storage, path, hashes))) return undefined;
	const again = await undefinedIf(storage.stat(path), 'notFound', 'forbidden');
	return again?.id === item.id ? identityOf(again) : undefined;
}

/**
 * Between a backup and the copy of the files people go on working, and a folder is shared with all that comes into it.
 * So most of its files make it the same one, whatever was added. One that had no files, as a share that has not
 * received anything yet, may have none now.
 */
async function isSameFolder(
	storage: StorageProvider,
	path: StoragePath,
	hashes: ReadonlyMap<StoragePath, string>,
): Promise<boolean> {
	const known = [...hashes.keys()].filter((each) => each.startsWith(`${path}/`)).length;
	let same = 0;
	for await (const { path: inner, sha256 } of hashFiles(storage, path)) {
		if (known === 0) return false;
		if (hashes.get(inner) === sha256) same++;
	}
	return known === 0 || same * 2 > known;
}
