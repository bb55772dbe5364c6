import type { Entry } from './listing.js';
import { compareRows, rowOf, type SortMode, sortEntries, sortedByNameCache, sortOrder, weights } from './sorting.js';

/** Entries that are in the order of a mode, with others at their places. Few are compared, however many there are. */
export function insertEntries<E extends Entry>(sorted: readonly E[], added: readonly E[], mode: SortMode): E[] {
	const inserted: E[] = [];
	let from = 0;
	for (const entry of sortEntries(added, mode) as E[]) {
		const isAfter = isAfterIn(mode, entry);
		let [low, high] = [from, sorted.length];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (isAfter(sorted[middle] as E)) high = middle;
			else low = middle + 1;
		}
		for (; from < low; from++) inserted.push(sorted[from] as E);
		inserted.push(entry);
	}
	for (; from < sorted.length; from++) inserted.push(sorted[from] as E);
	// Sorting them by anything is quick from here on.
	if (mode === 'name') sortedByNameCache.set(inserted, inserted);
	return inserted;
}

/** Whether others come after this entry in the order of a mode. */
function isAfterIn(mode: SortMode, entry: Entry): (other: Entry) => boolean {
	const { column, descending } = sortOrder(mode);
	const sign = descending ? -1 : 1;
	const row = rowOf(entry);
	if (column === 'name') return (other) => sign * compareRows(rowOf(other), row) > 0;
	const weight = weights[column];
	return (other) => (sign * (weight(other) - weight(entry)) || compareRows(rowOf(other), row)) > 0;
}
