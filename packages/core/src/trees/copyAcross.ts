import { randomBytes } from 'node:crypto';
import {
	type CopyOptions,
	hasAccess,
	hasFolderTimes,
	type MoveOptions,
	type StagingCutoffs,
	type StorageItem,
	type StorageProvider,
} from '@stowage/plugin-api';
import { Failure, isFailure, joinPath, parentPath, parsePath, type StoragePath } from '@stowage/rules';
import { ensureFolder } from './folders.js';
import { itemsIn } from './itemsIn.js';

/** The folder of incomplete copies: beside the visible trees, on the disk of the target. */
export const copiesFolder = parsePath('copies');

/** How the ids of copies between roots begin: of a folder its name in `copies` and, after it, the object that it is; of a file its staged file's. */
const treePrefix = 'tree.';
const filePrefix = 'file.';

/**
 * Copies a file or a whole folder to another root, where it appears complete or not at all. The modified times are kept, those of folders where the target can set
 * them. Continues a staged copy as `StorageProvider.copy` does, but restarts the file at which it was interrupted.
 */
export async function copyAcross(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	to: StoragePath,
	options: CopyOptions,
): Promise<StorageItem> {
	const item = await source.stat(from);
	if (item.type === 'directory' && (options.onConflict ?? 'fail') !== 'fail')
		throw new Failure('invalid', 'Only a file can take the place of a file.');
	return item.type === 'file'
		? copyFile(source, from, target, to, options)
		: copyTree(source, from, target, to, options);
}

/** Removes the files of such a copy. Returns false for the id of another kind of copy. */
export async function discardAcross(target: StorageProvider, id: string): Promise<boolean> {
	if (id.startsWith(filePrefix)) await (await target.stage(id.slice(filePrefix.length))).discard();
	else if (id.startsWith(treePrefix)) await target.remove(parseTreeId(id).folder).catch(ignoreMissing);
	else return false;
	return true;
}

/** Removes the folders of abandoned copies. */
export async function sweepAcross(
	target: StorageProvider,
	{ staged, copies }: StagingCutoffs,
	isNeeded: (id: string) => Promise<boolean>,
): Promise<void> {
	try {
		for await (const { items } of itemsIn(target, copiesFolder)) {
			for (const item of items) {
				const folder = joinPath(copiesFolder, item.name);
				// An upload that is being copied to another root waits for its client.
				const isOld = /^[0-9a-f]{64}$/.test(item.name)
					? item.mtime < staged
					: item.mtime < copies && !(await isNeeded(treeId(folder, item)));
				if (isOld) await target.remove(folder);
			}
		}
	} catch (error) {
		ignoreMissing(error);
	}
}

async function copyFile(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	to: StoragePath,
	{ staged: staging, otherNames = [], onConflict, beforeNaming, ...options }: CopyOptions,
): Promise<StorageItem> {
	const earlier = staging?.id?.startsWith(filePrefix) ? staging.id.slice(filePrefix.length) : undefined;
	if (earlier !== undefined) {
		const published = await findPublished(target, earlier, to, staging?.name);
		if (published !== undefined) return published;
	}
	const staged = await target.stage();
	try {
		await staging?.onBegin(`${filePrefix}${staged.id}`);
		const file = await source.open(from);
		try {
			await options.beforeItem?.(file.item);
			await staged.append(bytesOf(file.read(), options), 0);
			options.signal?.throwIfAborted();
			return await staged.commit(to, { otherNames, onConflict, beforeNaming, mtime: file.item.mtime });
		} finally {
			await file.close();
		}
	} catch (error) {
		if (staging === undefined) await staged.discard();
		throw error;
	}
}

/** Finds the entry that an earlier run published without recording it; else removes its files. */
async function findPublished(
	target: StorageProvider,
	id: string,
	to: StoragePath,
	name: string | undefined,
): Promise<StorageItem | undefined> {
	try {
		await (await target.stage(id)).discard();
	} catch (error) {
		ignoreMissing(error);
	}
	for (const path of pathsOf(to, name)) {
		const item = await target.findPublished(id, path);
		if (item !== undefined) return item;
	}
	return undefined;
}

async function copyTree(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	to: StoragePath,
	{ staged, otherNames = [], beforeNaming, ...options }: CopyOptions,
): Promise<StorageItem> {
	const published = staged?.id?.startsWith(treePrefix) ? await findTree(target, staged.id, to, staged.name) : undefined;
	if (published?.isDone) return published.item;
	const folder = published?.folder ?? newTree();
	try {
		if (published === undefined) await beginTree(target, folder, staged?.onBegin);
		if (hasAccess(target)) await target.inheritAccess(folder, parentPath(to));
		await copyContents(source, from, target, folder, options);
		const made = await target.move(folder, to, { otherNames, beforeNaming });
		// Not earlier: a copy that looks old is swept.
		const at = joinPath(parentPath(to), made.name);
		await copyFolderTime(source, from, target, at);
		return await target.stat(at);
	} catch (error) {
		if (staged === undefined) await target.remove(folder).catch(ignoreMissing);
		throw error;
	}
}

/** Where a further folder may grow. */
export function newTree(): StoragePath {
	return joinPath(copiesFolder, randomBytes(16).toString('hex'));
}

/** Creates the folder. Its id is what a sweep asks for. */
export async function beginTree(
	target: StorageProvider,
	folder: StoragePath,
	onBegin?: (id: string) => Promise<void>,
): Promise<void> {
	await ensureFolder(target, copiesFolder);
	const made = await target.makeDirectory(folder);
	await onBegin?.(treeId(folder, made));
}

type FoundTree = { isDone: true; item: StorageItem } | { isDone: false; folder: StoragePath };

/** The folder of a copy that was begun: in staging, or published under the name of the path or the name that was recorded before. */
export async function findTree(
	target: StorageProvider,
	id: string,
	to: StoragePath,
	name?: string,
): Promise<FoundTree | undefined> {
	const { folder, object } = parseTreeId(id);
	if ((await statIfPresent(target, folder))?.id === object) return { isDone: false, folder };
	for (const path of pathsOf(to, name)) {
		const item = await statIfPresent(target, path);
		if (item?.id === object) return { isDone: true, item };
	}
	return undefined;
}

function pathsOf(to: StoragePath, name: string | undefined): Iterable<StoragePath> {
	return new Set(name === undefined ? [to] : [joinPath(parentPath(to), name), to]);
}

interface ContentsOptions extends Omit<CopyOptions, 'staged' | keyof MoveOptions> {
	/** Whether the copies keep what other programs may do with them, as far as the target can. By default they have that of what is made there. */
	keepsAccess?: boolean;
}

/**
 * Copies the contents of the source to `folder`; existing files with the same size and time are complete, since each got its name only then. Files that vanish meanwhile are left out.
 */
export async function copyContents(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	folder: StoragePath,
	options: ContentsOptions,
): Promise<void> {
	const there = new Map<string, StorageItem>();
	for await (const { items } of itemsIn(target, folder)) for (const item of items) there.set(item.name, item);
	for await (const { items } of itemsIn(source, from)) {
		for (const item of items) {
			options.signal?.throwIfAborted();
			const [path, copy] = [joinPath(from, item.name), joinPath(folder, item.name)];
			const known = there.get(item.name);
			there.delete(item.name);
			if (known !== undefined && !isSame(known, item)) await target.remove(copy);
			const isThere = known !== undefined && isSame(known, item);
			if (item.type === 'directory') {
				await options.beforeItem?.(item);
				if (!isThere) await target.makeDirectory(copy);
				await dropIfRemoved(source, path, target, copy, async () => {
					await copyContents(source, path, target, copy, options);
					if (options.keepsAccess) await copyAccess(source, path, target, copy);
					await copyFolderTime(source, path, target, copy);
				});
				continue;
			}
			if (isThere) {
				await options.beforeItem?.(item);
				options.afterBytes?.(item.size);
			}
			await dropIfRemoved(source, path, target, copy, async () => {
				if (!isThere) await copyFile(source, path, target, copy, options);
				if (options.keepsAccess) await copyAccess(source, path, target, copy);
			});
		}
	}
	for (const name of there.keys()) await target.remove(joinPath(folder, name));
}

/** Gives a copy what other programs may do with the original, as far as its storage can keep that. */
export async function copyAccess(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	copy: StoragePath,
): Promise<void> {
	if (hasAccess(source) && hasAccess(target)) await target.writeAccess(copy, await source.readAccess(from));
}

/** Called once all is in the folder, since each new name in it sets its time. */
export async function copyFolderTime(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	folder: StoragePath,
): Promise<void> {
	if (hasFolderTimes(target)) await target.setFolderTime(folder, (await source.stat(from)).mtime);
}

/** Undoes the part of `work` that has been done for a source that no longer exists. */
async function dropIfRemoved(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	copy: StoragePath,
	work: () => Promise<unknown>,
): Promise<void> {
	try {
		await work();
	} catch (error) {
		if (!isFailure(error, 'notFound') || (await statIfPresent(source, from)) !== undefined) throw error;
		await target.remove(copy).catch(ignoreMissing);
	}
}

export function isSame(one: StorageItem, other: StorageItem): boolean {
	if (one.type !== other.type) return false;
	return one.type === 'directory' || (one.size === other.size && one.mtime === other.mtime);
}

async function* bytesOf(
	chunks: AsyncIterable<Uint8Array>,
	{ signal, beforeBytes, afterBytes }: CopyOptions,
): AsyncGenerator<Uint8Array> {
	for await (const chunk of chunks) {
		signal?.throwIfAborted();
		await beforeBytes?.(chunk.length);
		// The reader uses its memory again, and the writer may still need it.
		yield Buffer.from(chunk);
		afterBytes?.(chunk.length);
	}
}

/** The id of a tree that grows, or was set aside, in `folder`. */
export function treeId(folder: StoragePath, { id }: StorageItem): string {
	return `${treePrefix}${folder.slice(copiesFolder.length + 1)}.${id}`;
}

function parseTreeId(id: string): { folder: StoragePath; object: string } {
	const [, name, object] = /^tree\.([0-9a-f]{32})\.(.+)$/.exec(id) ?? [];
	if (name === undefined || object === undefined) throw new Failure('notFound', 'That copy is not known.');
	return { folder: joinPath(copiesFolder, name), object };
}

async function statIfPresent(storage: StorageProvider, path: StoragePath): Promise<StorageItem | undefined> {
	try {
		return await storage.stat(path);
	} catch (error) {
		ignoreMissing(error);
		return undefined;
	}
}

function ignoreMissing(error: unknown): void {
	if (!isFailure(error, 'notFound')) throw error;
}
