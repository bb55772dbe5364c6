import { type FoundListing, type ItemRef, type Turn, Yielder } from '@stowage/plugin-api';
import {
	type Entry,
	isFailure,
	maxSearchResults,
	type Owner,
	type SearchQuery,
	searchMatcher,
	type Viewer,
} from '@stowage/rules';
import { childOf, notFound, type Place } from '../trees/Tree.js';
import { countedRows, type Found } from './entries.js';
import type { FileParts } from './FileParts.js';
import { shownPlaces } from './list.js';

/** Hits of which the folders are counted together. */
const countedAtOnce = 64;

/** All below the folder that match. */
export async function search(
	parts: FileParts,
	viewer: Viewer,
	folder: ItemRef,
	query: SearchQuery,
	signal?: AbortSignal,
	turn?: Turn,
): Promise<FoundListing> {
	return searchPlaces(await shownPlaces(parts, viewer, folder), query, new Yielder(turn), signal);
}

/** The best of all hits, so that a term that very many names contain takes no more memory than another. */
class BestHits {
	#hits: (Found & { rank: number })[] = [];
	#count = 0;

	add(hit: Found & { rank: number }): void {
		this.#count++;
		this.#hits.push(hit);
		if (this.#hits.length >= 2 * maxSearchResults) this.#hits = this.best();
	}

	get isTruncated(): boolean {
		return this.#count > maxSearchResults;
	}

	/** Best first, and the shorter path first among equals. */
	best(): (Found & { rank: number })[] {
		const length = ({ folder, item }: Found) => folder.path.length + item.name.length;
		const sorted = this.#hits.toSorted((one, other) => one.rank - other.rank || length(one) - length(other));
		return sorted.slice(0, maxSearchResults);
	}
}

/** All entries below the places that match. Folders that may not be read are skipped. Throws the signal's reason when it is aborted. */
async function searchPlaces(
	places: readonly Place[],
	query: SearchQuery,
	yielder: Yielder,
	signal?: AbortSignal,
): Promise<FoundListing> {
	const rankOf = searchMatcher(query);
	const hits = new BestHits();
	const away: unknown[] = [];
	const missing = new Set<Owner>();
	let isAnyThere = places.some((place) => place.path === '');
	const open = [...places];
	for (let folder = open.pop(); folder !== undefined; folder = open.pop()) await searchOne(folder);
	if (away.length >= places.length || (away.length > 0 && !isAnyThere)) throw away[0];
	if (!isAnyThere) throw notFound();
	return {
		entries: await rowsOf(hits.best()),
		indexedAt: null,
		...(hits.isTruncated ? { truncated: true } : {}),
		...(missing.size > 0 ? { missing: [...missing] } : {}),
	};

	/** Counting the children of many folders may take as long as the walk. */
	async function rowsOf(found: readonly Found[]): Promise<Entry[]> {
		const rows: Entry[] = [];
		for (let at = 0; at < found.length; at += countedAtOnce) {
			if (yielder.shouldYield) await yielder.yield(signal);
			rows.push(...(await countedRows(found.slice(at, at + countedAtOnce), signal)));
		}
		return rows;
	}

	/** Collects the hits in one folder, and its folders. */
	async function searchOne(folder: Place): Promise<void> {
		try {
			signal?.throwIfAborted();
			if (yielder.shouldYield) await yielder.yield(signal);
			for await (const batch of folder.tree.storage.list(folder.storagePath)) {
				signal?.throwIfAborted();
				if (yielder.shouldYield) await yielder.yield(signal);
				isAnyThere = true;
				for (const item of batch) {
					if (item.type === 'directory') open.push(childOf(folder, item.name));
					const rank = rankOf(item);
					if (rank !== undefined) hits.add({ folder, item, rank });
				}
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
