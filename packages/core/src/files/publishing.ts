import type { CopyStaging, PublishedNameStore, PublishOptions, PublishRequest, StorageItem } from '@stowage/plugin-api';
import { isFailure, joinPath, type StoragePath } from '@stowage/rules';
import type { Log } from '../log.js';
import { TriedNames, withFreeName } from '../trees/freeName.js';
import type { ItemStorage } from '../trees/Mounts.js';

/** Where the other name is recorded that a file is about to get instead of the one it wished. */
export type PublishedNames = Pick<PublishedNameStore, 'set' | 'find'>;

/** Publishes a file that an interrupted call may have published already: then that entry is returned. Discards nothing. */
export async function publishFileOnce(
	storage: ItemStorage,
	names: PublishedNames,
	folder: StoragePath,
	request: PublishRequest,
): Promise<StorageItem> {
	try {
		return await publishAs(folder, request, { names });
	} catch (error) {
		const found = isFailure(error, 'notFound')
			? await findPublishedFile(storage, names, folder, request.staged.id, request.name)
			: undefined;
		if (found === undefined) throw error;
		return found;
	}
}

/** The entry that a staged file with this wished name was published as, by this or another process. */
export async function findPublishedFile(
	storage: ItemStorage,
	names: PublishedNames,
	folder: StoragePath,
	stagedId: string,
	requestedName: string,
): Promise<StorageItem | undefined> {
	const recorded = await names.find(stagedId);
	const found = recorded === undefined ? undefined : await storage.findPublished(stagedId, joinPath(folder, recorded));
	// A later attempt may have found the wished name free again.
	return found ?? storage.findPublished(stagedId, joinPath(folder, requestedName));
}

/** A copy that may be continued; it records which other name than the wished one it is about to get. */
export async function namedCopy(
	names: PublishedNames,
	staging: CopyStaging,
): Promise<CopyStaging & { recordName(name: string, wished: string): Promise<void> }> {
	const { id } = staging;
	const copy = {
		id,
		name: id === undefined ? undefined : await names.find(id),
		async onBegin(begun: string) {
			copy.id = begun;
			copy.name = undefined;
			await staging.onBegin(begun);
		},
		async recordName(name: string, wished: string) {
			if (copy.id === undefined || name === wished) return;
			await names.set(copy.id, name);
			copy.name = name;
		},
	};
	return copy;
}

function publishAs(
	folder: StoragePath,
	{ staged, name, mtime }: PublishRequest,
	{ names, skipped }: { names?: PublishedNames | undefined; skipped?: number },
): Promise<StorageItem> {
	const beforeNaming = names && (async (next: string) => void (next !== name && (await names.set(staged.id, next))));
	const options = { beforeNaming, ...(mtime === undefined ? {} : { mtime }) };
	return withFreeName(
		folder,
		name,
		'file',
		(path, { otherNames }) => staged.commit(path, { ...options, otherNames }),
		skipped,
	);
}

/** Publishes all or none: if one fails, those before it are removed again and the rest is discarded, unless `mayRollBack` forbids it. */
export async function publishAll(
	storage: ItemStorage,
	folder: StoragePath,
	requests: readonly PublishRequest[],
	log: Log,
	options?: PublishOptions & { names: PublishedNames },
): Promise<StorageItem[]> {
	const published: StorageItem[] = [];
	const tried = new TriedNames();
	let refused: PublishRequest | undefined;
	try {
		for (const request of requests) {
			refused = request;
			const item = await publishAs(folder, request, { names: options?.names, skipped: tried.count(request.name) });
			tried.record(request.name, item.name);
			published.push(item);
		}
		return published;
	} catch (error) {
		if (refused !== undefined && (await options?.mayRollBack(refused)) === false) throw error;
		const undone = await Promise.allSettled([
			...published.map((item) => removePublished(storage, joinPath(folder, item.name), item.id)),
			...requests.map(({ staged }) => staged.discard()),
		]);
		// The caller gets the original error, not one of the cleanup.
		for (const each of undone)
			if (each.status === 'rejected') log.error({ err: each.reason }, 'a refused upload could not be rolled back');
		throw error;
	}
}

async function removePublished(storage: ItemStorage, path: StoragePath, id: string): Promise<void> {
	try {
		// The file may have been replaced by another one since.
		if ((await storage.stat(path)).id === id) await storage.remove(path);
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
}
