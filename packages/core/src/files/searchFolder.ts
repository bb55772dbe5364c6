import type { StorageEntry, StorageProvider } from '@stowage/plugin-api';
import { type Entry, isFailure, joinPath, matchesSearch } from '@stowage/rules';
import { countedRows } from './countedRows.js';
import { notThere, type Place } from './places.js';

/** Hits that one search may answer. */
export const maxSearchHits = 1000;

/**
 * Everything below the places whose name holds the term, found by walking breadth first, so that what is near comes first. Folders that may not be read are passed over. Throws the signal's reason once it is fired.
 */
export async function searchPlaces(
	storage: StorageProvider,
	places: readonly Place[],
	term: string,
	signal?: AbortSignal,
): Promise<{ entries: Entry[]; truncated?: true }> {
	const hits: { folder: Place; item: StorageEntry }[] = [];
	let isTruncated = false;
	let isAnyThere = places.some((place) => place.path === '');
	const queue = [...places];
	for (let folder = queue.shift(); folder !== undefined && !isTruncated; folder = queue.shift()) {
		try {
			signal?.throwIfAborted();
			for await (const batch of storage.list(folder.at)) {
				signal?.throwIfAborted();
				isAnyThere = true;
				for (const item of batch) {
					if (item.type === 'directory') queue.push(childOf(folder, item.name));
					if (matchesSearch(item.name, term)) hits.push({ folder, item });
				}
				isTruncated = hits.length > maxSearchHits;
				if (isTruncated) break;
			}
			isAnyThere = true;
		} catch (error) {
			if (!isFailure(error, 'notFound') && !isFailure(error, 'forbidden')) throw error;
		}
	}
	if (!isAnyThere) throw notThere();
	const rows = await countedRows(storage, hits.slice(0, maxSearchHits), signal);
	return isTruncated ? { entries: rows, truncated: true } : { entries: rows };
}

function childOf({ area, owner, path, at }: Place, name: string): Place {
	return { area, owner, path: joinPath(path, name), at: joinPath(at, name) };
}
