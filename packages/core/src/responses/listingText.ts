import type { Area, Entry, Owner, StoragePath } from '@stowage/rules';

/** The JSON of a listing, a piece for each batch of rows: a folder of any size takes the memory of one batch. `missing` is asked for in the end. */
export async function* listingText(
	folder: { type: Area; directory: StoragePath },
	batches: AsyncIterable<Entry[]>,
	missing: readonly Owner[] = [],
): AsyncGenerator<string> {
	let before = JSON.stringify({ ...folder, entries: [] }).slice(0, -2);
	for await (const batch of batches) {
		if (batch.length === 0) continue;
		yield before + JSON.stringify(batch).slice(1, -1);
		before = ',';
	}
	const end = missing.length === 0 ? ']}' : `],"missing":${JSON.stringify(missing)}}`;
	yield before === ',' ? end : `${before}${end}`;
}
