import type { ItemRef, StorageEntry } from '@stowage/plugin-api';
import { assertAllowed, batchesOf, browseDenial, type Entry, isFailure, type Owner, type Viewer } from '@stowage/rules';
import { batchCharacters } from '../responses/inOrder.js';
import { notFound, type Place, placeIn } from '../trees/Tree.js';
import { countedRows, entryIn, type Found } from './entries.js';
import type { FileParts } from './FileParts.js';

/**
 * The rows of a folder. A private tree that is missing is created: a user has one from the beginning, and whoever
 * deletes it by other ways has an empty one.
 */
export async function* list(
	{ trees, versions }: FileParts,
	viewer: Viewer,
	folder: ItemRef,
	onMissing?: (owner: Owner) => void,
): AsyncGenerator<Entry[]> {
	const places = await shownPlaces({ trees }, viewer, folder);
	const [own] = places;
	const versionsOf = (place: Place) => versionsIn(versions, viewer, place);
	if (folder.area === 'public' || own === undefined) return yield* listMerged(places, versionsOf, onMissing);
	if (folder.path === '' && own.tree.area === 'private') await trees.own(viewer, folder.area).assertFolder(folder.path);
	yield* listPlace(own, versionsOf);
}

/** How many versions files have, by their names. */
type VersionCounts = Pick<ReadonlyMap<string, number>, 'get'>;

type FindVersions = (place: Place) => Promise<VersionCounts>;

/** How many versions each file of a folder has; none for a viewer who is not its owner. */
async function versionsIn(versions: FileParts['versions'], viewer: Viewer, { tree, storagePath }: Place) {
	const isOwn = viewer.kind === 'user' && (tree.area === 'private' || tree.owner === viewer.username);
	return isOwn ? versions.counts.in(viewer, storagePath) : new Map<string, number>();
}

/** The places that a listing of the folder shows. */
export async function shownPlaces(
	{ trees }: Pick<FileParts, 'trees'>,
	viewer: Viewer,
	{ area, path }: ItemRef,
): Promise<Place[]> {
	assertAllowed(browseDenial(viewer, area));
	return (await trees.visible(viewer, area)).map((tree) => placeIn(tree, path));
}

/** Folders that are counted together, and shown once they are. */
const folderConcurrency = 64;

/** The characters of a row beside its folder's path, more or less. */
const rowCharacters = 256;

/** The rows of one folder in batches, folders with the number of visible children. Throws `notFound` before the first batch. */
export async function* listPlace(place: Place, versionsOf: FindVersions): AsyncGenerator<Entry[]> {
	let versions: VersionCounts | undefined;
	const mostRows = Math.ceil(batchCharacters / (place.path.length + rowCharacters));
	for await (const batch of place.tree.storage.list(place.storagePath)) {
		versions ??= await versionsOf(place);
		const files: StorageEntry[] = [];
		const folders: Found[] = [];
		for (const item of batch) {
			if (item.type === 'directory') folders.push({ folder: place, item });
			else files.push(item);
		}
		// A turn may be over though nothing was found in it.
		if (batch.length === 0) yield [];
		for (const part of batchesOf(files, mostRows)) yield part.map((item) => fileRow(place, item, versions));
		for (const part of batchesOf(folders, Math.min(mostRows, folderConcurrency))) yield await countedRows(part);
	}
}

function fileRow(place: Place, item: StorageEntry, versions?: VersionCounts): Entry {
	const entry = entryIn(place, item);
	const count = versions?.get(item.name);
	if (count !== undefined) entry.versions = count;
	return entry;
}

/**
 * The union of a folder over the trees that have it, each row with its own owner. Throws `notFound` if none has it,
 * before the first batch. `onMissing` is called for each tree whose disk is away; if all are, throws `unavailable`.
 */
export async function* listMerged(
	places: readonly Place[],
	versionsOf: FindVersions,
	onMissing: (owner: Owner) => void = () => {},
): AsyncGenerator<Entry[]> {
	// The public area itself always exists, even while no user has published anything.
	let isAnyThere = places.some((place) => place.path === '');
	const away: unknown[] = [];
	for (const place of places) {
		try {
			yield* listPlace(place, versionsOf);
			isAnyThere = true;
		} catch (error) {
			if (isFailure(error, 'unavailable')) {
				away.push(error);
				onMissing(place.tree.owner ?? null);
			} else if (!isFailure(error, 'notFound')) throw error;
		}
	}
	if (away.length === places.length || (away.length > 0 && !isAnyThere)) throw away[0];
	if (!isAnyThere) throw notFound();
}
