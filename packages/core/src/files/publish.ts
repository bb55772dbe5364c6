import type { Arrival, StagedFile, StorageItem, StorageProvider } from '@stowage/plugin-api';
import { candidateNames, Failure, isFailure, joinPath, type StoragePath } from '@stowage/rules';
import type { Log } from '../log.js';

/**
 * Tries the names for an entry one after another until one is free, and resolves to what `place` made of it. Nothing is looked up before: whoever asks the
 * disk first and writes then can be overtaken.
 */
export async function underFreeName(
	folder: StoragePath,
	name: string,
	type: 'file' | 'directory',
	place: (path: StoragePath) => Promise<StorageItem>,
): Promise<StorageItem> {
	for (const candidate of candidateNames(name, type)) {
		try {
			return await place(joinPath(folder, candidate));
		} catch (error) {
			if (!isFailure(error, 'alreadyExists')) throw error;
		}
	}
	throw tooManyNames(name);
}

/**
 * Publishes a file that an earlier call may have published already without living to answer: that one is found under the name it got, and there is no second.
 * Discards nothing.
 */
export async function publishOnce(folder: StoragePath, { staged, name, mtime }: Arrival): Promise<StorageItem> {
	const options = mtime === undefined ? {} : { mtime };
	let hasLeft = false;
	for (const candidate of candidateNames(name, 'file')) {
		try {
			return await staged.commit(joinPath(folder, candidate), options);
		} catch (error) {
			if (isFailure(error, 'alreadyExists')) continue;
			if (!isFailure(error, 'notFound')) throw error;
			// The folder is not there, or the file has left staging: then it lies under one of the names.
			hasLeft ||= await isGone(staged);
			if (!hasLeft) throw error;
		}
	}
	if (hasLeft) throw new Failure('notFound', `The upload of ${name} is no longer there.`);
	throw tooManyNames(name);
}

async function isGone(staged: StagedFile): Promise<boolean> {
	try {
		await staged.size();
		return false;
	} catch (error) {
		if (isFailure(error, 'notFound')) return true;
		throw error;
	}
}

/** Publishes all or none: if one is refused, those before it are taken back and all that is left is discarded. */
export async function publishAll(
	storage: StorageProvider,
	folder: StoragePath,
	arrivals: readonly Arrival[],
	log: Log,
): Promise<StorageItem[]> {
	const published: StorageItem[] = [];
	try {
		for (const { staged, name, mtime } of arrivals) {
			const options = mtime === undefined ? {} : { mtime };
			published.push(await underFreeName(folder, name, 'file', (path) => staged.commit(path, options)));
		}
		return published;
	} catch (error) {
		const undone = await Promise.allSettled([
			...published.map((item) => takeBack(storage, joinPath(folder, item.name), item.id)),
			...arrivals.map(({ staged }) => staged.discard()),
		]);
		// What the caller hears is why it failed, not what failed after it.
		for (const each of undone)
			if (each.status === 'rejected') log.error({ err: each.reason }, 'an upload was not undone');
		throw error;
	}
}

async function takeBack(storage: StorageProvider, path: StoragePath, id: string): Promise<void> {
	try {
		// Somebody may have put another thing in its place since.
		if ((await storage.stat(path)).id === id) await storage.remove(path);
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
}

function tooManyNames(name: string): Failure {
	return new Failure('alreadyExists', `There are too many files named ${name} already.`);
}
