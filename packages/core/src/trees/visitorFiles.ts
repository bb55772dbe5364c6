import { randomBytes } from 'node:crypto';
import { fstat } from 'node:fs';
import { promisify } from 'node:util';
import type { StorageProvider } from '@stowage/plugin-api';
import {
	anonymousOwner,
	baseName,
	Failure,
	homeRoot,
	isFailure,
	joinPath,
	parentPath,
	publicRoot,
	relativePath,
	type StoragePath,
	undefinedIf,
} from '@stowage/rules';
import { withFreeName } from './freeName.js';

/** A file that a visitor has uploaded. */
export interface VisitorFile {
	/** As the public area shows it. */
	path: StoragePath;
	size: number;
	/** The time of its upload by the disk's clock, since the modified time is set by the visitor. Milliseconds since the epoch. */
	arrivedAt: number;
	/** The very file. */
	id: string;
}

const root = publicRoot(anonymousOwner);

/** The files that visitors uploaded before a time, in no order. */
export async function* visitorFiles(storage: StorageProvider, before: number): AsyncGenerator<VisitorFile> {
	const folders = [root];
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		const rows: { name: string; type: string }[] = [];
		for await (const batch of storage.list(folder)) rows.push(...batch);
		for (const { name, type } of rows) {
			const at = joinPath(folder, name);
			if (type === 'directory') folders.push(at);
			else {
				const found = await undefinedIf(statFile(storage, at), 'notFound');
				if (found !== undefined && found.arrivedAt < before) yield found;
			}
		}
	}
}

async function statFile(storage: StorageProvider, at: StoragePath): Promise<VisitorFile> {
	const file = await storage.open(at);
	try {
		if (file.withLocalFile === undefined)
			throw new Failure('invalid', 'This storage does not tell when a file came, so none can be chosen by its age.');
		// The time of its last change of any kind: never before its upload.
		const { ctimeMs } = await file.withLocalFile(({ descriptor }) => promisify(fstat)(descriptor));
		return { path: relativePath(at, root), size: file.item.size, arrivedAt: ctimeMs, id: file.item.id };
	} finally {
		await file.close();
	}
}

/**
 * Removes this very file, and the folders that it leaves empty. A newer file of its name is left, or restored: the id of the removed file is checked
 * before it is deleted. Resolves to whether it was removed.
 */
export async function removeVisitorFile(storage: StorageProvider, { path, id }: VisitorFile): Promise<boolean> {
	const at = joinPath(root, path);
	const taken = joinPath(homeRoot(anonymousOwner), `removed-${randomBytes(8).toString('hex')}`);
	try {
		if ((await storage.stat(at)).id !== id) return false;
		const moved = await storage.move(at, taken);
		if (moved.id !== id) {
			await withFreeName(parentPath(at), baseName(at), 'file', (back, options) => storage.move(taken, back, options));
			return false;
		}
	} catch (error) {
		if (isFailure(error, 'notFound')) return false;
		throw error;
	}
	await storage.remove(taken);
	for (let folder = parentPath(at); folder !== root; folder = parentPath(folder)) {
		try {
			await storage.removeEmptyFolder(folder);
		} catch (error) {
			if (isFailure(error, 'conflict') || isFailure(error, 'notFound')) break;
			throw error;
		}
	}
	return true;
}
