import { randomBytes } from 'node:crypto';
import {
	hasClock,
	hasFolderTimes,
	type StagingCutoffs,
	type StorageItem,
	type StorageProvider,
} from '@stowage/plugin-api';
import { Failure, isFailure, joinPath, parentPath, parsePath, type StoragePath, undefinedIf } from '@stowage/rules';
import { ensureFolder } from '../storage/folders.js';
import { ignoreMissing } from '../storage/Mounts.js';
import { itemsIn } from './itemsIn.js';

/** The folder of incomplete copies: beside the visible trees, on the disk of the target. */
export const copiesFolder = parsePath('copies');

/**
 * How the ids of copies between roots begin: of a folder its name in `copies` and, after it, the object that it is; of
 * a file its staged file's.
 */
export const treePrefix = 'tree.';
export const filePrefix = 'file.';

/** Removes the files of a copy between roots. Returns false for the id of another kind of copy. */
export async function discardAcross(target: StorageProvider, id: string): Promise<boolean> {
	if (id.startsWith(filePrefix)) await (await target.stage(id.slice(filePrefix.length))).discard();
	else if (id.startsWith(treePrefix)) await target.remove(parseTreeId(id).folder).catch(ignoreMissing);
	else return false;
	return true;
}

export interface SweepCutoffs extends StagingCutoffs {
	/** Uploads that are copied to another root are removed if older. They may wait for their client as long as other uploads. */
	uploadCopies: number;
}

/** Those cutoffs, and the moment at which they were calculated, by the same clock: undefined for that of the root itself. */
export interface TimedCutoffs extends SweepCutoffs {
	now?: number;
}

/** The cutoffs by the clock of a root's modified times. */
export async function cutoffsOf(storage: StorageProvider, { now, ...cutoffs }: TimedCutoffs): Promise<SweepCutoffs> {
	if (now === undefined) return cutoffs;
	const { staged, copies, uploadCopies } = cutoffs;
	const ahead = (await timeOf(storage, now)) - now;
	return { staged: staged + ahead, copies: copies + ahead, uploadCopies: uploadCopies + ahead };
}

/** Whether a folder in `copies` is that of an upload on its way to another root, and not one of a copy. */
export function isCrossingName(name: string): boolean {
	return /^[0-9a-f]{64}$/.test(name);
}

/**
 * Removes the folders of abandoned copies. One that can't be removed, as with something mounted in it, holds up no other; then throws
 * that.
 */
export async function sweepAcross(
	target: StorageProvider,
	{ copies, uploadCopies }: SweepCutoffs,
	isNeeded: (id: string) => Promise<boolean>,
): Promise<void> {
	let fault: { error: unknown } | undefined;
	try {
		for await (const { items } of itemsIn(target, copiesFolder)) {
			for (const item of items) {
				const folder = joinPath(copiesFolder, item.name);
				const isOld = isCrossingName(item.name)
					? item.mtime < uploadCopies
					: item.mtime < copies && !(await isNeeded(treeId(folder, item)));
				if (!isOld) continue;
				await target.remove(folder).catch((error: unknown) => {
					if (!isFailure(error, 'notFound')) fault ??= { error };
				});
			}
		}
	} catch (error) {
		ignoreMissing(error);
	}
	if (fault !== undefined) throw fault.error;
}

/** The path of a folder for a new copy, which is not made yet. */
export function newTree(): StoragePath {
	return joinPath(copiesFolder, randomBytes(16).toString('hex'));
}

/** Creates the folder. `onBegin` gets the id of the copy, by which a sweep asks whether it is needed. */
export async function beginTree(
	target: StorageProvider,
	folder: StoragePath,
	onBegin?: (id: string) => Promise<void>,
): Promise<void> {
	await ensureFolder(target, copiesFolder);
	const made = await target.makeDirectory(folder);
	await onBegin?.(treeId(folder, made));
}

/**
 * The time by the clock that the modified times of a root are by: the disk's, where it can be asked, which may be far from those of this
 * machine and of the database. Else, also on a disk without room for a new file, the given one.
 */
export async function timeOf(storage: StorageProvider, otherwise: number): Promise<number> {
	if (!hasClock(storage)) return otherwise;
	try {
		return await storage.currentTime();
	} catch (error) {
		if (!isFailure(error, 'storageFull')) throw error;
		return otherwise;
	}
}

/** How often the folder of a copy without a checkpoint is touched: it is swept once it is an hour old. */
const touchMs = 5 * 60_000;

/**
 * Runs work in the folder of a copy that no checkpoint names. What is copied into a folder of it does not change its own time, so that it
 * would look abandoned.
 */
export async function whileTouched<T>(
	target: StorageProvider,
	folder: StoragePath,
	work: () => Promise<T>,
): Promise<T> {
	let touching: Promise<void> | undefined;
	const touch = async () => {
		// One that can't be touched now may be in five minutes, or its copy fails for the same reason.
		if (hasFolderTimes(target))
			await timeOf(target, Date.now())
				.then((time) => target.setFolderTime(folder, time))
				.catch(() => {});
		touching = undefined;
	};
	const timer = setInterval(() => {
		touching ??= touch();
	}, touchMs);
	try {
		return await work();
	} finally {
		clearInterval(timer);
		await touching;
	}
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
	if ((await undefinedIf(target.stat(folder), 'notFound'))?.id === object) return { isDone: false, folder };
	for (const path of pathsOf(to, name)) {
		const item = await undefinedIf(target.stat(path), 'notFound');
		if (item?.id === object) return { isDone: true, item };
	}
	return undefined;
}

/** Where a copy may have been published. */
export function pathsOf(to: StoragePath, name: string | undefined): Iterable<StoragePath> {
	return new Set(name === undefined ? [to] : [joinPath(parentPath(to), name), to]);
}

/** The id of a tree that grows, or was set aside, in `folder`. */
export function treeId(folder: StoragePath, { id }: StorageItem): string {
	return `${treePrefix}${folder.slice(copiesFolder.length + 1)}.${id}`;
}

function parseTreeId(id: string): { folder: StoragePath; object: string } {
	const [, name, object] = /^tree\.([0-9a-f]{32})\.(.+)$/s.exec(id) ?? [];
	if (name === undefined || object === undefined) throw new Failure('notFound', 'That copy is not known.');
	return { folder: joinPath(copiesFolder, name), object };
}
