import { Yielder } from '@stowage/plugin-api';
import { batchesOfLength, type Entry, isFailure, NameOrder, type SortMode, sortEntries } from '@stowage/rules';
import { isVisitorKey } from '../http/requests/proxy.js';
import { Budget } from '../limits/Budget.js';
import type { QueueClient } from '../limits/FairQueue.js';

/** Entries of a folder that are sorted at most. */
const maxSorted = 20_000;

/** Characters of their names and paths at most: each row has the whole path of its folder, which may be 64 kB. */
const maxCharacters = 16_000_000;

/**
 * Folders that are sorted at the same time, whose entries are in memory until all are sent: by one client two, by all eight, since of a
 * budget something is always left.
 */
const places = new Budget(
	{ total: 9, perClient: 2, group: { total: 5, includes: isVisitorKey } },
	'Too many folders are sorted at once.',
);

/** Rows of one chunk, the first of which fill a screen. */
const batchLength = 500;

/** Characters of the names and paths of a batch of rows: each row has the whole path of its folder, which may be 64 kB. */
export const batchCharacters = 512_000;

/**
 * The rows of a folder in an order, so that a page shows the first ones at once and for good. `onOrder` is called before the first
 * row if they are; those of a larger folder, of one too deep, or of one too many at the same time, come as they are read. An empty batch
 * comes for each that was read and kept, and for each step of the sort, so that other callers have their turn meanwhile. `client` is the
 * caller.
 */
export async function* inOrder(
	batches: AsyncIterable<Entry[]>,
	mode: SortMode,
	client: string | QueueClient,
	onOrder: () => void,
): AsyncGenerator<Entry[]> {
	const release = placeFor(client);
	if (release === undefined) return yield* batches;
	try {
		let kept: NameOrder | undefined = new NameOrder();
		let count = 0;
		let characters = 0;
		for await (const batch of batches) {
			count += batch.length;
			if (kept === undefined) {
				yield batch;
				continue;
			}
			yield* inSteps(kept.adding(batch));
			for (const entry of batch) characters += charactersOf(entry);
			if (count > maxSorted || characters > maxCharacters) {
				yield* inBatches(yield* inSteps(kept.ordering()));
				kept = undefined;
				// From here on no more than a batch is in memory.
				release();
			} else yield [];
		}
		if (kept === undefined) return;
		const entries = yield* inSteps(kept.ordering());
		onOrder();
		yield* inBatches(sortEntries(entries, mode));
	} finally {
		release();
	}
}

/** Other requests are served between two steps, and other callers have the place of this one. */
async function* inSteps<T>(steps: Generator<undefined, T>): AsyncGenerator<Entry[], T> {
	const yielder = new Yielder();
	for (;;) {
		const { done, value } = steps.next();
		if (done) return value;
		yield [];
		await yielder.yield();
	}
}

function placeFor(client: string | QueueClient): (() => void) | undefined {
	try {
		return places.reserve(client, 1);
	} catch (error) {
		if (!isFailure(error)) throw error;
		return undefined;
	}
}

const charactersOf = ({ name, path }: Entry): number => name.length + path.length;

const inBatches = (entries: readonly Entry[]) =>
	batchesOfLength(entries, { count: batchLength, length: batchCharacters }, charactersOf);
