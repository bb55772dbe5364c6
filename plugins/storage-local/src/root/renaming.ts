import * as fs from 'node:fs';
import { close, fstat, link, lstat, mkdir, open, rename, rmdir, unlink } from '../system/descriptors.js';
import type { Folder } from '../system/openFolder.js';
import type { SystemCalls } from '../system/systemCalls.js';
import { isSystemError } from '../system/systemErrors.js';
import type { FolderLocks } from './FolderLocks.js';
import type { RenameFlag } from './RenameFlag.js';

/** The present and the new name of an object. */
export interface Renaming {
	from: Folder;
	fromName: string;
	to: Folder;
	toName: string;
}

/** The parts of a disk that renaming needs. */
export interface RenameDependencies {
	calls: SystemCalls;
	locks: FolderLocks;
	renameFlag: RenameFlag;
}

/** Renames a file that is invisible to users. Rejects with EEXIST if the new name is taken. */
export async function renameOwn(dependencies: RenameDependencies, renaming: Renaming): Promise<void> {
	if (await tryRename(dependencies, renaming)) return;
	await dependencies.locks.hold([renaming.to], async () => {
		if (await tryLink(renaming)) await unlink(renaming.from.at(renaming.fromName));
		else await renameOverPlaceholder('file', renaming);
	});
}

/** Gives an object of the disk a new name in one step. Rejects with EEXIST if that is taken, and with EINVAL for a folder into itself. */
export async function renameAny(
	dependencies: RenameDependencies,
	type: 'file' | 'directory',
	renaming: Renaming,
): Promise<void> {
	if (await tryRename(dependencies, renaming)) return;
	// No link here, not even for files: it would let both of two racing movers win.
	await dependencies.locks.hold([renaming.from, renaming.to], () => renameOverPlaceholder(type, renaming));
}

async function tryRename({ calls, locks, renameFlag }: RenameDependencies, renaming: Renaming): Promise<boolean> {
	try {
		await calls.renameNoReplace(renaming.from, renaming.fromName, renaming.to, renaming.toName);
		return true;
	} catch (error) {
		if (!(await renameFlag.isUnsupportedAt(renaming.to, error))) throw error;
		locks.isNeeded = true;
		return false;
	}
}

/** Adds a hard link to a file of the staging folder. False if the file system has none. */
async function tryLink({ from, fromName, to, toName }: Renaming): Promise<boolean> {
	try {
		await link(from.at(fromName), to.at(toName));
		return true;
	} catch (error) {
		if (isSystemError(error, 'EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP', 'EMLINK', 'EINVAL')) return false;
		throw error;
	}
}

/**
 * The fallback: creates an empty object of the same type and renames over it. Readers may see the empty one
 * for an instant and after a crash it stays. Within this process the folder locks exclude others.
 */
async function renameOverPlaceholder(type: 'file' | 'directory', renaming: Renaming): Promise<void> {
	const source = renaming.from.at(renaming.fromName);
	const placeholder = renaming.to.at(renaming.toName);
	// Before the name is taken: a missing source must not leave a trace.
	await lstat(source);
	const inode = type === 'file' ? await makeEmptyFile(placeholder) : await makeEmptyFolder(placeholder);
	try {
		await rename(source, placeholder);
	} catch (error) {
		await dropPlaceholder(type, placeholder, inode);
		throw error;
	}
}

async function dropPlaceholder(type: 'file' | 'directory', path: string, inode: bigint): Promise<void> {
	try {
		const isPlaceholder = (await lstat(path, { bigint: true })).ino === inode;
		if (isPlaceholder) await (type === 'file' ? unlink(path) : rmdir(path));
	} catch (error) {
		// Another process removed or filled it: then it stays.
		if (!isSystemError(error, 'ENOENT', 'ENOTEMPTY')) throw error;
	}
}

async function makeEmptyFile(path: string): Promise<bigint> {
	const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
	const fd = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o666);
	try {
		return (await fstat(fd)).ino;
	} finally {
		await close(fd);
	}
}

async function makeEmptyFolder(path: string): Promise<bigint> {
	await mkdir(path);
	return (await lstat(path, { bigint: true })).ino;
}
