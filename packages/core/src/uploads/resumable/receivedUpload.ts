import type { TakenItem, UploadRecord } from '@stowage/plugin-api';
import {
	baseName,
	candidateNames,
	Failure,
	homeRoot,
	isFailure,
	joinPath,
	parentPath,
	parsePath,
	type StoragePath,
	undefinedIf,
	type Viewer,
	withSuffix,
} from '@stowage/rules';
import { versionOf } from '../../trees/identity.js';
import { findUpload, receivingOf, targetOf, type UploadParts } from './UploadParts.js';

/** How long a sender may take a file back. */
const takeBackMs = 60 * 60_000;

/**
 * The folder that the file of an upload goes to, at its present path. What a share receives goes to its sender's folder
 * within the shared one, which is made if it is missing.
 */
export async function ensureTargetFolder(
	parts: UploadParts,
	owner: Viewer,
	record: UploadRecord,
): Promise<StoragePath> {
	const receiving = receivingOf(owner);
	if (receiving === undefined) return (await targetOf(parts, owner, record)).path;
	const { folder } = await parts.receiver(receiving.share);
	return record.directory === '' ? folder : senderFolder(parts, owner, joinPath(folder, record.directory));
}

/**
 * Publishes a file that a share has received under its name or, where as many names as there are for it are taken,
 * under one of its own: by sending that many a stranger would keep others from sending theirs, and learn whether the
 * owner has one.
 */
export async function publishReceived<T>(
	name: string,
	idHash: string,
	publish: (name: string) => Promise<T>,
): Promise<T> {
	try {
		return await publish(name);
	} catch (error) {
		if (!isFailure(error, 'alreadyExists')) throw error;
		return publish(withSuffix(name, 'file', ` (${idHash.slice(0, 8)})`));
	}
}

/** The folder at that path, made if it is missing. Where a file has its name, a number is added. */
async function senderFolder({ files }: UploadParts, owner: Viewer, path: StoragePath): Promise<StoragePath> {
	const wished = baseName(path);
	const parent = parentPath(path);
	for (const name of [wished, ...candidateNames(wished, 'directory')]) {
		const ref = { area: 'private', path: joinPath(parent, name) } as const;
		const found = await undefinedIf(files.find(owner, ref), 'notFound');
		if (found?.type === 'directory') return ref.path;
		if (found !== undefined) continue;
		try {
			return parsePath((await files.createFolder(owner, { area: 'private', path: parent }, name)).path);
		} catch (error) {
			// Another upload of the same sender has made it meanwhile.
			if (!isFailure(error, 'alreadyExists')) throw error;
			return ref.path;
		}
	}
	throw new Failure('conflict', 'No folder of that name can be made.');
}

/**
 * Removes for good a file that this client has sent to a share. Resolves to false for an upload that is not finished. Throws `expired` an
 * hour after it was sent, and `notFound` where the file was moved or changed since, or was sent by another client.
 */
export async function takeBack(parts: UploadParts, viewer: Viewer, idHash: string): Promise<boolean> {
	const { database, files, storage, log, now } = parts;
	const { received, entryPath, itemId, touchedAt } = await findUpload(parts, viewer, idHash);
	const receiving = receivingOf(viewer);
	if (viewer.kind !== 'user' || received === null || received.client !== receiving?.client) throw notFound();
	if (entryPath === null) return false;
	const path = parsePath(entryPath);
	const item = await undefinedIf(storage.stat(joinPath(homeRoot(viewer.username), path)), 'notFound');
	const isThere = item !== undefined && versionOf(item) === itemId;
	// It was removed by an earlier call, which could not record it.
	if (!isThere && received.isTakenBack) {
		await database.uploads.takeBack(idHash);
		return true;
	}
	if (now() - touchedAt >= takeBackMs) throw new Failure('expired', 'What was sent can be taken back for an hour.');
	// It was moved or replaced, or somebody has written to it: what is there now was not sent.
	if (!isThere) throw notFound();
	await database.uploads.beginTakeBack(idHash);
	// Whose folder it is may save another content there at any moment.
	const isMeant = async ({ item: taken }: TakenItem) => versionOf(taken) === itemId;
	try {
		await files.remove(viewer, { area: 'private', path }, { isForGood: true, isMeant });
	} catch (error) {
		const warn = (cause: unknown) =>
			log.warn({ err: cause }, 'it could not be recorded that a file was not taken back');
		await database.uploads.cancelTakeBack(idHash).catch(warn);
		throw isFailure(error, 'preconditionFailed') ? notFound() : error;
	}
	await database.uploads.takeBack(idHash);
	return true;
}

const notFound = () => new Failure('notFound', 'That is not here any more.');
