import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders, syncFolder } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { close, fstat, fsync, mkdir, open, readFully, realpath, unlink, writeFully } from '../system/descriptors.js';
import { Folder, folderFlags, openChild, readFileFlags } from '../system/openFolder.js';
import type { SystemCalls } from '../system/systemCalls.js';
import { isSystemError } from '../system/systemErrors.js';
import { FolderLocks } from './FolderLocks.js';
import { privateFolder, removedFolder, stagingFolder } from './privateFolder.js';
import { RenameFlag } from './RenameFlag.js';
import { renameOwn } from './renaming.js';

const markerName = 'root.json';

/** A marker is a few dozen bytes; whatever is larger is none. */
const maxMarkerBytes = 4096;

/** The root itself may be a link: it is the administrator's own. */
export const rootFlags = folderFlags('read') & ~fs.constants.O_NOFOLLOW;

/** Opens the folder that the administrator named. */
export async function openRootFolder(path: string, calls: SystemCalls): Promise<Folder> {
	if (calls.namesByDescriptor) return new Folder(await open(path, rootFlags));
	const real = await realpath(path);
	return new Folder(await open(real, rootFlags), real);
}

/** The id in the root; undefined if it has none. Throws `unavailable` for an unreadable marker. */
export async function readMarker(root: Folder): Promise<string | undefined> {
	try {
		using folder = await openChild(root, privateFolder, 'path');
		const fd = await open(folder.at(markerName), readFileFlags);
		try {
			return parseMarker(await readSmallFile(fd));
		} finally {
			await close(fd);
		}
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return undefined;
		throw error;
	}
}

/** The id of the root at `path`, which is not changed; undefined if there is none. */
export async function findRootId(path: string, calls: SystemCalls): Promise<string | undefined> {
	try {
		using root = await openRootFolder(path, calls);
		return await readMarker(root);
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return undefined;
		throw error;
	}
}

/** Adopts the id of the root at `path`; creates the folder and an id if there is none. */
export async function claimRoot(path: string, calls: SystemCalls): Promise<string> {
	await makeFolders(path);
	using root = await openRootFolder(path, calls);
	const known = await readMarker(root);
	if (known !== undefined) return known;
	await makePrivateFolders(root);
	using folder = await openChild(root, privateFolder, 'read');
	await writeMarker(folder, calls);
	await fsync(folder.fd);
	await fsync(root.fd);
	await syncFolder(dirname(path)).catch((error: unknown) => {
		// The folder above the root may not be accessible; then the root in it was not created by us either.
		if (!isSystemError(error, 'EACCES', 'EPERM')) throw error;
	});
	// Read back instead of returning the written id: of two processes that begin at once one was first.
	const id = await readMarker(root);
	if (id === undefined) throw new Failure('unavailable', 'The storage could not be marked as ours.');
	return id;
}

/** Creates the contents of the private folder. Leaves a read-only root alone. */
export async function makePrivateFolders(root: Folder): Promise<void> {
	try {
		// Not readable by others: staged files already have their final mode.
		await makeFolder(root.at(privateFolder));
		using folder = await openChild(root, privateFolder, 'path');
		await makeFolder(folder.at(stagingFolder));
		await makeFolder(folder.at(removedFolder));
	} catch (error) {
		if (!isSystemError(error, 'EROFS', 'EACCES')) throw error;
	}
}

async function makeFolder(path: string): Promise<void> {
	try {
		await mkdir(path, 0o700);
	} catch (error) {
		if (!isSystemError(error, 'EEXIST')) throw error;
	}
}

async function writeMarker(folder: Folder, calls: SystemCalls): Promise<void> {
	const temporary = `${markerName}.${randomBytes(8).toString('hex')}`;
	const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
	const fd = await open(folder.at(temporary), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
	try {
		await writeFully(fd, [Buffer.from(`${JSON.stringify({ id: randomBytes(16).toString('hex') })}\n`)], 0);
		await fsync(fd);
	} finally {
		await close(fd);
	}
	try {
		const renameFlag = new RenameFlag(calls, () => openChild(folder, '.', 'path'));
		await renameOwn(
			{ calls, locks: new FolderLocks(calls), renameFlag },
			{ from: folder, fromName: temporary, to: folder, toName: markerName },
		);
	} catch (error) {
		await unlink(folder.at(temporary));
		if (!isSystemError(error, 'EEXIST')) throw error;
	}
}

async function readSmallFile(fd: number): Promise<string> {
	if (!(await fstat(fd)).isFile())
		throw new Failure('unavailable', `The marker of the storage, ${privateFolder}/${markerName}, is no file.`);
	const buffer = Buffer.alloc(maxMarkerBytes);
	return buffer.toString('utf8', 0, await readFully(fd, buffer, 0));
}

function parseMarker(text: string): string {
	const id = /^\s*\{\s*"id"\s*:\s*"([0-9a-f]{32})"\s*\}\s*$/.exec(text)?.[1];
	if (id === undefined) throw new Failure('unavailable', 'The marker of the storage is damaged.');
	return id;
}
