import { createHash } from 'node:crypto';
import type { OpenFile, StorageProvider } from '@stowage/plugin-api';
import { isFailure, joinPath, type StoragePath } from '@stowage/rules';
import { identityOf } from '../trees/identity.js';

/** The SHA-256 of a file's bytes, by its path in the storage. */
export interface FileHash {
	path: StoragePath;
	size: number;
	sha256: string;
}

interface HashOptions {
	/** Called with each file or folder that can't be read. */
	onUnreadable?: (path: StoragePath) => void;
	/** Whether a file, or all in a folder and below, is left out. By default nothing is. */
	isLeftOut?: (path: StoragePath) => boolean;
}

/**
 * Hashes a file, or each file in a folder and below. Files that vanish before they are read are left out, and so is
 * what can't be read, such as what another program has closed to the server, or what lies on a disk that is away:
 * `onUnreadable` is told of that.
 */
export async function* hashFiles(
	storage: StorageProvider,
	path: StoragePath,
	{ onUnreadable = () => undefined, isLeftOut = () => false }: HashOptions = {},
): AsyncGenerator<FileHash> {
	if (isLeftOut(path)) return;
	const folders = [path];
	// Where this fails, so does reading it as a folder.
	const item = await storage.stat(path).catch(unlessFailure);
	if (item?.type === 'file') {
		const hash = await hashFile(storage, path, onUnreadable);
		if (hash !== undefined) yield hash.hash;
		return;
	}
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		const names: { name: string; type: string }[] = [];
		try {
			for await (const batch of storage.list(folder)) names.push(...batch);
		} catch (error) {
			unlessFailure(error);
			if (!isFailure(error, 'notFound')) onUnreadable(folder);
		}
		for (const { name, type } of names) {
			const inner = joinPath(folder, name);
			if (isLeftOut(inner)) continue;
			if (type === 'directory') folders.push(inner);
			else {
				const hash = await hashFile(storage, inner, onUnreadable);
				if (hash !== undefined) yield hash.hash;
			}
		}
	}
}

/** Takes an expected refusal for nothing; throws any other error. */
function unlessFailure(error: unknown): undefined {
	if (!isFailure(error)) throw error;
}

/**
 * The hash of a file, with the identity of the very item that was read. Undefined for an unreadable one, with which
 * `onUnreadable` is called, and for one of another size than is expected, which is not read.
 */
export async function hashFile(
	storage: Pick<StorageProvider, 'open'>,
	path: StoragePath,
	onUnreadable: (path: StoragePath) => void,
	expectedSize?: number,
): Promise<{ hash: FileHash; identity: string } | undefined> {
	let file: OpenFile | undefined;
	try {
		file = await storage.open(path);
		if (expectedSize !== undefined && file.item.size !== expectedSize) return undefined;
		const hash = createHash('sha256');
		for await (const chunk of file.read()) hash.update(chunk);
		if (await file.isChanged()) return undefined;
		const { size } = file.item;
		return { hash: { path, size, sha256: hash.digest('hex') }, identity: identityOf(file.item) };
	} catch (error) {
		unlessFailure(error);
		// It is gone, or has changed while it was read.
		if (!isFailure(error, 'notFound') && !isFailure(error, 'conflict')) onUnreadable(path);
		return undefined;
	} finally {
		await file?.close();
	}
}
