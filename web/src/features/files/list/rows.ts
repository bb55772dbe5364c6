import type { Entry, LetterFilter } from '@stowage/rules';
import { matchesLetter } from '@stowage/rules';
import type { RowKey, RowOrder } from '../selection/selection.js';

/** The key of the Up Directory row. No path is `..`. */
export const upKey: RowKey = '..';

/** The rows of the list in order: Up Directory where there is one, then the entries. */
export interface Rows extends RowOrder {
	entries: readonly Entry[];
	/** What typing a prefix looks through. Up Directory is reached by Backspace and the arrows. */
	names: readonly string[];
}

/** In the public view two trees may hold the same path, and user names hold no colon. */
export function keyOf(entry: Pick<Entry, 'path' | 'owner'>): RowKey {
	return entry.owner === undefined ? entry.path : `${entry.owner ?? ''}:${entry.path}`;
}

/** A few keys are found sooner by looking along the rows than by a map of a hundred thousand of them. */
const worthAMap = 16;

/** The rows for entries that are in order and filtered. */
export function rowsOf(entries: readonly Entry[], hasUp: boolean): Rows {
	const keys = entries.map(keyOf);
	if (hasUp) keys.unshift(upKey);
	let indexes: Map<RowKey, number> | undefined;
	let names: string[] | undefined;
	let asked = 0;
	return {
		entries,
		keys,
		pinned: hasUp ? 1 : 0,
		// A hundred thousand rows are scrolled and sorted without either; they are made when first asked for.
		get names() {
			names ??= hasUp ? ['', ...entries.map((entry) => entry.name)] : entries.map((entry) => entry.name);
			return names;
		},
		indexOf: (key) => {
			if (!indexes && ++asked <= worthAMap) {
				const index = keys.indexOf(key);
				return index < 0 ? undefined : index;
			}
			indexes ??= new Map(keys.map((each, index) => [each, index]));
			return indexes.get(key);
		},
	};
}

/** The entry of a row; undefined for Up Directory and beyond the end. */
export function entryAt(rows: Rows, index: number): Entry | undefined {
	return rows.entries[index - rows.pinned];
}

/** The selected entries that are shown, in the order of the rows: what is filtered out or gone is not acted on. */
export function selectedEntries(rows: Rows, selected: ReadonlySet<RowKey>): Entry[] {
	const indexes: number[] = [];
	for (const key of selected) {
		const index = rows.indexOf(key);
		if (index !== undefined && index >= rows.pinned) indexes.push(index);
	}
	return indexes.sort((a, b) => a - b).flatMap((index) => entryAt(rows, index) ?? []);
}

/** The entries whose names begin as the filter says. The filter looks at first letters only, so each is tried once. */
export function filterByLetter(entries: readonly Entry[], filter: LetterFilter): readonly Entry[] {
	if (filter === 'ALL') return entries;
	const known = new Map<number, boolean>();
	return entries.filter(({ name }) => {
		const first = name.codePointAt(0) ?? 0;
		let matches = known.get(first);
		if (matches === undefined) {
			matches = matchesLetter(String.fromCodePoint(first), filter);
			known.set(first, matches);
		}
		return matches;
	});
}
