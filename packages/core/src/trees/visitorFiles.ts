import { randomBytes } from 'node:crypto';
import { fstat } from 'node:fs';
import { promisify } from 'node:util';
import { type StorageItem, type StorageProvider, trashFolder } from '@stowage/plugin-api';
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
} from '@stowage/rules';
import { withFreeName } from './freeName.js';
import { withTrashFolder } from './trash/moveTrash.js';
import type { TrashMoves } from './trash/TrashMoves.js';
import { unrecordedFolder } from './trash/trashPaths.js';

/** A file that a visitor has uploaded. */
export interface VisitorFile {
	/** The path that the public area shows. */
	path: StoragePath;
	size: number;
	/** The time of its upload by the disk's clock, since the modified time is set by the visitor. Milliseconds since the epoch. */
	arrivedAt: number;
	/** The very file. */
	id: string;
}

const root = publicRoot(anonymousOwner);

/**
 * The files that visitors uploaded before a time, in no order. What can't be read, such as a folder that another
 * program has closed to the server, is left out: `onUnreadable` is told of it, as the public area shows it.
 */
export async function* visitorFiles(
	storage: StorageProvider,
	before: number,
	onUnreadable: (path: StoragePath) => void = () => undefined,
): AsyncGenerator<VisitorFile> {
	const folders = [root];
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		const rows: { name: string; type: string }[] = [];
		try {
			for await (const batch of storage.list(folder)) rows.push(...batch);
		} catch (error) {
			if (!isFailure(error, 'forbidden')) throw error;
			onUnreadable(relativePath(folder, root));
		}
		for (const { name, type } of rows) {
			const at = joinPath(folder, name);
			if (type === 'directory') folders.push(at);
			else {
				const found = await statFile(storage, at).catch((error: unknown) => {
					if (isFailure(error, 'forbidden')) onUnreadable(relativePath(at, root));
					else if (!isFailure(error, 'notFound')) throw error;
				});
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
 * Moves this very file to the trash, as one that visitors had, or without one removes it for good; then the folders
 * that it leaves empty. A newer file of its name is left, or restored: the id of the moved file is checked. Resolves
 * to whether it was removed, and to its id in the trash.
 */
export async function removeVisitorFile(
	storage: StorageProvider,
	{ path, id }: VisitorFile,
	trash?: Pick<TrashMoves, 'keep'>,
): Promise<{ isRemoved: boolean; trashId?: string }> {
	const at = joinPath(root, path);
	const take = async (to: StoragePath): Promise<StorageItem> => {
		if ((await storage.stat(at)).id !== id) throw fileReplaced();
		const taken = await storage.move(at, to);
		if (taken.id === id) return taken;
		await withFreeName(parentPath(at), baseName(at), 'file', (back, options) => storage.move(to, back, options));
		throw fileReplaced();
	};
	let trashId: string | undefined;
	try {
		if (trash === undefined) {
			const taken = joinPath(homeRoot(anonymousOwner), `removed-${randomBytes(8).toString('hex')}`);
			await take(taken);
			await storage.remove(taken);
		} else {
			const kept = {
				ownerId: anonymousOwner,
				ownerName: anonymousOwner,
				rootId: storage.rootId,
				path: relativePath(at, homeRoot(anonymousOwner)),
				type: 'file',
				deletedBy: administrator,
			} as const;
			const move = (_id: string, to: StoragePath) =>
				withTrashFolder(storage, () => take(to), [trashFolder, unrecordedFolder]);
			trashId = (await trash.keep(kept, move)).id;
		}
	} catch (error) {
		if (isFailure(error, 'notFound')) return { isRemoved: false };
		throw error;
	}
	for (let folder = parentPath(at); folder !== root; folder = parentPath(folder)) {
		try {
			await storage.removeEmptyFolder(folder);
		} catch (error) {
			if (isFailure(error, 'conflict') || isFailure(error, 'notFound')) break;
			throw error;
		}
	}
	return { isRemoved: true, ...(trashId === undefined ? {} : { trashId }) };
}

/** Who works by the command line, as in the audit log. */
const administrator = 'administrator';

const fileReplaced = () => new Failure('notFound', 'Another file has its name now.');
