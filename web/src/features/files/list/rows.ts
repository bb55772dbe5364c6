import { type Entry, type LetterFilter, matchesLetter, PathMap } from '@stowage/rules';
import type { RowKey, RowOrder } from '../selection/selection.js';

/** The key of the Up Directory row. No path is `..`. */
export const parentRowKey: RowKey = '..';

/** The rows of the list in order: Up Directory where there is one, then the entries. */
export interface Rows<E extends Entry = Entry> extends RowOrder {
	entries: readonly E[];
	/** The names in which a typed prefix is searched; empty for Up Directory. */
	names: readonly string[];
}

/**
 * Identifies an entry in its list. With the owner, since in the public view two trees may have the same path; a role
 * means that it is in a shared folder. User names have no colon.
 */
export function keyOf(entry: Pick<Entry, 'path' | 'owner' | 'role'>): RowKey {
	const path = entry.path.length > maxKeyLength ? shortKey(entry.path) : entry.path;
	return entry.owner === undefined || entry.role !== undefined ? path : `${entry.owner ?? ''}:${path}`;
}

/** Sets of longer keys take the square of their number: see `PathMap`. */
const maxKeyLength = 16_000;

/**
 * Folders of long paths, by what stands for each in keys. It is another one once the page is loaded anew, which finds no wrong row
 * then.
 */
const longFolders = new PathMap<string>();

function shortKey(path: string): string {
	const end = path.lastIndexOf('/');
	const folder = path.slice(0, end);
	const known = longFolders.get(folder) ?? `/${Math.random()}`;
	longFolders.set(folder, known);
	return known + path.slice(end);
}

/** A few keys are found faster by a linear search than by building a map of a hundred thousand of them. */
const maxLinearSearches = 16;

/** The rows of sorted and filtered entries. */
export function rowsOf<E extends Entry>(
	entries: readonly E[],
	hasParentRow: boolean,
	key: (entry: E) => RowKey = keyOf,
): Rows<E> {
	const firstEntry = hasParentRow ? 1 : 0;
	let keys: RowKey[] | undefined;
	const allKeys = () => {
		if (!keys) {
			keys = entries.map(key);
			if (hasParentRow) keys.unshift(parentRowKey);
		}
		return keys;
	};
	let indexes: Map<RowKey, number> | undefined;
	let names: string[] | undefined;
	let searches = 0;
	return {
		entries,
		firstEntry,
		count: entries.length + firstEntry,
		keyAt: (index) => {
			const entry = entries[index - firstEntry];
			return entry ? key(entry) : hasParentRow && index === 0 ? parentRowKey : undefined;
		},
		// Built on first use: showing, scrolling and sorting a hundred thousand rows need neither the keys, the names nor the map.
		get keys() {
			return allKeys();
		},
		get names() {
			names ??= hasParentRow ? ['', ...entries.map((entry) => entry.name)] : entries.map((entry) => entry.name);
			return names;
		},
		indexOf: (key) => {
			if (!indexes && ++searches <= maxLinearSearches) {
				const index = allKeys().indexOf(key);
				return index < 0 ? undefined : index;
			}
			indexes ??= new Map(allKeys().map((each, index) => [each, index]));
			return indexes.get(key);
		},
	};
}

/** The entry of a row; undefined for Up Directory and beyond the end. */
export function entryAt<E extends Entry>(rows: Rows<E>, index: number): E | undefined {
	return rows.entries[index - rows.firstEntry];
}

/** The selected entries that are shown, in the order of the rows. Those that are filtered out or gone are left out. */
export function selectedEntries<E extends Entry>(rows: Rows<E>, selected: ReadonlySet<RowKey>): E[] {
	const indexes: number[] = [];
	for (const key of selected) {
		const index = rows.indexOf(key);
		if (index !== undefined && index >= rows.firstEntry) indexes.push(index);
	}
	return indexes.sort((a, b) => a - b).flatMap((index) => entryAt(rows, index) ?? []);
}

/** The entries that pass the letter filter. The filter depends on first letters only, so each letter is tested once. */
export function filterByLetter(entries: readonly Entry[], filter: LetterFilter): readonly Entry[] {
	if (filter === 'ALL') return entries;
	const results = new Map<number, boolean>();
	return entries.filter(({ name }) => {
		const first = name.codePointAt(0) ?? 0;
		let matches = results.get(first);
		if (matches === undefined) {
			matches = matchesLetter(String.fromCodePoint(first), filter);
			results.set(first, matches);
		}
		return matches;
	});
}
