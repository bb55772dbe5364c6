import * as fs from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { closeSync, fstat, fstatSync, lstat, open, realpath } from './descriptors.js';
import { type FileStat, toFileStat } from './fileStat.js';
import { systemError } from './systemErrors.js';

/**
 * An open folder. On Linux its items are named through the descriptor, so the path to it can't be replaced by a link while we
 * use it. The caller that opens one disposes of it.
 */
export class Folder implements Disposable {
	readonly path: string;
	readonly isNamedByDescriptor: boolean;

	/** `realPath` is only used if a descriptor has no path of its own. */
	constructor(
		readonly fd: number,
		realPath?: string,
	) {
		this.path = realPath ?? `/proc/self/fd/${fd}`;
		this.isNamedByDescriptor = realPath === undefined;
	}

	/** The path of the object of that name in this folder. A single name, as bytes if it may not be UTF-8. */
	at(name: string): string;
	at(name: string | Buffer): string | Buffer;
	at(name: string | Buffer): string | Buffer {
		if (typeof name === 'string') return `${this.path}/${name}`;
		return Buffer.concat([Buffer.from(`${this.path}/`), name]);
	}

	[Symbol.dispose](): void {
		closeSync(this.fd);
	}
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;

/** Linux's O_PATH: such a descriptor needs no permission to read. 0 on other systems. */
export const pathOnly = process.platform === 'linux' ? 0o10000000 : 0;

/** How a folder is opened: to list and sync it, or only to name its items. */
export type FolderAccess = 'read' | 'path';

export function folderFlags(access: FolderAccess): number {
	return O_RDONLY | O_DIRECTORY | O_NOFOLLOW | (access === 'path' ? pathOnly : 0);
}

/** Files are opened without blocking: a pipe without a writer would block for ever. */
export const readFileFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Opens the folder at the end of `segments`, one level at a time and over no link, however the tree changes meanwhile. */
export async function openFolder(from: Folder, segments: readonly string[], access: FolderAccess): Promise<Folder> {
	// The real path of the last one includes those above it.
	if (!from.isNamedByDescriptor) return openChildByRealPath(from, join('.', ...segments), access);
	let folder = from;
	for (const [index, segment] of segments.entries()) {
		const isLast = index === segments.length - 1;
		try {
			const next = await openChildByDescriptor(folder, segment, isLast ? access : 'path');
			if (folder !== from) folder[Symbol.dispose]();
			folder = next;
		} catch (error) {
			if (folder !== from) folder[Symbol.dispose]();
			throw error;
		}
	}
	// With no segment the answer must still be a folder of its own, for the caller to dispose of.
	return folder === from ? openChildByDescriptor(from, '.', access) : folder;
}

/** Opens one folder in another; ENOTDIR for a link. */
export function openChild(folder: Folder, name: string | Buffer, access: FolderAccess): Promise<Folder> {
	return folder.isNamedByDescriptor
		? openChildByDescriptor(folder, name, access)
		: openChildByRealPath(folder, name, access);
}

async function openChildByDescriptor(folder: Folder, name: string | Buffer, access: FolderAccess): Promise<Folder> {
	return new Folder(await open(folder.at(name), folderFlags(access)));
}

/** Opens a child where paths can't go through a descriptor: the real path must be the requested one, before and after opening. */
async function openChildByRealPath(folder: Folder, name: string | Buffer, access: FolderAccess): Promise<Folder> {
	const path = join(folder.path, name.toString());
	await assertReal(path);
	const fd = await open(path, folderFlags(access));
	try {
		const [opened, named] = await Promise.all([fstat(fd), lstat(path, { bigint: true })]);
		await assertReal(path);
		if (opened.ino !== named.ino || opened.dev !== named.dev) throw systemError('open', constants.errno.ENOTDIR);
		return new Folder(fd, path);
	} catch (error) {
		closeSync(fd);
		throw error;
	}
}

async function assertReal(path: string): Promise<void> {
	if ((await realpath(path)) !== path) throw systemError('realpath', constants.errno.ENOTDIR);
}

/** The part of `SystemCalls` that identifies a folder. */
interface CachedStats {
	statCached(fd: number): FileStat | undefined;
}

/** Identifies the folder itself, however it was opened and wherever it is moved. */
export function folderKey(calls: CachedStats, folder: Folder): string {
	const { device, inode } = statOf(calls, folder);
	return `${device}/${inode}`;
}

/** Names the file system that the folder is on. */
export function deviceOf(calls: CachedStats, folder: Folder): bigint {
	return statOf(calls, folder).device;
}

function statOf(calls: CachedStats, folder: Folder): FileStat {
	return calls.statCached(folder.fd) ?? toFileStat(fstatSync(folder.fd, { bigint: true }));
}
