import type { CommitOptions, StagedFile, StorageItem, StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure, joinPath, type StoragePath } from '@stowage/rules';
import { ensureFolder } from '../storage/folders.js';
import { copiesFolder } from './copies.js';

/** A staged file whose home is on another root by now than the one that it was staged on. */
export interface Crossing {
	/** 64 hexadecimal digits that identify the staged file, also after a restart. */
	key: string;
	source: StorageProvider;
	target: StorageProvider;
}

/** The suffix of a name once its bytes have arrived. */
const doneSuffix = '.done';

/**
 * Publishes a staged file on another root, whole or not at all. It leaves staging for a folder in `copies` of its old
 * root, in one step under a name that identifies the staged file on the target its bytes go to: so an interrupted call
 * continues, and there is never a second file. Throws `notFound` as `StagedFile.commit` does.
 */
export async function commitAcross(
	staged: StagedFile,
	{ key, source, target }: Crossing,
	path: StoragePath,
	options: CommitOptions = {},
): Promise<StorageItem> {
	const folder = joinPath(copiesFolder, key);
	const known = await findCopy(source, folder);
	if (known?.isDone) throw noSuchUpload();
	const copy = known === undefined ? await leaveStaging(staged, source, target, folder) : await target.stage(known.id);
	const between = joinPath(folder, nameOf(copy.id));
	const file = await source.open(between);
	let item: StorageItem;
	try {
		await copy.append(ownMemory(file.read()), 0);
		item = await copy.commit(path, { ...options, mtime: options.mtime ?? file.item.mtime });
	} finally {
		await file.close();
	}
	await source.makeDirectory(joinPath(folder, `${nameOf(copy.id)}${doneSuffix}`));
	await source.remove(between);
	return item;
}

/** The item at the path, if the staged file was published as it. */
export async function publishedAcross(
	{ key, source, target }: Crossing,
	path: StoragePath,
): Promise<StorageItem | undefined> {
	const copy = await findCopy(source, joinPath(copiesFolder, key));
	return copy && target.findPublished(copy.id, path);
}

/** The staged file on the target that was begun before. */
async function findCopy(
	source: StorageProvider,
	folder: StoragePath,
): Promise<{ id: string; isDone: boolean } | undefined> {
	try {
		for await (const batch of source.list(folder)) {
			for (const { name } of batch) {
				const isDone = name.endsWith(doneSuffix);
				return { id: idOf(isDone ? name.slice(0, -doneSuffix.length) : name), isDone };
			}
		}
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	return undefined;
}

async function leaveStaging(
	staged: StagedFile,
	source: StorageProvider,
	target: StorageProvider,
	folder: StoragePath,
): Promise<StagedFile> {
	const copy = await target.stage();
	try {
		await ensureFolder(source, folder);
		await staged.commit(joinPath(folder, nameOf(copy.id)));
		return copy;
	} catch (error) {
		// After any other error it is unknown whether it has left, and its bytes may already be meant for this copy.
		if (isFailure(error, 'notFound')) await copy.discard();
		throw error;
	}
}

function nameOf(id: string): string {
	return `to-${Buffer.from(id).toString('base64url')}`;
}

function idOf(name: string): string {
	return Buffer.from(name.slice('to-'.length), 'base64url').toString();
}

function noSuchUpload(): Failure {
	return new Failure('notFound', 'That upload is not known.');
}

/** The reader uses its memory again, and the writer may still need it. */
async function* ownMemory(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	for await (const chunk of chunks) yield Buffer.from(chunk);
}
