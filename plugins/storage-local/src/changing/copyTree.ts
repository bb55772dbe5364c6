import * as fs from 'node:fs';
import { type CopyOptions, forEachConcurrently } from '@stowage/plugin-api';
import { tooDeepToCopy } from '@stowage/rules';
import { AdaptiveBatch, statMany } from '../reading/statMany.js';
import type { Disk } from '../root/Disk.js';
import {
	closeSync,
	copyFile,
	fchmod,
	fstat,
	fstatSync,
	fsync,
	ftruncate,
	lstat,
	mkdir,
	open,
	readFully,
	setModified,
	writeFully,
} from '../system/descriptors.js';
import { type FileStat, toFileStat } from '../system/fileStat.js';
import { type Folder, openChild, readFileFlags } from '../system/openFolder.js';
import { addressableName, pathPart, type RawEntry, type RawName } from '../system/rawNames.js';
import { isSystemError } from '../system/systemErrors.js';
import { removeTree } from './removeTree.js';
import type { CopyPath, UnsyncedFiles } from './UnsyncedFiles.js';

/** Folders within each other that any copy may have open; only one copy at a time goes deeper. */
const maxOpenLevels = 64;

/** Files copied at once in one folder. */
const copyConcurrency = 8;

/** How often a folder is read at most, while items in it vanish. */
const maxReadings = 3;

/** Up to this size a file is copied by one call, which can't be interrupted. */
const smallFile = 8 * 1024 * 1024;
const pieceBytes = 16 * 1024 * 1024;
const chunkBytes = 1024 * 1024;

/** Times are set in whole microseconds, by Node. */
const timePrecisionNs = 1000n;

/** The clocks of a remote file system may differ by this much. */
const recentMs = 24 * 60 * 60 * 1000;

const { COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;

/** The context of a copy. */
export interface CopyDependencies {
	disk: Disk;
	options: CopyOptions;
	/** How many levels there may be in the copy. */
	maxLevels: number;
	/** Files that wait for their times to be set, if the copy may have to be continued. */
	unsynced?: UnsyncedFiles | undefined;
}

/** A folder to copy, and its copy, which is not visible yet. */
export interface FolderPair {
	from: Folder;
	to: Folder;
	/** The place of the copy, relative to the copied tree. */
	path: CopyPath;
	/** Whether the copy is certainly empty. */
	isNew: boolean;
}

/**
 * Copies the contents of a folder, and its time. Links and special files are left out, and so are items that vanish meanwhile, but not
 * those that only get another name in their folder.
 */
export async function copyContents(dependencies: CopyDependencies, pair: FolderPair): Promise<void> {
	const { disk } = dependencies;
	if (!pair.isNew) await dropVanished(disk, pair);
	let isWhole = await copyItems(dependencies, pair, async (batch) => batch);
	for (let reading = 1; !isWhole && reading < maxReadings; reading++) {
		// Opened again, since what is open was read to its end.
		using from = await openChild(pair.from, '.', 'read');
		isWhole = await copyItems(dependencies, { ...pair, from }, async (batch) => {
			const copies = await statAll(disk, pair.to, batch);
			return batch.filter(({ name }) => copies.get(name) === undefined);
		});
	}
	// Last, since each new name in a folder sets its time.
	await setModified(pair.to.fd, secondsOf((await fstat(pair.from.fd)).mtimeNs));
}

/** Copies those items of a folder that `choose` leaves of each batch. Resolves to false if some had vanished. */
async function copyItems(
	dependencies: CopyDependencies,
	pair: FolderPair,
	choose: (batch: RawEntry[]) => Promise<RawEntry[]>,
): Promise<boolean> {
	const { disk, options } = dependencies;
	let isWhole = true;
	for await (const names of disk.calls.readNames(pair.from)) {
		const batch = await choose(names);
		if (pair.path.length >= dependencies.maxLevels && batch.length > 0) throw tooDeepToCopy();
		const whole = pair.isNew ? undefined : await findComplete(disk, pair, batch);
		const folders: RawName[] = [];
		await forEachConcurrently(copyConcurrency, batch, async ({ name, type }: RawEntry) => {
			options.signal?.throwIfAborted();
			const size = whole?.get(name);
			if (size !== undefined) {
				await options.beforeItem?.({ type: 'file', size });
				options.afterBytes?.(size);
				return;
			}
			if (type === 'other') return;
			// An item of unknown type is checked when it is opened.
			const found = type === 'directory' ? 'folder' : await undefinedIfMissing(copyInside(dependencies, pair, name));
			if (found === 'folder') folders.push(name);
			if (found === undefined) isWhole = false;
		});
		// One after another: in parallel, a wide tree would have more folders open than a process may.
		for (const name of folders) {
			const copy = () => undefinedIfMissing(copyFolder(dependencies, pair, name));
			const copied = await (pair.path.length === maxOpenLevels ? exclusively(copy) : copy());
			if (copied === undefined) isWhole = false;
		}
	}
	return isWhole;
}

let lastDeepCopy: Promise<unknown> = Promise.resolve();

/** A mutex for copies that have thousands of folders open, so that the process has descriptors left for everything else. */
function exclusively<T>(work: () => Promise<T>): Promise<T> {
	const result = lastDeepCopy.then(work);
	lastDeepCopy = result.catch(() => {});
	return result;
}

async function copyFolder(dependencies: CopyDependencies, parent: FolderPair, name: RawName): Promise<'copied'> {
	using from = await openChild(parent.from, pathPart(name), 'read');
	await dependencies.options.beforeItem?.({ type: 'directory', size: 0 });
	const isNew = await makeFolder(dependencies.disk, parent, name);
	using to = await openChild(parent.to, pathPart(name), 'read');
	await copyContents(dependencies, { from, to, path: [...parent.path, name], isNew });
	return 'copied';
}

/** Resolves to false for one that is there from before. */
async function makeFolder(disk: Disk, { to }: FolderPair, name: RawName): Promise<boolean> {
	for (;;) {
		try {
			await mkdir(to.at(pathPart(name)));
			return true;
		} catch (error) {
			if (!isSystemError(error, 'EEXIST')) throw error;
		}
		if ((await statOne(to, name))?.type === 'directory') return false;
		await removeTree(disk, to, name);
	}
}

/** Removes items from a continued copy that the original no longer has, or has with another type. */
async function dropVanished(disk: Disk, { from, to }: FolderPair): Promise<void> {
	for await (const batch of disk.calls.readNames(to)) {
		const originals = await statAll(disk, from, batch);
		const copies = await statAll(disk, to, batch);
		const isVanished = ({ name }: RawEntry) => originals.get(name)?.type !== copies.get(name)?.type;
		await forEachConcurrently(copyConcurrency, batch.filter(isVanished), ({ name }) => removeTree(disk, to, name));
	}
}

/** The complete files of a continued copy, with their sizes. */
async function findComplete(
	disk: Disk,
	{ from, to }: FolderPair,
	batch: readonly RawEntry[],
): Promise<Map<RawName, number>> {
	const originals = await statAll(disk, from, batch);
	const copies = await statAll(disk, to, batch);
	const whole = new Map<RawName, number>();
	for (const { name } of batch) {
		const [original, copy] = [originals.get(name), copies.get(name)];
		if (original !== undefined && copy !== undefined && isComplete(copy, original)) whole.set(name, original.size);
	}
	return whole;
}

type Found = Pick<FileStat, 'type' | 'size' | 'mtimeNs'>;

/** The items of these names; undefined for a free one. */
async function statAll(
	disk: Disk,
	folder: Folder,
	batch: readonly RawEntry[],
): Promise<Map<RawName, Found | undefined>> {
	const found = new Map<RawName, Found | undefined>();
	const { statSync } = disk;
	const names = batch.map(({ name }) => name);
	// The fast call can't take names that are no valid text.
	const quick = statSync === undefined ? [] : names.filter((name) => addressableName(name) !== undefined);
	const sync = (name: string) => {
		found.set(name as RawName, statSync?.(folder, addressableName(name as RawName) ?? ''));
	};
	const async = async (name: string) => {
		found.set(name as RawName, await statOne(folder, name as RawName));
	};
	await statMany(quick, { sync, async }, new AdaptiveBatch());
	const slow = names.filter((name) => !found.has(name));
	await statMany(slow, { sync: undefined, async }, new AdaptiveBatch());
	return found;
}

async function statOne(folder: Folder, name: RawName): Promise<Found | undefined> {
	try {
		return toFileStat(await lstat(folder.at(pathPart(name)), { bigint: true }));
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return undefined;
		throw error;
	}
}

/** Copies a file with its time. Resolves to the actual type if it is no file, and then nothing was created. */
async function copyInside(
	dependencies: CopyDependencies,
	pair: FolderPair,
	name: RawName,
): Promise<'copied' | 'folder' | 'special'> {
	const { disk, options, unsynced } = dependencies;
	const source = await openSource(disk, pair.from, name);
	try {
		const stats = await statOpen(disk, source);
		if (!stats.isFile()) return stats.isDirectory() ? 'folder' : 'special';
		await options.beforeItem?.({ type: 'file', size: Number(stats.size) });
		if (!pair.isNew) await removeTree(disk, pair.to, name);
		const target = await open(pair.to.at(pathPart(name)), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o666);
		try {
			await copyBytes(dependencies, source, target, stats);
			if (unsynced === undefined) await setModified(target, secondsOf(stats.mtimeNs));
			else await setOtherTime(target, stats);
		} finally {
			closeSync(target);
		}
		await unsynced?.add(pair.path, { name, mtime: secondsOf(stats.mtimeNs) });
		return 'copied';
	} finally {
		closeSync(source);
	}
}

async function openSource(disk: Disk, folder: Folder, name: RawName): Promise<number> {
	const text = addressableName(name);
	const cached = text === undefined ? undefined : disk.openCached(folder, text, readFileFlags);
	return cached ?? (await open(folder.at(pathPart(name)), readFileFlags));
}

/** The stat of an open file; synchronous on this machine, where the kernel has it in memory. */
async function statOpen(disk: Disk, fd: number): Promise<fs.BigIntStats> {
	return disk.isLocal ? fstatSync(fd, { bigint: true }) : await fstat(fd);
}

/** Copies a file into an open one that may contain a part of it already, and syncs it. */
export async function copySingleFile(dependencies: CopyDependencies, source: number, target: number): Promise<void> {
	const { disk, options } = dependencies;
	const stats = await statOpen(disk, source);
	// A small file is sooner copied again than synced twice.
	if (options.staged !== undefined && stats.size > smallFile) {
		if (isComplete(toFileStat(await fstat(target)), toFileStat(stats))) return options.afterBytes?.(Number(stats.size));
		await ftruncate(target, 0);
		await copyBytes(dependencies, source, target, stats);
		await setOtherTime(target, stats);
		await fsync(target);
	} else {
		await ftruncate(target, 0);
		await copyBytes(dependencies, source, target, stats);
	}
	await setModified(target, secondsOf(stats.mtimeNs));
	await fsync(target);
}

/** Whether a file has all of its original, which it proves by its time: it gets that only when its bytes are durable. */
function isComplete(copy: Found, original: Found): boolean {
	const apart = copy.mtimeNs - original.mtimeNs;
	const areFiles = copy.type === 'file' && original.type === 'file';
	return areFiles && copy.size === original.size && apart < timePrecisionNs && -apart < timePrecisionNs;
}

/** Gives an incomplete copy another time than its original's, which it would have by chance if both were written just now. */
async function setOtherTime(target: number, { mtimeNs }: Pick<Found, 'mtimeNs'>): Promise<void> {
	const isRecent = Math.abs(Date.now() - Number(mtimeNs / 1_000_000n)) < recentMs;
	if (isRecent) await setModified(target, secondsOf(mtimeNs) - 1000);
}

/**
 * Shares the blocks where the file system can. Else a large file is copied in chunks, so that it can be aborted between them,
 * and as far as possible without coming through this process: on a network file system it then stays on the other side.
 */
export async function copyBytes(
	{ disk, options: { signal, beforeBytes, afterBytes } }: Pick<CopyDependencies, 'disk' | 'options'>,
	source: number,
	target: number,
	stats: fs.BigIntStats,
): Promise<void> {
	const size = Number(stats.size);
	const isSmall = size <= smallFile;
	const canClone = process.platform === 'linux';
	if (isSmall) await beforeBytes?.(size);
	const mode = isSmall ? COPYFILE_FICLONE : COPYFILE_FICLONE_FORCE;
	if (canClone && (await clone(disk, source, target, mode))) {
		afterBytes?.(size);
		return;
	}
	let at = 0;
	for (;;) {
		signal?.throwIfAborted();
		if (!isSmall) await beforeBytes?.(Math.min(pieceBytes, Math.max(chunkBytes, size - at)));
		const copied = await disk.calls.copyRange(source, target, pieceBytes);
		// It also says 0 where the kernel does not know where a file ends, so the end is read in any case.
		if (copied === undefined || copied === 0) break;
		at += copied;
		afterBytes?.(copied);
	}
	const buffer = Buffer.allocUnsafe(chunkBytes);
	for (; ; at += buffer.length) {
		signal?.throwIfAborted();
		if (!isSmall) await beforeBytes?.(chunkBytes);
		const bytes = await readFully(source, buffer, at);
		await writeFully(target, [buffer.subarray(0, bytes)], at);
		afterBytes?.(bytes);
		if (bytes < buffer.length) return;
	}
}

async function clone(disk: Disk, source: number, target: number, mode: number): Promise<boolean> {
	const own = await statOpen(disk, target);
	try {
		await copyFile(`/proc/self/fd/${source}`, `/proc/self/fd/${target}`, mode);
	} catch (error) {
		if (mode === COPYFILE_FICLONE) throw error;
		return false;
	}
	// The call copies the source's mode too: another user's set-user-id program would become one of the server's user.
	if ((await statOpen(disk, target)).mode !== own.mode) await fchmod(target, Number(own.mode) & 0o7777);
	return true;
}

/** The middle of a microsecond: Node truncates floating-point seconds to whole microseconds, so no rounding leads to another one. */
const secondsOf = (mtimeNs: bigint) => (Number(mtimeNs / 1000n) + 0.5) / 1e6;

async function undefinedIfMissing<T>(work: Promise<T>): Promise<T | undefined> {
	try {
		return await work;
	} catch (error) {
		// ELOOP: it became a link meanwhile. ENXIO: a socket.
		if (isSystemError(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO')) return undefined;
		throw error;
	}
}

/** Syncs a whole copied tree, one object after another. */
export async function syncTree(disk: Disk, folder: Folder): Promise<void> {
	await fsync(folder.fd);
	for await (const batch of disk.calls.readNames(folder)) {
		for (const { name } of batch) {
			const fd = await open(folder.at(pathPart(name)), readFileFlags);
			try {
				await fsync(fd);
				if (!(await fstat(fd)).isDirectory()) continue;
			} finally {
				closeSync(fd);
			}
			using inner = await openChild(folder, pathPart(name), 'read');
			await syncTree(disk, inner);
		}
	}
}
