import type { StorageProvider } from '@stowage/plugin-api';
import { type Entry, isFailure, type Owner } from '@stowage/rules';
import { notThere, type Place } from '../places.js';
import { countedRows, entryIn, type Found } from './rows.js';

/** Folders that are counted together, and shown once they are. */
const folderConcurrency = 64;

/** The rows of one folder in batches, folders with the number of visible children. Throws `notFound` before the first batch. */
export async function* listPlace(storage: StorageProvider, place: Place): AsyncGenerator<Entry[]> {
	for await (const batch of storage.list(place.at)) {
		const files: Entry[] = [];
		const folders: Found[] = [];
		for (const item of batch) {
			if (item.type === 'directory') folders.push({ folder: place, item });
			else files.push(entryIn(place, item));
		}
		if (files.length > 0) yield files;
		for (let at = 0; at < folders.length; at += folderConcurrency) {
			yield await countedRows(storage, folders.slice(at, at + folderConcurrency));
		}
	}
}

/**
 * The union of a folder over the trees that have it, each row with its own owner. Throws `notFound` if none has it, before the first batch. `onMissing` is called for
 * each tree whose disk is away; if all are, throws `unavailable`.
 */
export async function* listMerged(
	storage: StorageProvider,
	places: readonly Place[],
	onMissing: (owner: Owner) => void = () => {},
): AsyncGenerator<Entry[]> {
	// The public area itself always exists, even while no user has published anything.
	let isAnyThere = places.some((place) => place.path === '');
	const away: unknown[] = [];
	for (const place of places) {
		try {
			yield* listPlace(storage, place);
			isAnyThere = true;
		} catch (error) {
			if (isFailure(error, 'unavailable')) {
				away.push(error);
				onMissing(place.owner ?? null);
			} else if (!isFailure(error, 'notFound')) throw error;
		}
	}
	if (away.length === places.length || (away.length > 0 && !isAnyThere)) throw away[0];
	if (!isAnyThere) throw notThere();
}
