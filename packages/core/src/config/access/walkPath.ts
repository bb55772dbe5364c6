import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from '../load.js';

/** How many symbolic links are followed; the kernel has the same limit. */
const maxLinks = 40;

export interface Step {
	path: string;
	/** Missing where nothing is there, and that is the last step. */
	stat: Stats | undefined;
	/** The stat of the folder in which it lies. */
	folder: Stats;
}

/**
 * Every folder and link on the way to a file or folder, and that itself. Links are followed by hand. On Linux each step is looked for in
 * the folder of the step before, which is held open: somebody who exchanges that one for a link meanwhile, leads nobody elsewhere. Throws
 * ConfigError.
 */
export async function* walkPath(file: string): AsyncGenerator<Step> {
	const left = partsOf(path.resolve(file));
	let links = 0;
	let folder = (await place('/', '/')) as Place;
	let found: Place | undefined;
	try {
		for (let part = left.shift(); part !== undefined; part = left.shift()) {
			if (part === '.') continue;
			const own = path.join(folder.path, part);
			const at = folder.handle === undefined ? own : `/proc/self/fd/${folder.handle.fd}/${part}`;
			found = await place(at, own, folder);
			if (part !== '..') yield { path: own, stat: found?.stat, folder: folder.stat };
			if (found === undefined) return;
			if (found.stat.isSymbolicLink()) {
				if (++links > maxLinks) throw new ConfigError(`There are too many links on the way to ${file}.`);
				const target = await targetOf(at, own);
				left.unshift(...partsOf(target));
				await found.handle?.close();
				if (!path.isAbsolute(target)) continue;
				found = (await place('/', '/')) as Place;
			}
			await folder.handle?.close();
			folder = found;
		}
	} finally {
		await folder.handle?.close();
		await found?.handle?.close();
	}
}

interface Place {
	/** Its own path, without the links that led to it. */
	path: string;
	stat: Stats;
	/** Open for its stat and what lies in it only; undefined where the system does not name that by descriptors. */
	handle: FileHandle | undefined;
}

/** O_PATH, and O_NOFOLLOW by which a link is opened itself. */
const itself =
	process.platform === 'linux' && existsSync('/proc/self/fd') ? 0o10000000 | constants.O_NOFOLLOW : undefined;

function partsOf(file: string): string[] {
	return file.split('/').filter((part) => part !== '');
}

/** Opens what is at a path; undefined where nothing is there. */
async function place(at: string, own: string, folder?: Place): Promise<Place | undefined> {
	let handle: FileHandle | undefined;
	try {
		if (itself === undefined) return { path: own, stat: await lstat(at), handle };
		handle = await open(at, itself);
		return { path: own, stat: await handle.stat(), handle };
	} catch (cause) {
		await handle?.close();
		const { code } = cause as NodeJS.ErrnoException;
		if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
		const advice = code === 'EACCES' ? adviceFor(folder) : '';
		throw new ConfigError(`${own} can't be looked at (${code})${advice}.`, { cause });
	}
}

/** Root, too, is shut out of what others have closed, by an NFS server (`root_squash`), by FUSE, or without its capabilities. */
function adviceFor(folder: Place | undefined): string {
	const user = process.geteuid?.();
	const owner = folder?.stat.uid;
	if (folder === undefined || owner === user) return `: user ${user} is shut out. Run this as a user who is not`;
	return `: ${folder.path} belongs to user ${owner} and shuts user ${user} out. Run this as its owner (sudo -u '#${owner}')`;
}

/** Somebody may have put something else in the place of the link. */
async function targetOf(at: string, own: string): Promise<string> {
	try {
		return await readlink(at);
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		throw new ConfigError(`${own} can't be looked at (${code}): somebody exchanges it.`, { cause });
	}
}
