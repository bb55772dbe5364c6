import type { StorageEntry, StorageProvider } from '@stowage/plugin-api';
import { type Entry, isFailure, joinPath } from '@stowage/rules';
import { entryIn } from './entries.js';
import { notThere, type Place } from './places.js';

/** Folders whose children are counted at once. */
const countsAtOnce = 16;

/** The rows of one folder, folders with how many children they show. Throws `notFound`. */
export async function listPlace(storage: StorageProvider, place: Place): Promise<Entry[]> {
	const entries: Entry[] = [];
	const folders: StorageEntry[] = [];
	for await (const batch of storage.list(place.at)) {
		for (const item of batch) {
			if (item.type === 'directory') folders.push(item);
			else entries.push(entryIn(place, item));
		}
	}
	let next = 0;
	const countNext = async (): Promise<void> => {
		for (let folder = folders[next++]; folder !== undefined; folder = folders[next++]) {
			const count = await countChildren(storage, place, folder.name);
			if (count !== undefined) entries.push(entryIn(place, folder, count));
		}
	};
	await Promise.all(Array.from({ length: Math.min(countsAtOnce, folders.length) }, countNext));
	return entries;
}

/** Undefined for a folder that went away meanwhile; 0 for one that may not be read. */
async function countChildren(storage: StorageProvider, place: Place, name: string): Promise<number | undefined> {
	try {
		return await storage.count(joinPath(place.at, name));
	} catch (error) {
		if (isFailure(error, 'notFound')) return undefined;
		if (isFailure(error, 'forbidden')) return 0;
		throw error;
	}
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
