import type { StorageProvider } from '@stowage/plugin-api';
import { type Entry, isFailure, joinPath, matchesSearch } from '@stowage/rules';
import { entryIn } from './entries.js';
import { notThere, type Place } from './places.js';

/** Hits that one search may answer. */
export const maxSearchHits = 1000;

/**
 * Everything below the places whose name holds the term, found by walking breadth first, so that what is near comes first. Folders that may not be read are passed over.
 */
export async function searchPlaces(
	storage: StorageProvider,
	places: readonly Place[],
	term: string,
): Promise<{ entries: Entry[]; truncated?: true }> {
	const entries: Entry[] = [];
	let isAnyThere = places.some((place) => place.path === '');
	const queue = [...places];
	for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
		try {
			for await (const batch of storage.list(folder.at)) {
				isAnyThere = true;
				for (const item of batch) {
					if (item.type === 'directory') queue.push(childOf(folder, item.name));
					if (!matchesSearch(item.name, term)) continue;
					if (entries.length === maxSearchHits) return { entries, truncated: true };
					entries.push(entryIn(folder, item));
				}
			}
			isAnyThere = true;
		} catch (error) {
			if (!isFailure(error, 'notFound') && !isFailure(error, 'forbidden')) throw error;
		}
	}
	if (!isAnyThere) throw notThere();
	return { entries };
}

function childOf({ area, owner, path, at }: Place, name: string): Place {
	return { area, owner, path: joinPath(path, name), at: joinPath(at, name) };
}
