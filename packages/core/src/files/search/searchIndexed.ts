import type { IndexedBlock } from '@stowage/database';
import type { StorageEntry } from '@stowage/plugin-api';
import {
	baseName,
	batchesOf,
	foldCase,
	hasLoneSurrogate,
	isFailure,
	joinChecked,
	joinPath,
	PathSet,
	relativePath,
	type SearchQuery,
	type StoragePath,
	searchMatcher,
	undefinedIf,
} from '@stowage/rules';
import type { IndexScope } from '../../search/SearchIndex.js';
import { childOf, type Place } from '../../trees/Tree.js';
import type { BestHits, Hit } from './BestHits.js';

/** Folders whose time is asked together. */
const statsAtOnce = 16;

interface Search {
	query: SearchQuery;
	hits: BestHits<Hit>;
	/** Lets others have their turn; throws when the search is not wanted any more. */
	pause(): Promise<void>;
	/** Called with a folder that its disk can't read. */
	onMissing(folder: Place): void;
}

/**
 * Whether an index can have what is searched for: names contain no ends of lines and no slashes, and half of a
 * character is none for it.
 */
export function isIndexable({ term }: SearchQuery): boolean {
	return !/[/\n\0]/.test(term) && !hasLoneSurrogate(term);
}

/**
 * Adds the hits in a folder and all below it by the index, and those in its stale folders from the disk. Resolves to
 * the folders that have to be walked, whose contents the index does not know.
 */
export async function searchIndexed(place: Place, scope: IndexScope, search: Search): Promise<Place[]> {
	const { query, hits } = search;
	const rankOf = searchMatcher(query);
	const placeAt = (folder: StoragePath): Place => ({
		tree: place.tree,
		path: joinChecked(place.path, relativePath(folder, place.storagePath)),
		storagePath: folder,
	});
	/** Folders whose rows in the index don't count: with all below them, and (`listed`) alone. */
	const excluded = new PathSet();
	const listed = new PathSet();
	const walked: Place[] = [];
	for (const { kind, path } of scope.stale) if (kind === 'tree') exclude(path, true);
	// From the top: what is new in a folder is walked whole.
	const folders = new PathSet(scope.stale.flatMap(({ kind, path }) => (kind === 'rows' ? [path] : [])));
	for (const path of [...folders].sort((one, other) => one.length - other.length)) {
		await search.pause();
		if (!excluded.covers(path)) await listStale(path);
	}
	const folded = foldCase(query.term);
	for (let after = 0; ; ) {
		const blocks = await scope.reader.blocks({ rootId: scope.rootId, within: place.storagePath, folded, after });
		for (const block of blocks) {
			after = block.id;
			if (!listed.has(block.folder) && !excluded.covers(block.folder)) await addBlock(block);
			await search.pause();
		}
		if (blocks.length === 0) return walked;
	}

	function exclude(path: StoragePath, isWalked: boolean): void {
		if (excluded.has(path)) return;
		excluded.add(path);
		if (isWalked) walked.push(placeAt(path));
	}

	/**
	 * The rows of a stale folder. Folders in it that the index does not know are walked, and those that are not there
	 * any more are left out.
	 */
	async function listStale(path: StoragePath): Promise<void> {
		if ((await scope.reader.has(scope.rootId, path)) !== 'listed') return exclude(path, true);
		const known = new PathSet(await scope.reader.childFolders(scope.rootId, path));
		const folder = placeAt(path);
		try {
			for await (const batch of place.tree.storage.list(path)) {
				await search.pause();
				for (const item of batch) {
					const rank = rankOf(item);
					if (rank !== undefined) hits.add({ folder, item, rank, isIndexed: false });
					if (item.type !== 'directory') continue;
					const child = joinPath(path, item.name);
					if (!known.delete(child)) exclude(child, true);
				}
			}
			listed.add(path);
			for (const gone of known) exclude(gone, false);
		} catch (error) {
			if (isFailure(error, 'unavailable')) {
				// What lies below it may well be read.
				listed.add(path);
				search.onMissing(folder);
			} else if (isFailure(error, 'notFound') || isFailure(error, 'forbidden')) exclude(path, false);
			else throw error;
		}
	}

	async function addBlock({ folder, items }: IndexedBlock): Promise<void> {
		const place = placeAt(folder);
		const isTimed = query.after !== undefined || query.before !== undefined;
		if (!isTimed) return addItems(place, items);
		// The times of folders are not in the index: each new name in one changes it.
		const timeless = searchMatcher({ ...query, after: undefined, before: undefined });
		const candidates = items.filter((item) => timeless(item) !== undefined);
		for (const part of batchesOf(candidates, statsAtOnce)) {
			await search.pause();
			addItems(place, (await Promise.all(part.map(timed))).flat());
		}

		async function timed(item: StorageEntry): Promise<StorageEntry[]> {
			if (item.type === 'file') return [item];
			const found = await statOf(place, item);
			if (found === 'unavailable') search.onMissing(place);
			return found === undefined || found === 'unavailable' ? [] : [found];
		}
	}

	function addItems(folder: Place, items: readonly StorageEntry[]): void {
		for (const item of items) {
			const rank = rankOf(item);
			if (rank !== undefined) hits.add({ folder, item, rank, isIndexed: true });
		}
	}
}

/** What the disk says of an item of the index; undefined where there is none of its type, `unavailable` where it can't say. */
async function statOf(
	folder: Place,
	{ name, type, unreadable }: StorageEntry,
): Promise<StorageEntry | undefined | 'unavailable'> {
	const { tree, storagePath } = childOf(folder, name);
	try {
		const found = await undefinedIf(tree.storage.stat(storagePath), 'notFound');
		if (found?.type !== type) return undefined;
		const { size, mtime } = found;
		return { name: baseName(storagePath), type, size, mtime, ...(unreadable ? { unreadable } : {}) };
	} catch (error) {
		if (isFailure(error, 'forbidden')) return undefined;
		if (isFailure(error, 'unavailable')) return 'unavailable';
		throw error;
	}
}

interface Verification extends Pick<Search, 'pause' | 'onMissing'> {
	/** Called with each folder of which the index has something else. */
	onDifferent(folder: Place): void;
}

/** The hits as the disk has them now, without those that are not there any more, or not to be read. */
export async function verified(
	hits: readonly Hit[],
	query: SearchQuery,
	{ pause, onDifferent, onMissing }: Verification,
): Promise<Hit[]> {
	const rankOf = searchMatcher(query);
	const right: Hit[] = [];
	for (const part of batchesOf(hits, statsAtOnce)) {
		await pause();
		right.push(...(await Promise.all(part.map(verify))).flat());
	}
	return right;

	async function verify(hit: Hit): Promise<Hit[]> {
		const { folder, item, isIndexed } = hit;
		if (!isIndexed) return [hit];
		const found = await statOf(folder, item);
		if (found === 'unavailable') {
			onMissing(folder);
			return [];
		}
		const rank = found && rankOf(found);
		const isSame = found?.type === 'directory' || (found?.size === item.size && found.mtime === item.mtime);
		if (!isSame) onDifferent(folder);
		return found === undefined || rank === undefined ? [] : [{ ...hit, item: found, rank }];
	}
}
