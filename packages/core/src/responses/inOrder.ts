import { type Entry, NameOrder, type SortMode, sortEntries } from '@stowage/rules';

/** Entries of a folder that are sorted at most: about 10 MB of memory. */
const maxSorted = 20_000;

/** Folders that are sorted at the same time: while one is read, all of its entries are in memory. */
const maxConcurrent = 8;
let concurrent = 0;

/** Rows of one chunk: the first of them fill a screen. */
const batchLength = 500;

/**
 * The rows of a folder in an order, so that a page shows the first ones at once and for good. `onOrder` is called before the first
 * row if they are; those of a larger folder, or of one too many at the same time, come as they are read. An empty batch comes for each
 * that was read and kept, so that other callers have their turn meanwhile.
 */
export async function* inOrder(
	batches: AsyncIterable<Entry[]>,
	mode: SortMode,
	onOrder: () => void,
): AsyncGenerator<Entry[]> {
	if (concurrent >= maxConcurrent) return yield* batches;
	concurrent++;
	try {
		let kept: NameOrder | undefined = new NameOrder();
		let count = 0;
		for await (const batch of batches) {
			count += batch.length;
			if (kept === undefined) {
				yield batch;
				continue;
			}
			kept.add(batch);
			if (count > maxSorted) {
				yield* inBatches(kept.entries());
				kept = undefined;
			} else yield [];
		}
		if (kept === undefined) return;
		onOrder();
		yield* inBatches(sortEntries(kept.entries(), mode));
	} finally {
		concurrent--;
	}
}

function* inBatches(entries: readonly Entry[]): Generator<Entry[]> {
	for (let at = 0; at < entries.length; at += batchLength) yield entries.slice(at, at + batchLength);
}
