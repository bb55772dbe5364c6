import * as fs from 'node:fs';
import type { CopyOptions } from '@stowage/plugin-api';
import type { Disk } from '../root/Disk.js';
import { atOnce } from '../system/atOnce.js';
import {
	closeSync,
	copyFile,
	fchmod,
	fstat,
	fsync,
	mkdir,
	open,
	readFully,
	setModified,
	writeFully,
} from '../system/descriptors.js';
import type { Folder } from '../system/Folder.js';
import { readFileFlags, stepInto } from '../system/openFolder.js';
import { pathPart, type RawEntry, type RawName } from '../system/rawNames.js';
import { isSystemError } from '../system/systemErrors.js';

/** Files copied at once in one folder. */
const copiesAtOnce = 8;

/** Up to here a file is copied by one call, which nobody can interrupt. */
const smallFile = 8 * 1024 * 1024;
const pieceBytes = 16 * 1024 * 1024;
const chunkBytes = 1024 * 1024;

const { COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;

/** A file or folder to copy, and where to; `to` is nobody else's yet. */
export interface CopyPlan {
	from: Folder;
	name: RawName;
	to: Folder;
	newName: RawName;
}

/** Copies a whole folder. Links and special files in it are left out, and so is what vanishes meanwhile. */
export async function copyFolder(disk: Disk, plan: CopyPlan, options: CopyOptions): Promise<void> {
	using from = await stepInto(plan.from, pathPart(plan.name), 'read');
	await options.beforeItem?.({ type: 'directory', size: 0 });
	await mkdir(plan.to.at(pathPart(plan.newName)));
	using to = await stepInto(plan.to, pathPart(plan.newName), 'read');
	for await (const batch of disk.calls.readNames(from)) {
		const folders: RawName[] = [];
		await atOnce(copiesAtOnce, batch, async ({ name, type }: RawEntry) => {
			options.signal?.throwIfAborted();
			if (type === 'directory') folders.push(name);
			else if (type !== 'other') await copyInside(disk, { from, name, to, newName: name }, folders, options);
		});
		// One after another: side by side, a wide tree would hold more folders open than a process may.
		for (const name of folders) await unlessGone(copyFolder(disk, { from, name, to, newName: name }, options));
	}
	// Last, since each new name in a folder sets its time.
	await keepTime(from.fd, to.fd);
}

/** Copies what is perhaps a file; adds it to `folders` if it turns out to be one of them. */
async function copyInside(disk: Disk, plan: CopyPlan, folders: RawName[], options: CopyOptions): Promise<void> {
	if ((await unlessGone(copyRegularFile(disk, plan, options))) === 'folder') folders.push(plan.name);
}

/** Copies a file with its time. Resolves to what it is instead if it is none, and then nothing was made. */
export async function copyRegularFile(
	disk: Disk,
	plan: CopyPlan,
	options: CopyOptions,
): Promise<'copied' | 'folder' | 'special'> {
	const source = await open(plan.from.at(pathPart(plan.name)), readFileFlags);
	try {
		const stats = await fstat(source);
		if (!stats.isFile()) return stats.isDirectory() ? 'folder' : 'special';
		await options.beforeItem?.({ type: 'file', size: Number(stats.size) });
		const flags = O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY;
		const target = await open(plan.to.at(pathPart(plan.newName)), flags, 0o666);
		try {
			await copyBytes(disk, source, target, Number(stats.size), options);
			await keepTime(source, target);
		} finally {
			closeSync(target);
		}
		return 'copied';
	} finally {
		closeSync(source);
	}
}

/**
 * Shares the blocks where the file system can. Else a large file goes in pieces, so that it can be given up between them,
 * and as far as possible without coming through this process: on a network file system it then stays on the other side.
 */
async function copyBytes(
	disk: Disk,
	source: number,
	target: number,
	size: number,
	{ signal, beforeBytes }: CopyOptions,
): Promise<void> {
	const isSmall = size <= smallFile;
	const canClone = process.platform === 'linux';
	if (isSmall) await beforeBytes?.(size);
	if (canClone && (await clone(source, target, isSmall ? COPYFILE_FICLONE : COPYFILE_FICLONE_FORCE))) return;
	let at = 0;
	for (;;) {
		signal?.throwIfAborted();
		if (!isSmall) await beforeBytes?.(Math.min(pieceBytes, Math.max(chunkBytes, size - at)));
		const copied = await disk.calls.copyRange(source, target, pieceBytes);
		// It also says 0 where the kernel does not know where a file ends, so the end is read in any case.
		if (copied === undefined || copied === 0) break;
		at += copied;
	}
	const buffer = Buffer.allocUnsafe(chunkBytes);
	for (; ; at += buffer.length) {
		signal?.throwIfAborted();
		if (!isSmall) await beforeBytes?.(chunkBytes);
		const bytes = await readFully(source, buffer, at);
		await writeFully(target, [buffer.subarray(0, bytes)], at);
		if (bytes < buffer.length) return;
	}
}

async function clone(source: number, target: number, mode: number): Promise<boolean> {
	const own = await fstat(target);
	try {
		await copyFile(`/proc/self/fd/${source}`, `/proc/self/fd/${target}`, mode);
	} catch (error) {
		if (mode === COPYFILE_FICLONE) throw error;
		return false;
	}
	// The call gives the source's mode too: somebody's set-user-id program would become one of ours.
	await fchmod(target, Number(own.mode) & 0o7777);
	return true;
}

async function keepTime(source: number, target: number): Promise<void> {
	await setModified(target, Number((await fstat(source)).mtimeNs) / 1e9);
}

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
	try {
		return await work;
	} catch (error) {
		// ELOOP: it became a link meanwhile. ENXIO: a socket.
		if (isSystemError(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO')) return undefined;
		throw error;
	}
}

/** Makes a whole copied tree durable, one object after another. */
export async function syncTree(disk: Disk, folder: Folder): Promise<void> {
	for await (const batch of disk.calls.readNames(folder)) {
		for (const { name } of batch) {
			const fd = await open(folder.at(pathPart(name)), readFileFlags);
			try {
				await fsync(fd);
				if (!(await fstat(fd)).isDirectory()) continue;
			} finally {
				closeSync(fd);
			}
			using inner = await stepInto(folder, pathPart(name), 'read');
			await syncTree(disk, inner);
		}
	}
}
