import { type FoundListing, type ItemRef, Yielder } from '@stowage/plugin-api';
import { isFailure, matchesSearch, maxSearchResults, type Owner, type Viewer } from '@stowage/rules';
import { childOf, notFound, type Place } from '../trees/Tree.js';
import { countedRows, type Found } from './entries.js';
import type { FileParts } from './FileParts.js';
import { shownPlaces } from './list.js';

/** All below the folder whose name contains the term. */
export async function search(
	parts: FileParts,
	viewer: Viewer,
	folder: ItemRef,
	term: string,
	signal?: AbortSignal,
): Promise<FoundListing> {
	return searchPlaces(await shownPlaces(parts, viewer, folder), term, signal);
}

/**
 * All entries below the places whose name contains the term, found breadth first, so that the nearest ones come first. Folders that may not be read are skipped. Throws the signal's reason when it is aborted.
 */
async function searchPlaces(places: readonly Place[], term: string, signal?: AbortSignal): Promise<FoundListing> {
	const hits: Found[] = [];
	let isTruncated = false;
	const away: unknown[] = [];
	const missing = new Set<Owner>();
	let isAnyThere = places.some((place) => place.path === '');
	const yielder = new Yielder();
	let level: readonly Place[] = places;
	while (level.length > 0 && !isTruncated) {
		const below: Place[] = [];
		for (const folder of level) {
			if (isTruncated) break;
			await searchOne(folder, below);
		}
		level = below;
	}
	if (away.length >= places.length || (away.length > 0 && !isAnyThere)) throw away[0];
	if (!isAnyThere) throw notFound();
	return {
		entries: await countedRows(hits.slice(0, maxSearchResults), signal),
		...(isTruncated ? { truncated: true } : {}),
		...(missing.size > 0 ? { missing: [...missing] } : {}),
	};

	/** Collects the hits in one folder, and its folders. */
	async function searchOne(folder: Place, below: Place[]): Promise<void> {
		try {
			signal?.throwIfAborted();
			if (yielder.shouldYield) await yielder.yield(signal);
			for await (const batch of folder.tree.storage.list(folder.storagePath)) {
				signal?.throwIfAborted();
				isAnyThere = true;
				for (const item of batch) {
					if (item.type === 'directory') below.push(childOf(folder, item.name));
					if (matchesSearch(item.name, term)) hits.push({ folder, item });
				}
				isTruncated = hits.length > maxSearchResults;
				if (isTruncated) break;
			}
			isAnyThere = true;
		} catch (error) {
			if (isFailure(error, 'unavailable')) {
				away.push(error);
				missing.add(folder.tree.owner ?? null);
			} else if (!isFailure(error, 'notFound') && !isFailure(error, 'forbidden')) throw error;
		}
	}
}
