import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, stat } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from '@stowage/core';
import { Failure } from '@stowage/rules';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** Enough to look for what lies in a folder, which is all that root can do in some: over NFS, or in a container without capabilities. */
const O_PATH = 0o10000000;

/** How many symbolic links are followed on the way to a folder; the kernel has the same limit. */
const maxLinks = 40;

/**
 * A folder in which root works, however its owner exchanges it, or what lies on the way to it, meanwhile: it is open, and its files are
 * named through its descriptor. The caller closes it.
 */
export interface HeldFolder {
	handle: FileHandle;
	/** Its own path, without the links that led to it. */
	path: string;
	/** The path of a file in it, by a single name that is no link to be followed. */
	at(name: string): string;
}

interface Options {
	/** Makes the folder with this mode where it is missing, and those on the way so that everybody may pass. */
	mode?: number;
	/** What to do about a link of somebody else. */
	remedy?: string;
}

/** Opens a folder level by level, over no link but root's. Throws ConfigError for a link of anybody else. */
export async function holdFolder(folder: string, options: Options = {}): Promise<HeldFolder> {
	const { held } = await hold(path.resolve(folder), true, options);
	return held;
}

/** The folder of a file, and the name that the file has there; a link of root's in its place is followed. Otherwise as `holdFolder`. */
export async function holdFolderOf(file: string, options: Options = {}): Promise<{ folder: HeldFolder; name: string }> {
	const { held, name } = await hold(path.resolve(file), false, options);
	return { folder: held, name };
}

/** The folder of a file that is made, named or removed in it. The handle, undefined where there is no /proc, is the caller's to close. */
export type FolderOfNew = Pick<HeldFolder, 'at'> & { handle: FileHandle | undefined };

/** Holds the folder of a new file: for root over no link but root's, for anybody else as the system opens it. Throws as `holdFolder`. */
export async function holdFolderOfNew(file: string): Promise<FolderOfNew> {
	const folder = path.dirname(path.resolve(file));
	if (process.platform !== 'linux' || !existsSync('/proc/self/fd')) {
		return { handle: undefined, at: (name) => path.join(folder, name) };
	}
	if (process.geteuid?.() === 0) return holdFolder(folder, { remedy: 'name the folder itself' });
	const handle = await open(folder, O_PATH | O_DIRECTORY);
	return { handle, at: (name) => `/proc/self/fd/${handle.fd}/${name}` };
}

async function hold(
	target: string,
	isFolder: boolean,
	{ mode, remedy = 'set dataDir to the folder itself' }: Options,
): Promise<{ held: HeldFolder; name: string }> {
	const left = partsOf(target);
	let held = await openFolder('/', '/', O_PATH);
	let links = 0;
	try {
		for (let part = left.shift(); part !== undefined; part = left.shift()) {
			const at = held.at(part);
			const own = path.join(held.path, part);
			const isLast = left.length === 0 && !isFolder;
			const found = await statOf(at);
			if (found?.isSymbolicLink()) {
				if (++links > maxLinks) throw new ConfigError(`There are too many links on the way to ${target}.`);
				await assertLinkOfRoot(found, held, own, remedy);
				const to = await readlink(at).catch((cause) => {
					throw exchanged(own, cause);
				});
				left.unshift(...partsOf(to));
				if (path.isAbsolute(to)) held = await replaced(held, openFolder('/', '/', O_PATH));
			} else if (isLast) {
				return { held, name: part };
			} else {
				if (found === undefined && mode !== undefined) await mkdir(at, { mode: left.length === 0 ? mode : 0o755 });
				held = await replaced(held, openFolder(at, own, left.length === 0 ? O_RDONLY : O_PATH));
			}
		}
		return { held, name: '.' };
	} catch (error) {
		await held.handle.close();
		throw error;
	}
}

async function openFolder(at: string, own: string, access: number): Promise<HeldFolder> {
	const handle = await open(at, access | O_DIRECTORY | O_NOFOLLOW).catch((cause: NodeJS.ErrnoException) => {
		if (cause.code === 'ENOENT') throw new Failure('notFound', `There is no such folder: ${own}`, { cause });
		if (cause.code !== 'ELOOP' && cause.code !== 'ENOTDIR') throw cause;
		throw exchanged(own, cause);
	});
	return { handle, path: own, at: (name) => `/proc/self/fd/${handle.fd}/${name}` };
}

function exchanged(own: string, cause: unknown): Failure {
	return new Failure('conflict', `${own} is no folder, or somebody exchanges it.`, { cause });
}

async function replaced(before: HeldFolder, opening: Promise<HeldFolder>): Promise<HeldFolder> {
	const next = await opening;
	await before.handle.close();
	return next;
}

/**
 * A link of root's that lies where somebody else could exchange it says no more than one of theirs. As in `whyOthersMayWrite`, the group 0
 * is root's, and so is what belongs to the owner of `/`, whom an unprivileged container may not know.
 */
async function assertLinkOfRoot(link: Stats, folder: HeldFolder, own: string, remedy: string): Promise<void> {
	const { uid, gid, mode } = await folder.handle.stat();
	const isOfRoot = async (owner: number) => owner === 0 || owner === (await stat('/')).uid;
	const isOpen = (mode & (gid === 0 ? 0o002 : 0o022)) !== 0 && (mode & 0o1000) === 0;
	if ((await isOfRoot(link.uid)) && (await isOfRoot(uid)) && !isOpen) return;
	const whose = link.uid === 0 ? 'in a folder that others may write to' : `of user ${link.uid}`;
	throw new ConfigError(`${own} is a link ${whose}, which root does not follow: ${remedy}, or run this as its owner.`);
}

async function statOf(at: string): Promise<Stats | undefined> {
	try {
		return await lstat(at);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
		throw error;
	}
}

function partsOf(file: string): string[] {
	return file.split('/').filter((part) => part !== '' && part !== '.');
}
