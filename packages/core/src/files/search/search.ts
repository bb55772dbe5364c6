import { type FoundListing, type ItemRef, type Turn, Yielder } from '@stowage/plugin-api';
import {
	type Area,
	batchesOf,
	type Entry,
	homeRoot,
	isFailure,
	isWithin,
	type Owner,
	PathMap,
	relativePath,
	type SearchQuery,
	type StoragePath,
	searchMatcher,
	type Viewer,
} from '@stowage/rules';
import { rowsOf } from '../../search/marks.js';
import { type IndexScope, UnreadableIndexError } from '../../search/SearchIndex.js';
import { childOf, notFound, type Place, placeIn } from '../../trees/Tree.js';
import { countedRows } from '../entries.js';
import type { FileParts } from '../FileParts.js';
import { shownPlaces } from '../list.js';
import { BestHits, type Hit } from './BestHits.js';
import { isIndexable, searchIndexed, verified } from './searchIndexed.js';

/** Hits of which the folders are counted together. */
const countedAtOnce = 64;

/** How often a search is begun anew where the index turns out to be wrong about a folder, before all is read from the disk. */
const maxAttempts = 3;

/** All below the folder that match: by the index of names where there is one, else from the disk. */
export async function search(
	parts: FileParts,
	viewer: Viewer,
	folder: ItemRef,
	query: SearchQuery,
	signal?: AbortSignal,
	turn?: Turn,
): Promise<FoundListing> {
	const found = await searchNames(parts, viewer, folder, query, signal, turn);
	await countVersions(parts, viewer, folder.area, found.entries);
	return found;
}

/** Says of the viewer's own files how many versions they have, as a listing does. */
async function countVersions({ trees, versions }: FileParts, viewer: Viewer, area: Area, entries: readonly Entry[]) {
	if (viewer.kind !== 'user') return;
	const tree = trees.own(viewer, area);
	const own = entries
		.filter(({ type, owner }) => type === 'file' && owner === tree.owner)
		.map((entry) => ({ entry, path: placeIn(tree, entry.path as StoragePath).storagePath }));
	const counts = await versions.counts.of(
		viewer,
		own.map(({ path }) => path),
	);
	const home = homeRoot(viewer.username);
	for (const { entry, path } of own) {
		const count = counts.get(relativePath(path, home));
		if (count !== undefined) entry.versions = count;
	}
}

async function searchNames(
	parts: FileParts,
	viewer: Viewer,
	folder: ItemRef,
	query: SearchQuery,
	signal?: AbortSignal,
	turn?: Turn,
): Promise<FoundListing> {
	const yielder = new Yielder(turn);
	const pause = async () => {
		signal?.throwIfAborted();
		if (yielder.shouldYield) await yielder.yield(signal);
	};
	const places = await shownPlaces(parts, viewer, folder);
	const wrong = new PathMap<Place>();
	for (let attempt = 1; attempt <= maxAttempts && isIndexable(query); attempt++) {
		const found = await searchWithIndex();
		if (found !== 'again') return found;
	}
	return searchPlaces(places, [], query, pause, () => {}, signal) as Promise<FoundListing>;

	/** `again` where the index is wrong about so much that the best hits are not known. */
	async function searchWithIndex(): Promise<FoundListing | 'again'> {
		const scopes: Indexed[] = [];
		try {
			for (const place of places) {
				const scope = await scopeOf(
					parts,
					place,
					[...wrong.values()].map(({ storagePath }) => storagePath),
				);
				if (scope !== undefined) scopes.push({ place, scope });
			}
			const onDifferent = (different: Place, rootId: string) => {
				if (!wrong.has(different.storagePath)) parts.index.distrust(rootId, different.storagePath);
				wrong.set(different.storagePath, different);
			};
			return await searchPlaces(places, scopes, query, pause, onDifferent, signal);
		} catch (error) {
			if (signal?.aborted || !(error instanceof UnreadableIndexError)) throw error;
			parts.index.failed(error.cause);
			// Without the index it is searched for all the same.
			return await (searchPlaces(places, [], query, pause, () => {}, signal) as Promise<FoundListing>);
		} finally {
			for (const { scope } of scopes) scope.release();
		}
	}
}

interface Indexed {
	place: Place;
	scope: IndexScope;
}

/** What the index knows of a place, without folders that it is wrong about; undefined where the place has to be walked. */
async function scopeOf(
	{ index }: FileParts,
	{ tree, storagePath }: Place,
	wrong: readonly StoragePath[],
): Promise<IndexScope | undefined> {
	if (tree.isVirtual) return undefined;
	try {
		const { storage } = await tree.storage.mount();
		// The same answers as the walk where it is away, or not there.
		if ((await tree.storage.stat(storagePath)).type !== 'directory') return undefined;
		const scope = await index.scope(storage.rootId, storagePath);
		if (scope === undefined) return undefined;
		return { ...scope, stale: [...scope.stale, ...wrong.filter((path) => isWithin(path, storagePath)).map(rowsOf)] };
	} catch (error) {
		if (!isFailure(error)) throw error;
		return undefined;
	}
}

/**
 * All entries below the places that match: of those that have an index by it, else by walking. Folders that may not be
 * read are skipped, and so are those that the disk can't read, whose owners are said to be missing. Throws
 * `unavailable` where each place is away, and the signal's reason when it is aborted.
 */
async function searchPlaces(
	places: readonly Place[],
	indexed: readonly Indexed[],
	query: SearchQuery,
	pause: () => Promise<void>,
	onDifferent: (folder: Place, rootId: string) => void,
	signal?: AbortSignal,
): Promise<FoundListing | 'again'> {
	const rankOf = searchMatcher(query);
	const hits = new BestHits<Hit>(({ folder, item }) => folder.path.length + item.name.length);
	/** Why a whole place could not be read. */
	const away = new Map<Place, unknown>();
	const missing = new Set<Owner>();
	const onMissing = ({ tree }: Place) => missing.add(tree.owner ?? null);
	let isAnyThere = indexed.length > 0 || places.some((place) => place.path === '');
	const open = places.filter((place) => !indexed.some((each) => each.place === place));
	for (const { place, scope } of indexed)
		open.push(...(await searchIndexed(place, scope, { query, hits, pause, onMissing })));
	for (let folder = open.pop(); folder !== undefined; folder = open.pop()) await searchOne(folder);
	const [firstError] = away.values();
	if (away.size > 0 && (away.size === places.length || !isAnyThere)) throw firstError;
	if (!isAnyThere) throw notFound();
	const best = hits.best();
	const onDifferentHit = (folder: Place) => onDifferent(folder, rootOf(folder));
	const right = await verified(best, query, { onDifferent: onDifferentHit, onMissing, pause });
	const dropped = best.length - right.length;
	if (dropped > 0 && hits.isTruncated) return 'again';
	return {
		entries: await rowsOfHits(right),
		indexedAt: indexed.length === 0 ? null : Math.min(...indexed.map(({ scope }) => scope.checkedAt)),
		...(hits.isTruncated ? { truncated: true } : {}),
		...(missing.size > 0 ? { missing: [...missing] } : {}),
	};

	function rootOf(folder: Place): string {
		return indexed.find(({ place }) => place.tree === folder.tree)?.scope.rootId ?? '';
	}

	/** Counting the children of many folders may take as long as the walk. */
	async function rowsOfHits(found: readonly Hit[]): Promise<Entry[]> {
		const rows: Entry[] = [];
		for (const part of batchesOf(withoutTwins(found), countedAtOnce)) {
			await pause();
			rows.push(...(await countedRows(part, signal)));
		}
		return rows;
	}

	/** Collects the hits in one folder, and its folders. */
	async function searchOne(folder: Place): Promise<void> {
		try {
			await pause();
			for await (const batch of folder.tree.storage.list(folder.storagePath)) {
				await pause();
				isAnyThere = true;
				for (const item of batch) {
					if (item.type === 'directory') open.push(childOf(folder, item.name));
					const rank = rankOf(item);
					if (rank !== undefined) hits.add({ folder, item, rank, isIndexed: false });
				}
			}
			isAnyThere = true;
		} catch (error) {
			if (isFailure(error, 'unavailable')) {
				// Below a place it is one folder that its disk can't read.
				if (places.includes(folder)) away.set(folder, error);
				onMissing(folder);
			} else if (!isFailure(error, 'notFound') && !isFailure(error, 'forbidden')) throw error;
		}
	}
}

/** What changes during a search may be found twice: in the index before and after it, or on the disk as well. */
function withoutTwins(hits: readonly Hit[]): Hit[] {
	return [...new PathMap(hits.map((hit) => [`${hit.folder.storagePath}/${hit.item.name}`, hit])).values()];
}
