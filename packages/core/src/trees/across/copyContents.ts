import {
	type CopyOptions,
	hasAccess,
	hasFolderTimes,
	type MoveOptions,
	type StorageItem,
	type StorageProvider,
} from '@stowage/plugin-api';
import {
	baseName,
	Failure,
	isFailure,
	joinPath,
	maxListedDepth,
	pathDepth,
	type StoragePath,
	tooDeepToCopy,
	undefinedIf,
} from '@stowage/rules';
import { assertReplaceable, ignoreMissing } from '../storage/Mounts.js';
import { filePrefix, pathsOf } from './copies.js';
import { itemsIn } from './itemsIn.js';

/** Copies a file to another root. A staged copy begins again, unless it was published. */
export async function copyFile(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	to: StoragePath,
	{ staged: staging, otherNames = [], onConflict, beforeNaming, ...options }: CopyOptions,
): Promise<StorageItem> {
	const earlier = staging?.id?.startsWith(filePrefix) ? staging.id.slice(filePrefix.length) : undefined;
	if (earlier !== undefined) {
		await discardStaged(target, earlier);
		const published = await findPublished(target, earlier, to, staging?.name);
		if (published !== undefined) return published;
	}
	await assertReplaceable({ storage: target }, to, { onConflict });
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

/** Discards a staged file; nothing is removed of one that was published. */
async function discardStaged(target: StorageProvider, id: string): Promise<void> {
	try {
		await (await target.stage(id)).discard();
	} catch (error) {
		ignoreMissing(error);
	}
}

/** Finds the entry that an earlier run published without recording it. */
export async function findPublished(
	target: StorageProvider,
	id: string,
	to: StoragePath,
	name: string | undefined,
): Promise<StorageItem | undefined> {
	for (const path of pathsOf(to, name)) {
		const item = await target.findPublished(id, path);
		if (item !== undefined) return item;
	}
	return undefined;
}

export interface ContentsOptions extends Omit<CopyOptions, 'staged' | keyof MoveOptions> {
	/**
	 * Whether the copies keep what other programs may do with them, as far as the target can. By default they have that
	 * of what is made there.
	 */
	keepsAccess?: boolean;
}

/** How often a folder is listed at most, while items in it vanish. */
const maxListings = 3;

/** How often an item is copied at most that vanishes and is back. */
const maxTries = 5;

/**
 * Copies the contents of the source to `folder`; existing files with the same size and time (`isSame`) are complete, since each
 * got its name only then. Items that vanish meanwhile are left out, but not those that only get another name in their folder.
 */
export async function copyContents(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	folder: StoragePath,
	options: ContentsOptions,
): Promise<void> {
	// What is in it is not listed, and whoever moves it removes the original.
	if (pathDepth(from) >= maxListedDepth) throw tooDeepToCopy();
	const there = new Map<string, StorageItem>();
	for await (const { items } of itemsIn(target, folder)) for (const item of items) there.set(item.name, item);
	const copied = new Set<string>();
	let isWhole = false;
	for (let listing = 0; !isWhole && listing < maxListings; listing++) {
		isWhole = true;
		for await (const { items } of itemsIn(source, from)) {
			for (const item of items) {
				if (copied.has(item.name)) continue;
				const [path, copy] = [joinPath(from, item.name), joinPath(folder, item.name)];
				const known = there.get(item.name);
				there.delete(item.name);
				if (await copyItem(source, path, item, target, copy, known, options)) copied.add(item.name);
				else isWhole = false;
			}
		}
	}
	for (const name of there.keys()) await target.remove(joinPath(folder, name));
}

/** Copies an item, of which the target has `known`. Resolves to false if it has vanished, and then nothing of it is left. */
async function copyItem(
	source: StorageProvider,
	path: StoragePath,
	item: StorageItem,
	target: StorageProvider,
	copy: StoragePath,
	known: StorageItem | undefined,
	options: ContentsOptions,
): Promise<boolean> {
	options.signal?.throwIfAborted();
	const isThere = known !== undefined && isSame(item, known);
	if (known !== undefined && !isThere) await target.remove(copy);
	if (item.type === 'directory') {
		await options.beforeItem?.(item);
		if (!isThere) await target.makeDirectory(copy);
		return dropIfRemoved(source, path, target, copy, async () => {
			await copyContents(source, path, target, copy, options);
			if (options.keepsAccess) await copyAccess(source, path, target, copy);
			await copyFolderTime(source, path, target, copy);
		});
	}
	if (isThere) {
		await options.beforeItem?.(item);
		options.afterBytes?.(item.size);
	}
	let isCopied = isThere;
	return dropIfRemoved(source, path, target, copy, async () => {
		if (!isCopied) await copyFile(source, path, target, copy, options);
		isCopied = true;
		if (options.keepsAccess) await copyAccess(source, path, target, copy);
	});
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

/**
 * Undoes the part of `work` that has been done for a source that no longer exists. Resolves to whether it does. One that is back under its
 * name is gone on with, by the same `work`.
 */
async function dropIfRemoved(
	source: StorageProvider,
	from: StoragePath,
	target: StorageProvider,
	copy: StoragePath,
	work: () => Promise<unknown>,
): Promise<boolean> {
	for (let tries = 1; ; tries++) {
		try {
			await work();
			return true;
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
			if ((await undefinedIf(source.stat(from), 'notFound')) === undefined) break;
			// Not `notFound`, for which each folder above would be tried again.
			if (tries === maxTries)
				throw new Failure('conflict', `${baseName(from)} was changed while it was copied.`, { cause: error });
		}
	}
	await target.remove(copy).catch(ignoreMissing);
	return false;
}

/**
 * Whether a copy is like its original in what a listing says: also where the disk of the copy keeps times less exactly. Whoever must know
 * it compares the bytes, too: a change within the same moment of such a disk is not seen here.
 */
export function isSame(item: StorageItem, copy: StorageItem): boolean {
	if (item.type !== copy.type) return false;
	return item.type === 'directory' || (item.size === copy.size && isSameTime(item.mtime, copy.mtime));
}

/** The steps in which disks keep times, in milliseconds: exFAT, then ext3 and ext4 with small inodes, then FAT. */
const timeSteps = [10, 1_000, 2_000];

function isSameTime(original: number, copy: number): boolean {
	return copy === original || timeSteps.some((step) => copy === Math.floor(original / step) * step);
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
