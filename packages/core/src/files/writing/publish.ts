import type {
	CopyStaging,
	NamingOptions,
	PublishedNameStore,
	PublishOptions,
	PublishRequest,
	StorageItem,
	StorageProvider,
} from '@stowage/plugin-api';
import { candidateNames, Failure, isFailure, joinPath, type StoragePath } from '@stowage/rules';
import type { Log } from '../../log.js';

/**
 * Runs `place`, which gives an item the wished name in a folder or, where that is taken, the first free one of `otherNames`. There is no check before: another process could
 * take the name between the check and the write. The first `skipped` names are known to be taken.
 */
export async function withFreeName(
	folder: StoragePath,
	name: string,
	type: 'file' | 'directory',
	place: (path: StoragePath, options: NamingOptions) => Promise<StorageItem>,
	skipped = 0,
): Promise<StorageItem> {
	const tooMany = (cause?: unknown) =>
		new Failure('alreadyExists', `There are too many files named ${name} already.`, { cause });
	const [first] = candidateNames(name, type, skipped);
	if (first === undefined) throw tooMany();
	try {
		const otherNames = { [Symbol.iterator]: () => candidateNames(name, type, skipped + 1) };
		return await place(joinPath(folder, first), { otherNames });
	} catch (error) {
		throw isFailure(error, 'alreadyExists') ? tooMany(error) : error;
	}
}

/** Where the other name is recorded that a file is about to get instead of the one it wished. */
export type PublishedNames = Pick<PublishedNameStore, 'set' | 'find'>;

/** Publishes a file that an interrupted call may have published already: then that entry is returned. Discards nothing. */
export async function publishOnce(
	storage: StorageProvider,
	names: PublishedNames,
	folder: StoragePath,
	request: PublishRequest,
): Promise<StorageItem> {
	try {
		return await publishAs(folder, request, { names });
	} catch (error) {
		const found = isFailure(error, 'notFound')
			? await findPublished(storage, names, folder, request.staged.id, request.name)
			: undefined;
		if (found === undefined) throw error;
		return found;
	}
}

/** The entry that a staged file with this wished name was published as, by this or another process. */
export async function findPublished(
	storage: StorageProvider,
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

/** How many names were tried for files of one form: those before are taken, mostly by the form itself. */
class TriedNames {
	readonly #counts = new Map<string, number>();

	count(name: string): number {
		return this.#counts.get(name) ?? 0;
	}

	/** Records which name a file got instead of the wished one. */
	record(wished: string, name: string): void {
		let count = this.count(wished);
		for (const candidate of candidateNames(wished, 'file', count)) {
			count++;
			if (candidate === name) break;
		}
		this.#counts.set(wished, count);
	}
}

/** Publishes all or none: if one fails, those before it are removed again and the rest is discarded, unless `mayRollBack` forbids it. */
export async function publishAll(
	storage: StorageProvider,
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

async function removePublished(storage: StorageProvider, path: StoragePath, id: string): Promise<void> {
	try {
		// The file may have been replaced by another one since.
		if ((await storage.stat(path)).id === id) await storage.remove(path);
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
}
