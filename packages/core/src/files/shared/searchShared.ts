import { type Files, type FoundListing, type Turn, Yielder } from '@stowage/plugin-api';
import {
	type Entry,
	isFailure,
	type Owner,
	PathSet,
	type SearchQuery,
	type StoragePath,
	searchMatcher,
	signedIn,
	type Viewer,
} from '@stowage/rules';
import { type Entered, enterFolder } from '../../members/enterFolder.js';
import { listShared } from '../../members/listShared.js';
import type { SharedFolders } from '../../members/SharedFolders.js';
import { whileMember } from '../../members/whileMember.js';
import { BestHits } from '../search/BestHits.js';

interface Search {
	query: SearchQuery;
	signal: AbortSignal | undefined;
	/** The turn in the queue of walks that this search has. */
	turn: Turn | undefined;
}

/**
 * The folders that are shared with the viewer, and all in them, that match. What lies in a folder that is shared
 * within another one is found in the outer one only: a thousand within each other would have the same hits a thousand
 * times.
 */
export async function searchShared(
	files: Pick<Files, 'search'>,
	folders: SharedFolders,
	viewer: Viewer,
	{ query, signal, turn }: Search,
): Promise<FoundListing> {
	const rankOf = searchMatcher(query);
	const hits = new BestHits<{ entry: Entry; rank: number }>(({ entry }) => entry.path.length);
	const known = folders.forMany();
	const yielder = new Yielder(turn);
	const pause = async () => {
		signal?.throwIfAborted();
		if (yielder.shouldYield) await yielder.yield(signal);
	};
	const all: Entered[] = [];
	const missing = new Set<Owner>();
	for await (const rows of listShared(folders, signedIn(viewer), (owner) => missing.add(owner))) {
		for (const row of rows) {
			await pause();
			const rank = rankOf(row);
			if (rank !== undefined) hits.add({ entry: row, rank });
			const ref = { area: 'shared', path: row.path as StoragePath } as const;
			const enter = () => enterFolder(known, viewer, ref, 'view');
			const entered = await folders
				.inTime(row.owner ?? '', enter)
				.catch((error) => noteMissing(error, row.owner ?? null));
			if (entered !== undefined) all.push(entered);
		}
	}
	let indexedAt: number | null = null;
	let isTruncated = false;
	for (const within of await outermost(all, pause)) {
		await pause();
		const look = (until: AbortSignal) => files.search(within.viewer, within.ref, query, until, turn);
		const { role, folder } = within.place;
		const found = await whileMember(folders, within.held, look, signal).catch((error) =>
			noteMissing(error, folder.owner.username),
		);
		if (found === undefined) continue;
		if (found.missing !== undefined) missing.add(folder.owner.username);
		// The folder of a hit is not on screen, so each says what may be done with it.
		for (const entry of found.entries) {
			const rank = rankOf(entry);
			if (rank !== undefined) hits.add({ entry: { role, ...within.shown(entry) }, rank });
		}
		isTruncated ||= found.truncated === true;
		if (found.indexedAt !== null) indexedAt = Math.min(found.indexedAt, indexedAt ?? found.indexedAt);
	}
	return {
		entries: hits.best().map(({ entry }) => entry),
		indexedAt,
		...(isTruncated || hits.isTruncated ? { truncated: true } : {}),
		...(missing.size > 0 ? { missing: [...missing] } : {}),
	};

	/** What is gone meanwhile is not found; of what is away its owner is said to be missing. */
	function noteMissing(error: unknown, owner: Owner): undefined {
		if (isFailure(error, 'unavailable')) missing.add(owner);
		else if (!isFailure(error, 'notFound')) throw error;
	}
}

/** The folders that lie in no other one of them: they may be a thousand with long paths, between which others have their turns. */
export async function outermost<Folder extends { place: Pick<Entered['place'], 'folder' | 'root'> }>(
	all: readonly Folder[],
	pause: () => Promise<void>,
): Promise<Folder[]> {
	const roots = new Map<string, PathSet>();
	const chosen: Folder[] = [];
	for (const each of [...all].sort((one, other) => one.place.root.length - other.place.root.length)) {
		await pause();
		const { folder, root } = each.place;
		const ofOwner = roots.get(folder.owner.id) ?? new PathSet();
		if (ofOwner.covers(root)) continue;
		roots.set(folder.owner.id, ofOwner.add(root));
		chosen.push(each);
	}
	return chosen;
}
