import { collate, collationText, nameKey } from '../names/nameKeys.js';
import type { Entry } from './listing.js';

/** The sort modes of a listing; an `r` before it reverses the order (spec, section 3). */
export const sortColumns = ['name', 'size', 'time', 'type', 'count'] as const;

export type SortColumn = (typeof sortColumns)[number];
export type SortMode = SortColumn | `r${SortColumn}`;

export const sortModes: readonly SortMode[] = sortColumns.flatMap((column): SortMode[] => [column, `r${column}`]);

export const defaultSortMode: SortMode = 'type';

export function isSortMode(text: string): text is SortMode {
	return (sortModes as readonly string[]).includes(text);
}

/** The column and the direction of a mode, as a column's header shows them. */
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
 * Natural order of names without regard to case and accents. Names that differ only in these are ordered by their
 * code units, so only equal names compare as 0.
 */
export function compareNames(a: string, b: string): number {
	return collate(collationText(a), collationText(b)) || compareText(a, b);
}

/**
 * A sorted copy. `type` puts folders first and each kind in order of names; the other modes mix them (spec, section 3).
 * Equals are in order of names, then owners, then paths, so the order never depends on how the entries came.
 */
export function sortEntries(entries: readonly Entry[], mode: SortMode): Entry[] {
	const { column, descending } = sortOrder(mode);
	const byName = sortedByName(entries);
	if (column === 'name') return descending ? [...byName].reverse() : [...byName];
	const sign = descending ? -1 : 1;
	// Equals stay in the order of their names.
	return byName
		.map((entry) => ({ entry, weight: sign * weights[column](entry) }))
		.sort((a, b) => a.weight - b.weight)
		.map(({ entry }) => entry);
}

/** Caches the order of names, which is most of the work of every sort, as long as the entries exist. */
const sortedByNameCache = new WeakMap<readonly Entry[], readonly Entry[]>();

function sortedByName(entries: readonly Entry[]): readonly Entry[] {
	let sorted = sortedByNameCache.get(entries);
	if (sorted === undefined) {
		const order = new NameOrder();
		order.add(entries);
		sorted = order.entries();
		sortedByNameCache.set(entries, sorted);
	}
	return sorted;
}

interface Row {
	entry: Entry;
	key: string | undefined;
	/** What the collator compares: where there is a key, that is mostly compared instead. */
	text: string;
}

function rowOf(entry: Entry): Row {
	const key = nameKey(entry.name);
	return { entry, key, text: key === undefined ? collationText(entry.name) : entry.name };
}

/** Sorts entries by name while they arrive, so that little is left to do after the last one. */
export class NameOrder {
	/** Each sorted, each longer than the next. */
	readonly #runs: Row[][] = [];

	add(entries: readonly Entry[]): void {
		let run = entries.map(rowOf).sort(compareRows);
		for (let last = this.#runs.at(-1); last !== undefined && last.length <= 2 * run.length; last = this.#runs.at(-1)) {
			this.#runs.pop();
			run = merge(last, run);
		}
		this.#runs.push(run);
	}

	/** All that were added, in order. Sorting them by anything is quick from here on. */
	entries(): Entry[] {
		while (this.#runs.length > 1) {
			const [last, before] = [this.#runs.pop() as Row[], this.#runs.pop() as Row[]];
			this.#runs.push(merge(before, last));
		}
		const entries = (this.#runs[0] ?? []).map(({ entry }) => entry);
		sortedByNameCache.set(entries, entries);
		return entries;
	}
}

function merge(a: readonly Row[], b: readonly Row[]): Row[] {
	const merged: Row[] = [];
	let at = 0;
	for (const row of b) {
		for (let next = a[at]; next !== undefined && compareRows(next, row) <= 0; next = a[++at]) merged.push(next);
		merged.push(row);
	}
	for (; at < a.length; at++) merged.push(a[at] as Row);
	return merged;
}

/** The number that a column sorts by before names do. */
const weights: Record<Exclude<SortColumn, 'name'>, (entry: Entry) => number> = {
	size: (entry) => entry.size,
	time: (entry) => entry.mtime,
	type: (entry) => (entry.type === 'directory' ? 0 : 1),
	// A file has no count, which is less than an empty folder's.
	count: (entry) => entry.count ?? -1,
};

function compareRows(a: Row, b: Row): number {
	const byKey = a.key === undefined || b.key === undefined ? collate(a.text, b.text) : compareText(a.key, b.key);
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
