import type { CommitOptions, StagedFile, StorageItem, StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure, joinPath, type StoragePath } from '@stowage/rules';
import { ensureFolder } from '../storage/folders.js';
import { ignoreMissing } from '../storage/Mounts.js';
import { withPrefix } from '../storage/rootIds.js';
import { copiesFolder, isCrossingName } from './copies.js';

/** A staged file whose home is on another root by now than the one that it was staged on, or was there meanwhile. */
export interface Crossing {
	/** 64 hexadecimal digits that identify the staged file, also after a restart. */
	key: string;
	source: StorageProvider;
	target: StorageProvider;
	/** The prefix of the target's ids. */
	targetPrefix: string;
	/** A root by the prefix of its ids; undefined once it has left the list. */
	rootOf(prefix: string): StorageProvider | undefined;
}

interface CommitAcrossOptions extends CommitOptions {
	/** Called before each chunk is copied. What it throws ends the copy, which the next call begins again. */
	beforeChunk?(): void;
}

/** The staged file on a target that the bytes of a crossing go to. */
interface CrossingCopy {
	id: string;
	/** The prefix of its root's ids; undefined if an earlier version began it, which did not record it. */
	prefix: string | undefined;
	/** The name of the bytes in the folder of the crossing. */
	name: string;
	isDone: boolean;
}

/** The suffix of a name once its bytes have arrived. */
const doneSuffix = '.done';

/** A character that no id of a storage contains. */
const separator = '~';

/**
 * Publishes a staged file on another root, whole or not at all. It leaves staging for a folder in `copies` of its old
 * root, in one step under a name that identifies the staged file on the target its bytes go to: so an interrupted call
 * continues, and there is never a second file. If the home has moved on meanwhile, the bytes go to where it is then,
 * which may be their old root. Throws `notFound` as `StagedFile.commit` does.
 */
export async function commitAcross(
	staged: StagedFile,
	crossing: Crossing,
	path: StoragePath,
	{ beforeChunk, ...options }: CommitAcrossOptions = {},
): Promise<StorageItem> {
	const { source } = crossing;
	const folder = folderOf(crossing);
	const known = await findCopy(source, folder);
	if (known?.isDone) throw noSuchUpload();
	const { copy, name } =
		known === undefined ? await leaveStaging(staged, crossing, folder) : await resume(crossing, folder, known);
	const between = joinPath(folder, name);
	const file = await source.open(between);
	let item: StorageItem;
	try {
		await copy.append(ownMemory(file.read(), beforeChunk), 0);
		item = await copy.commit(path, { ...options, mtime: options.mtime ?? file.item.mtime });
	} finally {
		await file.close();
	}
	await source.makeDirectory(joinPath(folder, `${name}${doneSuffix}`));
	await source.remove(between);
	return item;
}

/** Whether the staged file has left staging for another root and was not published there yet. */
export async function isCrossing(crossing: Crossing): Promise<boolean> {
	return (await findCopy(crossing.source, folderOf(crossing)))?.isDone === false;
}

/** The ids, among all roots, of the staged files to which the bytes of this root's crossings still go. */
export async function crossingTargets(source: StorageProvider): Promise<Set<string>> {
	const ids = new Set<string>();
	const folders: StoragePath[] = [];
	try {
		for await (const batch of source.list(copiesFolder))
			for (const { name } of batch) if (isCrossingName(name)) folders.push(joinPath(copiesFolder, name));
	} catch (error) {
		ignoreMissing(error);
	}
	for (const folder of folders) {
		const copy = await findCopy(source, folder);
		// One whose root an earlier version did not record is on any of them.
		if (copy?.isDone === false) ids.add(copy.prefix === undefined ? copy.id : withPrefix(copy.id, copy.prefix));
	}
	return ids;
}

/** The item at the path, if the staged file was published as it. */
export async function publishedAcross(crossing: Crossing, path: StoragePath): Promise<StorageItem | undefined> {
	const { source, target, targetPrefix } = crossing;
	const copy = await findCopy(source, folderOf(crossing));
	if (copy === undefined || (copy.prefix ?? targetPrefix) !== targetPrefix) return undefined;
	return target.findPublished(copy.id, path);
}

/** The staged file on a target that was begun before. */
async function findCopy(source: StorageProvider, folder: StoragePath): Promise<CrossingCopy | undefined> {
	try {
		for await (const batch of source.list(folder)) for (const { name } of batch) return copyOf(name);
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	return undefined;
}

async function leaveStaging(staged: StagedFile, { source, target, targetPrefix }: Crossing, folder: StoragePath) {
	const copy = await target.stage();
	const name = nameOf(targetPrefix, copy.id);
	try {
		await ensureFolder(source, folder);
		await staged.commit(joinPath(folder, name));
		return { copy, name };
	} catch (error) {
		// After any other error it is unknown whether it has left, and its bytes may already be meant for this copy.
		if (isFailure(error, 'notFound')) await copy.discard();
		throw error;
	}
}

async function resume(
	{ source, target, targetPrefix, rootOf }: Crossing,
	folder: StoragePath,
	{ id, prefix, name: known }: CrossingCopy,
) {
	if (prefix === undefined || prefix === targetPrefix) return { copy: await target.stage(id), name: known };
	const former = await rootOf(prefix)?.stage(id);
	// It is staged there no more if it was published: then the file has moved on with its home.
	await former?.size();
	const copy = await target.stage();
	const name = nameOf(targetPrefix, copy.id);
	await source.move(joinPath(folder, known), joinPath(folder, name));
	// Not before the bytes are meant for another one. What a crash leaves is swept.
	await former?.discard().catch(ignoreMissing);
	return { copy, name };
}

function folderOf({ key }: Crossing): StoragePath {
	return joinPath(copiesFolder, key);
}

function nameOf(prefix: string, id: string): string {
	return `to-${Buffer.from(`${prefix}${separator}${id}`).toString('base64url')}`;
}

function copyOf(name: string): CrossingCopy {
	const isDone = name.endsWith(doneSuffix);
	const text = Buffer.from(name.slice('to-'.length, isDone ? -doneSuffix.length : undefined), 'base64url').toString();
	const end = text.indexOf(separator);
	return { id: text.slice(end + 1), prefix: end === -1 ? undefined : text.slice(0, end), name, isDone };
}

function noSuchUpload(): Failure {
	return new Failure('notFound', 'That upload is not known.');
}

/** The reader uses its memory again, and the writer may still need it. */
async function* ownMemory(chunks: AsyncIterable<Uint8Array>, beforeChunk?: () => void): AsyncGenerator<Uint8Array> {
	for await (const chunk of chunks) {
		beforeChunk?.();
		yield Buffer.from(chunk);
	}
}
