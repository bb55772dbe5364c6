import * as fs from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { closeSync, fstat, fstatSync, lstat, open, realpath } from './descriptors.js';
import { type FileStat, toFileStat } from './fileStat.js';
import { isSystemError, systemError } from './systemErrors.js';

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

/** Whether a folder has anything of that name. */
export async function exists(folder: Folder, name: string | Buffer): Promise<boolean> {
	try {
		await lstat(folder.at(name));
		return true;
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return false;
		throw error;
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

/** Opens below a folder over no link and without waiting; undefined if it would have to wait. Throws ENOENT if there is none. */
type OpenNow = (folder: Folder, path: string, flags: number) => number | undefined;

/**
 * The folder at the end of `segments`, of which there is at least one, being opened over no link, however the tree changes meanwhile. What
 * the kernel has in memory of the way takes a few calls, since one takes no path of any length; each other level is opened by itself.
 */
export class OpeningFolder {
	readonly #from: Folder;
	readonly #segments: readonly string[];
	readonly #access: FolderAccess;
	readonly #openNow: OpenNow;
	/** The innermost one that is open, and how many of the segments lead to it. */
	#folder: Folder;
	#level = 0;

	/** `from` is disposed of at the end. */
	constructor(from: Folder, segments: readonly string[], access: FolderAccess, openNow: OpenNow) {
		this.#from = from;
		this.#segments = segments;
		this.#access = access;
		this.#openNow = openNow;
		this.#folder = from;
	}

	/** Opens it at once where all is in memory. */
	open(): Folder | Promise<Folder> {
		try {
			this.#advance(this.#segments.length);
		} catch (error) {
			this.#close();
			throw error;
		}
		return this.#isOpen ? this.#result() : this.#openSlowly();
	}

	async #openSlowly(): Promise<Folder> {
		try {
			while (!this.#isOpen) {
				await this.#step();
				// The next ones may be in memory again; more likely they have to be waited for as well.
				this.#advance(1);
			}
		} catch (error) {
			this.#close();
			throw error;
		}
		return this.#result();
	}

	get #isOpen(): boolean {
		return this.#level === this.#segments.length;
	}

	/** Goes as far as nothing has to be waited for. The first call is for `levels` at once, each later one for half or twice as many. */
	#advance(levels: number): void {
		let hasFailed = false;
		for (let size = levels; size > 0 && !this.#isOpen; ) {
			const next = Math.min(this.#level + size, this.#segments.length);
			const path = this.#segments.slice(this.#level, next).join('/');
			const fd = this.#openNow(this.#folder, path, folderFlags(this.#accessAt(next)));
			if (fd !== undefined) this.#enter(new Folder(fd), next);
			hasFailed ||= fd === undefined;
			if (fd === undefined) size = Math.floor(size / 2);
			else if (!hasFailed) size *= 2;
		}
	}

	async #step(): Promise<void> {
		// The real path of the last one includes those above it.
		const next = this.#folder.isNamedByDescriptor ? this.#level + 1 : this.#segments.length;
		const path = this.#segments.slice(this.#level, next).join('/');
		this.#enter(await openChild(this.#folder, path, this.#accessAt(next)), next);
	}

	#accessAt(level: number): FolderAccess {
		return level === this.#segments.length ? this.#access : 'path';
	}

	#enter(folder: Folder, level: number): void {
		if (this.#folder !== this.#from) this.#folder[Symbol.dispose]();
		this.#folder = folder;
		this.#level = level;
	}

	#result(): Folder {
		this.#from[Symbol.dispose]();
		return this.#folder;
	}

	#close(): void {
		if (this.#folder !== this.#from) this.#folder[Symbol.dispose]();
		this.#from[Symbol.dispose]();
	}
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
