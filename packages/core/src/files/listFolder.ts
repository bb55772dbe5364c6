import type { StorageProvider } from '@stowage/plugin-api';
import { type Entry, isFailure } from '@stowage/rules';
import { countedRows, type Found } from './countedRows.js';
import { notThere, type Place } from './places.js';

/** The rows of one folder, folders with how many children they show. Throws `notFound`. */
export async function listPlace(storage: StorageProvider, place: Place): Promise<Entry[]> {
	const found: Found[] = [];
	for await (const batch of storage.list(place.at)) for (const item of batch) found.push({ folder: place, item });
	return countedRows(storage, found);
}

/** The union of a folder over the trees that have it, each row with its own owner. Throws `notFound` if none has it. */
export async function listMerged(storage: StorageProvider, places: readonly Place[]): Promise<Entry[]> {
	const listings = await Promise.all(
		places.map((place) =>
			listPlace(storage, place).catch((error: unknown) => {
				if (isFailure(error, 'notFound')) return undefined;
				throw error;
			}),
		),
	);
	// The public area itself is always there, though nobody may have put anything in it yet.
	if (listings.every((listing) => listing === undefined) && places.some((place) => place.path !== '')) throw notThere();
	return listings.flatMap((listing) => listing ?? []);
}
