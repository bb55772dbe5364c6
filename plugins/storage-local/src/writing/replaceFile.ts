import { setTimeout as wait } from 'node:timers/promises';
import type { CommitOptions, ReplaceVersion } from '@stowage/plugin-api';
import { baseName, candidateNames, Failure, isFailure, parentPath, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { stagingFolder } from '../root/privateFolder.js';
import { close, closeSync, mkdir, open, unlink } from '../system/descriptors.js';
import { type FileStat, objectId, toItem } from '../system/fileStat.js';
import { type Folder, openChild, readFileFlags } from '../system/openFolder.js';
import { fileChanged, isSystemError, nameTaken, noSuchEntry } from '../system/systemErrors.js';
import { claimFreeName, statIfPresent } from './freeNames.js';
import { isOldFile, type OldFile, oldFile, ReplaceIntent } from './ReplaceIntent.js';

/** How long others may hold the file that is to be replaced, and how often its lock is tried. */
const lockWaitMs = 10_000;
const lockPollMs = 20;

/** A file that shall replace another one. */
export interface Replacing {
	/** Its folder, and its name there. */
	folder: Folder;
	name: string;
	/** Itself. */
	object: string;
	/** Its path, unless it is in staging. */
	path?: StoragePath;
}

/** The file to be replaced. */
interface Target extends ReplaceVersion {
	folder: Folder;
	path: StoragePath;
}

/** The name that the replaced file gets. */
interface Keeping {
	folder: Folder;
	name: string;
}

/** Refuses files that can't be replaced, before anything is done for it. */
export async function assertReplaceable(
	disk: Disk,
	folder: Folder,
	path: StoragePath,
	{ replace, keepAs }: ReplaceVersion,
): Promise<void> {
	if (!(await disk.exchangeFlag.isSupportedAt(folder))) throw cannotReplace();
	await statVersion(disk, folder, path, replace);
	if (keepAs !== undefined) (await openKept(disk, keepAs)).folder[Symbol.dispose]();
}

export function cannotReplace(): Failure {
	return new Failure('invalid', 'Files can’t be replaced in one step on this disk.');
}

export function onlyFiles(): Failure {
	return new Failure('invalid', 'Only a file can take the place of a file.');
}

/**
 * Replaces the file of this version by another one, whose bytes are durable. It is in staging until one exchange of names; the file that
 * this brings out is checked after it, so a file that was written there meanwhile is not lost: it is restored. The replaced file is
 * removed, or gets the name under which it is kept, only when the exchange is durable. `finishReplacements` continues an interrupted one.
 * Throws `preconditionFailed` for another version; then the file is in its former place.
 */
export async function replaceFile(
	disk: Disk,
	own: Replacing,
	target: Target,
	beforeNaming?: CommitOptions['beforeNaming'],
): Promise<void> {
	const { folder, path, replace, keepAs } = target;
	if (objectId(await statVersion(disk, folder, path, replace)) === own.object) {
		throw new Failure('invalid', 'A file cannot take its own place.');
	}
	await beforeNaming?.(baseName(path));
	const kept = keepAs === undefined ? undefined : await openKept(disk, keepAs);
	try {
		const locked = await lockVersion(disk, folder, path, replace);
		try {
			await exchange(disk, own, target, kept, oldFile(locked.stat));
		} finally {
			// In the background: it frees the replaced file.
			await close(locked.fd);
		}
	} finally {
		kept?.folder[Symbol.dispose]();
	}
}

async function exchange(
	disk: Disk,
	own: Replacing,
	{ folder, path, keepAs }: Target,
	kept: Keeping | undefined,
	old: OldFile,
): Promise<void> {
	const toName = baseName(path);
	using staging = await disk.privateFolder(stagingFolder, 'read');
	const from = own.path === undefined ? { staged: own.name } : { path: own.path };
	using intent = await ReplaceIntent.begin(disk, staging, { from, object: own.object, to: path, old, keepAs });
	const { held } = intent;
	try {
		await disk.calls.renameNoReplace(own.folder, own.name, staging, held);
	} catch (error) {
		await intent.end();
		throw error;
	}
	const undo = async () => {
		await undoExchange(disk, staging, held, own.object, { folder, name: toName });
		await restoreName(disk, staging, held, own);
		await intent.end();
	};
	if (objectId(await disk.statAt(staging, held)) !== own.object) {
		// Another one has replaced it since it was checked.
		await restoreName(disk, staging, held, own);
		await intent.end();
		throw noSuchEntry(own.path ?? path);
	}
	try {
		await disk.calls.exchange?.(staging, held, folder, toName);
	} catch (error) {
		await undo();
		throw isSystemError(error, 'ENOENT') ? fileChanged(error) : error;
	}
	if (!isOldFile(old, await disk.statAt(staging, held))) {
		await undo();
		throw fileChanged();
	}
	await disk.syncs.syncAll(own.path === undefined ? [folder, staging] : [folder, own.folder, staging]);
	if (kept === undefined) await unlink(staging.at(held));
	else {
		try {
			await keep(disk, staging, held, old, kept);
		} catch (error) {
			// Once it has left staging the record stays until that is durable.
			if ((await statIfPresent(disk, staging, held)) !== undefined) await undo();
			throw error;
		}
	}
	await intent.end();
}

/** The place of a file that is kept. Throws where its folder is missing or the name is taken. */
async function openKept(disk: Disk, path: StoragePath): Promise<Keeping> {
	const folder = await disk.parentOf(path, 'read');
	const name = baseName(path);
	try {
		if ((await statIfPresent(disk, folder, name)) !== undefined) throw nameTaken(path);
		return { folder, name };
	} catch (error) {
		folder[Symbol.dispose]();
		throw error;
	}
}

/** Gives the replaced file the name under which it is kept, durably. An interrupted call may have done that already. */
async function keep(disk: Disk, staging: Folder, held: string, old: OldFile, { folder, name }: Keeping): Promise<void> {
	try {
		await disk.calls.renameNoReplace(staging, held, folder, name);
	} catch (error) {
		const taken = isSystemError(error, 'EEXIST') ? await statIfPresent(disk, folder, name) : undefined;
		// After a power cut a file may have both names.
		if (taken === undefined || !isOldFile(old, taken)) throw error;
		await unlink(staging.at(held));
	}
	await disk.syncs.syncAll([folder, staging]);
}

/** The file of this version, open and locked: of concurrent replacements one proceeds, and the others find another version after that. */
async function lockVersion(
	disk: Disk,
	folder: Folder,
	path: StoragePath,
	version: string,
): Promise<{ fd: number; stat: FileStat }> {
	const deadline = performance.now() + lockWaitMs;
	for (;;) {
		await statVersion(disk, folder, path, version);
		const fd = await open(folder.at(baseName(path)), readFileFlags).catch((error: unknown) => {
			throw isSystemError(error, 'ENOENT', 'ELOOP', 'ENXIO') ? fileChanged(error) : error;
		});
		try {
			if (disk.calls.tryLock?.(fd) === true) return { fd, stat: await statVersion(disk, folder, path, version) };
		} catch (error) {
			closeSync(fd);
			throw error;
		}
		closeSync(fd);
		if (performance.now() > deadline) throw new Failure('locked', 'Somebody else is replacing this file.');
		await wait(lockPollMs);
	}
}

/** Completes or undoes replacements that a crash interrupted. A file whose folder is not available stays, for the next time. */
export async function finishReplacements(disk: Disk): Promise<void> {
	if (disk.calls.exchange === undefined) return;
	using staging = await disk.privateFolder(stagingFolder, 'read');
	for await (const batch of disk.calls.readNames(staging)) {
		for (const { name } of batch) {
			try {
				using intent = await ReplaceIntent.take(disk, staging, name);
				if (intent !== undefined && (await recoverReplacement(disk, staging, intent))) await intent.end();
			} catch (error) {
				// One that can't be finished, as on a full disk, must not keep the others: it is tried again at the next start.
				if (!isFailure(error) && !isSystemError(error)) throw error;
			}
		}
	}
}

/** Completes or undoes one. Resolves to whether nothing is left to do. */
async function recoverReplacement(disk: Disk, staging: Folder, intent: ReplaceIntent): Promise<boolean> {
	const { held } = intent;
	const lying = await statIfPresent(disk, staging, held);
	if (lying === undefined) return true;
	const record = await intent.read();
	if (record === undefined) return false;
	const { from, to, object, old, keepAs } = record;
	using folder = await openIfPresent(disk, to);
	if (isOldFile(old, lying)) {
		if (folder !== undefined) await disk.syncs.sync(folder);
		if (keepAs === undefined) await unlink(staging.at(held));
		else {
			using keeping = await madeFolder(disk, parentPath(keepAs));
			await keep(disk, staging, held, old, { folder: keeping, name: baseName(keepAs) });
		}
		return true;
	}
	if (objectId(lying) !== object) {
		if (folder === undefined) return false;
		await undoExchange(disk, staging, held, object, { folder, name: baseName(to) });
	}
	if ('staged' in from) await restoreName(disk, staging, held, { folder: staging, name: from.staged });
	else {
		using source = await openIfPresent(disk, from.path);
		if (source === undefined) return false;
		await restoreName(disk, staging, held, { folder: source, name: baseName(from.path) });
	}
	return true;
}

/** The item at the path if it is a file of this version. */
async function statVersion(disk: Disk, folder: Folder, path: StoragePath, version: string): Promise<FileStat> {
	const stat = path === rootPath ? undefined : await statIfPresent(disk, folder, baseName(path));
	if (stat?.type !== 'file' || toItem(baseName(path), { ...stat, type: 'file' }).version !== version)
		throw fileChanged();
	return stat;
}

/**
 * Restores the name of a file that the exchange brought out, but that was not to be replaced. If the new file has left that name
 * meanwhile, it gets the next free one beside the file that came after it.
 */
async function undoExchange(
	disk: Disk,
	staging: Folder,
	held: string,
	own: string,
	{ folder, name }: { folder: Folder; name: string },
): Promise<void> {
	for (;;) {
		const out = await statIfPresent(disk, staging, held);
		if (out === undefined || objectId(out) === own) break;
		const inPlace = await statIfPresent(disk, folder, name);
		if (inPlace !== undefined && objectId(inPlace) === own) {
			// Checked again after it: another file may have been faster once more.
			await disk.calls.exchange?.(staging, held, folder, name).catch((error: unknown) => {
				if (!isSystemError(error, 'ENOENT')) throw error;
			});
		} else await moveToFreeName(disk, staging, held, folder, name);
	}
	await disk.syncs.sync(folder);
}

/** Moves the new file back to its former name, or beside it if that is taken by now. */
async function restoreName(
	disk: Disk,
	staging: Folder,
	held: string,
	{ folder, name }: Pick<Replacing, 'folder' | 'name'>,
): Promise<void> {
	if ((await statIfPresent(disk, staging, held)) === undefined) return;
	await moveToFreeName(disk, staging, held, folder, name);
	using opened = await openChild(folder, '.', 'read');
	await disk.syncs.sync(opened);
}

async function moveToFreeName(disk: Disk, staging: Folder, held: string, folder: Folder, name: string): Promise<void> {
	const taken = await claimFreeName(disk, folder, candidateNames(name, 'file'), (free) =>
		disk.calls.renameNoReplace(staging, held, folder, free),
	);
	if (taken === undefined) throw nameTaken(name as StoragePath);
}

/** A folder that is made if it was removed meanwhile. */
async function madeFolder(disk: Disk, path: StoragePath): Promise<Folder> {
	try {
		return await disk.folder(path, 'read');
	} catch (error) {
		if (!isSystemError(error, 'ENOENT')) throw error;
		using parent = await disk.parentOf(path, 'read');
		await mkdir(parent.at(baseName(path)));
		await disk.syncs.sync(parent);
		return await disk.folder(path, 'read');
	}
}

async function openIfPresent(disk: Disk, path: StoragePath): Promise<Folder | undefined> {
	try {
		return await disk.folder(parentPath(path), 'read');
	} catch (error) {
		if (isSystemError(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
		throw error;
	}
}
