import { createHash } from 'node:crypto';
import type { CommitOptions, StagedFile, StorageItem, StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure, joinPath, type StoragePath } from '@stowage/rules';
import { copiesFolder } from './copyAcross.js';
import { ensureFolder } from './folders.js';

/**
 * Publishes a staged file on another root than the one it was staged on, as its home was moved meanwhile: whole or not at all, and once, also when it is tried again after a crash.
 * Until it is there the bytes lie in `copies` on the old root.
 */
export async function commitAcross(
	staged: StagedFile,
	source: StorageProvider,
	target: StorageProvider,
	path: StoragePath,
	options: CommitOptions = {},
): Promise<StorageItem> {
	const key = createHash('sha256').update(`across ${staged.id}`).digest('hex');
	const copy = await stagedCopy(key, target);
	const between = joinPath(copiesFolder, key);
	const isThere = await leaveStaging(staged, source, between);
	// Published by a call that did not live to answer.
	if (!isThere) return copy.commit(path, options);
	const file = await source.open(between);
	try {
		const published = await ifPublished(copy, path, options);
		if (published !== undefined) return published;
		await copy.append(ownMemory(file.read()), 0);
		return await copy.commit(path, { ...options, mtime: options.mtime ?? file.item.mtime });
	} finally {
		await file.close();
		if (await hasLeft(copy)) await source.remove(between);
	}
}

/** The staged file on the target that stands for the one of this key, the same at each try. */
async function stagedCopy(key: string, target: StorageProvider): Promise<StagedFile> {
	const fresh = await target.stage();
	const noted = await target.note(key, fresh.id);
	if (noted === fresh.id) return fresh;
	await fresh.discard();
	return target.stage(noted);
}

/** False where there is nothing any more that could be published. */
async function leaveStaging(staged: StagedFile, source: StorageProvider, path: StoragePath): Promise<boolean> {
	try {
		await ensureFolder(source, copiesFolder);
		await staged.commit(path);
		return true;
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
		return false;
	}
}

/** What an earlier try published; it had not lived to take the bytes away. */
async function ifPublished(
	copy: StagedFile,
	path: StoragePath,
	options: CommitOptions,
): Promise<StorageItem | undefined> {
	if (!(await hasLeft(copy))) return undefined;
	try {
		return await copy.commit(path, options);
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
		throw new Failure('conflict', 'The file was moved or removed as soon as it was there.', { cause: error });
	}
}

/** Whether a staged file was published, or discarded. */
async function hasLeft(staged: StagedFile): Promise<boolean> {
	try {
		await staged.size();
		return false;
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
		return true;
	}
}

/** The reader uses its memory again, and the writer may still need it. */
async function* ownMemory(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	for await (const chunk of chunks) yield Buffer.from(chunk);
}
