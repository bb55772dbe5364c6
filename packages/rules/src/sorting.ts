import type { Entry } from './listing.js';
import { collator, nameKeys } from './nameKeys.js';

/** What a listing can be sorted by; `r` before it turns the order round (spec, section 3). */
export const sortColumns = ['name', 'size', 'time', 'type', 'count'] as const;

export type SortColumn = (typeof sortColumns)[number];
export type SortMode = SortColumn | `r${SortColumn}`;

export const sortModes: readonly SortMode[] = sortColumns.flatMap((column): SortMode[] => [column, `r${column}`]);

export const defaultSortMode: SortMode = 'type';

export function isSortMode(text: string): text is SortMode {
	return (sortModes as readonly string[]).includes(text);
}

/** What a mode sorts by and in which direction, as a column's header shows it. */
export function sortOrder(mode: SortMode): { column: SortColumn; descending: boolean } {
	for (const column of sortColumns) {
		if (mode === `r${column}`) return { column, descending: true };
	}
	return { column: mode as SortColumn, descending: false };
}

/** The mode after a click on a column's header: ascending first, and back and forth from there. */
export function toggleSort(current: SortMode, column: SortColumn): SortMode {
	return current === column ? `r${column}` : column;
}

/**
 * Natural order of names without regard to case and accents. Names that differ only in these are told apart by their
 * code units, so only equal names compare as 0.
 */
export function compareNames(a: string, b: string): number {
	return collator.compare(a, b) || compareText(a, b);
}

/**
 * A sorted copy. `type` puts folders first and each kind in order of names; the other modes mix them (spec, section 3).
 * Equals are in order of names, then owners, then paths, so the order never depends on how the entries came.
 */
export function sortEntries(entries: readonly Entry[], mode: SortMode): Entry[] {
	const { column, descending } = sortOrder(mode);
	const sign = descending ? -1 : 1;
	const keys = nameKeys(entries.map((entry) => entry.name));
	const rows = entries.map((entry, index) => ({ entry, key: keys[index], weight: weights[column](entry) }));
	const nameSign = column === 'name' ? sign : 1;
	return rows.sort((a, b) => sign * (a.weight - b.weight) || nameSign * compareRows(a, b)).map((row) => row.entry);
}

interface Row {
	entry: Entry;
	key: string | undefined;
}

/** The number that a column sorts by before names do. */
const weights: Record<SortColumn, (entry: Entry) => number> = {
	name: () => 0,
	size: (entry) => entry.size,
	time: (entry) => entry.mtime,
	type: (entry) => (entry.type === 'directory' ? 0 : 1),
	// A file has no count, which is less than an empty folder's.
	count: (entry) => entry.count ?? -1,
};

function compareRows(a: Row, b: Row): number {
	const byKey =
		a.key === undefined || b.key === undefined
			? collator.compare(a.entry.name, b.entry.name)
			: compareText(a.key, b.key);
	return (
		byKey ||
		compareText(a.entry.name, b.entry.name) ||
		compareText(a.entry.owner ?? '', b.entry.owner ?? '') ||
		compareText(a.entry.path, b.entry.path)
	);
}

function compareText(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}
