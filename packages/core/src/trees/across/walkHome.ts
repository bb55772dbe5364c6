import { createHash } from 'node:crypto';
import { hasListWithStats, type StorageItem, type StorageProvider } from '@stowage/plugin-api';
import { baseName, Failure, isFailure, joinChecked, joinPath, plural, type StoragePath } from '@stowage/rules';
import { itemsIn } from './itemsIn.js';

export interface HomeItem {
	/** Relative to where the walk began. */
	path: StoragePath;
	item: StorageItem;
}

/** Names of items that can't be moved in the message. */
const maxNames = 5;

/**
 * All items of a folder and below. Throws `conflict` for an item that can't be read as a file or folder, since a home
 * is moved whole or not at all.
 */
export async function* walkHome(
	storage: StorageProvider,
	root: StoragePath,
	signal: AbortSignal,
	path: StoragePath = '' as StoragePath,
): AsyncGenerator<HomeItem> {
	for (const item of await itemsOf(storage, joinChecked(root, path), path)) {
		signal.throwIfAborted();
		const inner = joinPath(path, item.name);
		yield { path: inner, item };
		if (item.type !== 'directory') continue;
		try {
			yield* walkHome(storage, root, signal, inner);
		} catch (error) {
			// Removed since it was listed.
			if (!isFailure(error, 'notFound')) throw error;
		}
	}
}

/** All items of one folder. `name` is the folder's name in messages. */
export async function itemsOf(
	storage: StorageProvider,
	folder: StoragePath,
	name: StoragePath,
): Promise<StorageItem[]> {
	const found: StorageItem[] = [];
	const batches = hasListWithStats(storage) ? storage.listWithStats(folder) : itemsIn(storage, folder);
	for await (const { items, skipped, skippedNames = [] } of batches) {
		if (skipped > 0) throw cannotMove(name, skipped, skippedNames);
		for (const item of items) found.push(item);
	}
	return found;
}

function cannotMove(folder: StoragePath, count: number, names: readonly string[]): Failure {
	const listed = names.slice(0, maxNames).map((name) => JSON.stringify(name));
	const which = listed.length === 0 ? '' : `: ${listed.join(', ')}${count > listed.length ? ', …' : ''}`;
	const where = folder === '' ? 'the home itself' : JSON.stringify(folder);
	return new Failure(
		'conflict',
		`In ${where} there ${count === 1 ? 'is' : 'are'} ${plural(count, 'thing')} that can’t be moved (a link, a special file, a name that is no text, or something that the server may not read)${which}. Nothing was moved: remove or rename that first.`,
	);
}

/** The refusal to move a folder by a copy, which would lack things that are in no list. */
export function cannotCopyAll(path: StoragePath, cause?: unknown): Failure {
	return new Failure(
		'conflict',
		`${baseName(path)} has something that its copy would lack (a link, a special file, a name that is no text, or something that the server may not read), and stays where it was. Remove or rename that first.`,
		{ cause },
	);
}

/** The content of a home. `onItem` is called for the home itself and all in it, by its path in the home. */
export async function measureHome(
	storage: StorageProvider,
	home: StoragePath,
	signal: AbortSignal,
	onItem?: (path: StoragePath, type: 'file' | 'directory') => Promise<void>,
): Promise<{ files: number; bytes: number }> {
	let files = 0;
	let bytes = 0;
	try {
		await onItem?.('' as StoragePath, 'directory');
		for await (const { path, item } of walkHome(storage, home, signal)) {
			if (item.type === 'file') files++;
			bytes += item.size;
			await onItem?.(path, item.type);
		}
	} catch (error) {
		// It was never made.
		if (!isFailure(error, 'notFound')) throw error;
	}
	return { files, bytes };
}

/** A digest of all files and folders of a tree with their contents, independent of their order. */
export class TreeDigest {
	readonly #sum = Buffer.alloc(32);

	add(path: StoragePath, { type, version }: StorageItem): void {
		const own = type === 'file' ? version : '';
		const digest = createHash('sha256').update(`${type}\0${path}\0${own}`).digest();
		for (let n = 0; n < digest.length; n++) this.#sum[n] = (this.#sum[n] ?? 0) ^ (digest[n] ?? 0);
	}

	toString(): string {
		return this.#sum.toString('hex');
	}
}

/** The digest of a tree as it is now. Throws `notFound` where there is none. */
export async function digestOf(storage: StorageProvider, root: StoragePath, signal: AbortSignal): Promise<string> {
	const digest = new TreeDigest();
	for await (const { path, item } of walkHome(storage, root, signal)) digest.add(path, item);
	return digest.toString();
}
