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
	const weight = weights[column];
	// Equals stay in the order of their names.
	return [...byName].sort((a, b) => sign * (weight(a) - weight(b)));
}

/** Caches the order of names, which is most of the work of every sort, as long as the entries exist. */
export const sortedByNameCache = new WeakMap<readonly Entry[], readonly Entry[]>();

function sortedByName(entries: readonly Entry[]): readonly Entry[] {
	let sorted = sortedByNameCache.get(entries);
	if (sorted === undefined) {
		sorted = resultOf(sortingByName(entries));
		sortedByNameCache.set(entries, sorted);
	}
	return sorted;
}

/** Returns the entries in the order of their names, after steps of some milliseconds. Sorting them by anything is quick from here on. */
export function* sortingByName(entries: readonly Entry[]): Generator<undefined, Entry[]> {
	const order = new NameOrder();
	yield* order.adding(entries);
	return yield* order.ordering();
}

interface Row {
	entry: Entry;
	key: string | undefined;
	/** What the collator compares where one of two has no key. Made when it is first needed. */
	text: string | undefined;
}

/** What an entry is compared by. */
export function rowOf(entry: Entry): Row {
	return { entry, key: nameKey(entry.name), text: undefined };
}

function textOf(row: Row): string {
	row.text ??= collationText(row.entry.name, row.key);
	return row.text;
}

/** Characters that are compared in one step, which take the collator some milliseconds at worst. */
const stepLength = 64_000;

/** What the comparison of two keys counts for. */
const keyLength = 16;

/** Sorts entries by name while they arrive, so that little is left to do after the last one. */
export class NameOrder {
	/** Each sorted, each longer than the next. */
	readonly #runs: Row[][] = [];
	#compared = 0;

	/** Adds them in steps of some milliseconds, between which others may have their turns. */
	*adding(entries: readonly Entry[]): Generator<undefined, void> {
		let run: Row[] = [];
		let length = 0;
		for (const [index, entry] of entries.entries()) {
			const row = rowOf(entry);
			run.push(row);
			length += row.key === undefined ? keyLength + textOf(row).length : keyLength;
			// Each row of a run is compared with some eight others.
			if (8 * length < stepLength && index < entries.length - 1) continue;
			if (this.#countInStep(8 * length)) yield;
			yield* this.#push(run.sort(compareRows));
			run = [];
			length = 0;
		}
	}

	/** Returns all that were added, in order, after steps of some milliseconds. Sorting them by anything is quick from here on. */
	*ordering(): Generator<undefined, Entry[]> {
		while (this.#runs.length > 1) {
			const [last, before] = [this.#runs.pop() as Row[], this.#runs.pop() as Row[]];
			this.#runs.push(yield* this.#merge(before, last));
		}
		const entries = (this.#runs[0] ?? []).map(({ entry }) => entry);
		sortedByNameCache.set(entries, entries);
		return entries;
	}

	*#push(sorted: Row[]): Generator<undefined, void> {
		let run = sorted;
		for (let last = this.#runs.at(-1); last !== undefined && last.length <= 2 * run.length; last = this.#runs.at(-1)) {
			this.#runs.pop();
			run = yield* this.#merge(last, run);
		}
		this.#runs.push(run);
	}

	*#merge(a: readonly Row[], b: readonly Row[]): Generator<undefined, Row[]> {
		const [last, first] = [a.at(-1), b[0]];
		// Entries that come in order, as the server sends them, need no other comparison.
		if (last !== undefined && first !== undefined && compareRows(last, first) <= 0) return a.concat(b);
		const merged: Row[] = [];
		let at = 0;
		for (const row of b) {
			for (let next = a[at]; next !== undefined; next = a[++at]) {
				if (this.#countInStep(lengthOf(next, row))) yield;
				if (compareRows(next, row) > 0) break;
				merged.push(next);
			}
			merged.push(row);
		}
		for (; at < a.length; at++) merged.push(a[at] as Row);
		return merged;
	}

	/** Counts what is compared next. Returns whether the step has to end before that, or it would be too long. */
	#countInStep(next: number): boolean {
		this.#compared += next;
		if (this.#compared <= stepLength) return false;
		this.#compared = next;
		return true;
	}
}

function resultOf<T>(steps: Generator<undefined, T>): T {
	for (;;) {
		const { done, value } = steps.next();
		if (done) return value;
	}
}

/** How many characters are compared at most. */
function lengthOf(a: Row, b: Row): number {
	if (a.key !== undefined && b.key !== undefined) return keyLength;
	return keyLength + Math.min(textOf(a).length, textOf(b).length);
}

/** The number that a column sorts by before names do. */
export const weights: Record<Exclude<SortColumn, 'name'>, (entry: Entry) => number> = {
	size: (entry) => entry.size,
	time: (entry) => entry.mtime,
	type: (entry) => (entry.type === 'directory' ? 0 : 1),
	// A file has no count, which is less than an empty folder's.
	count: (entry) => entry.count ?? -1,
};

/** The order of names, then owners, then paths. */
export function compareRows(a: Row, b: Row): number {
	const byKey = a.key === undefined || b.key === undefined ? collate(textOf(a), textOf(b)) : compareText(a.key, b.key);
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
