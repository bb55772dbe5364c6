/** Identifies a row within one listing. */
export type RowKey = string;

/** The keys of the rows in their order, and the index of each key. */
export interface RowOrder {
	keys: readonly RowKey[];
	/** How many rows there are. Quicker than to ask `keys`, as `keyAt` is. */
	count: number;
	/** Undefined beyond the end. */
	keyAt: (index: number) => RowKey | undefined;
	indexOf: (key: RowKey) => number | undefined;
	/** The index of the first entry: 1 behind the Up Directory row, which can't be selected. */
	firstEntry: number;
}

/** The row with the keyboard's cursor. The index is used when the row itself is gone. */
export interface Cursor {
	key: RowKey;
	index: number;
}

export interface Selection {
	/** May have keys of rows that are filtered out or gone; `selectedEntries` leaves them out. */
	selected: ReadonlySet<RowKey>;
	cursor: Cursor | undefined;
	/** Where a range begins. */
	anchor: RowKey | undefined;
}

export const emptySelection: Selection = { selected: new Set(), cursor: undefined, anchor: undefined };

export type SelectionAction =
	/** The focus moved to a row without a selection; the anchor of a range stays. */
	| { type: 'focused'; at: Cursor }
	| { type: 'moved'; to: Cursor }
	| { type: 'opened'; at: Cursor }
	| { type: 'only'; at: Cursor }
	| { type: 'toggled'; at: Cursor }
	| { type: 'extended'; to: Cursor; order: RowOrder; keep: boolean }
	| { type: 'marquee'; keys: readonly RowKey[]; kept: ReadonlySet<RowKey> }
	| { type: 'all'; order: RowOrder }
	| { type: 'cleared' };

export function reduceSelection(state: Selection, action: SelectionAction): Selection {
	switch (action.type) {
		case 'focused':
			return isSame(state.cursor, action.at) ? state : { ...state, cursor: action.at };
		case 'moved':
			return { ...state, cursor: action.to, anchor: action.to.key };
		case 'opened':
			return { selected: cleared(state), cursor: action.at, anchor: action.at.key };
		case 'only':
			return { selected: new Set([action.at.key]), cursor: action.at, anchor: action.at.key };
		case 'toggled':
			return { selected: toggled(state.selected, action.at.key), cursor: action.at, anchor: action.at.key };
		case 'extended':
			return extended(state, action.to, action.order, action.keep);
		case 'marquee':
			return { ...state, selected: new Set([...action.kept, ...action.keys]) };
		case 'all':
			return { ...state, selected: new Set(action.order.keys.slice(action.order.firstEntry)) };
		case 'cleared':
			return { ...state, selected: cleared(state) };
	}
}

function isSame(a: Cursor | undefined, b: Cursor): boolean {
	return a?.key === b.key && a.index === b.index;
}

/** An empty set, always the same, so that clearing an empty selection causes no render. */
function cleared(state: Selection): ReadonlySet<RowKey> {
	return state.selected.size === 0 ? state.selected : emptySelection.selected;
}

function toggled(selected: ReadonlySet<RowKey>, key: RowKey): ReadonlySet<RowKey> {
	const next = new Set(selected);
	if (!next.delete(key)) next.add(key);
	return next;
}

/** The range from the anchor to `to` replaces the selection, or is added to it if `keep`. The anchor stays. */
function extended(state: Selection, to: Cursor, order: RowOrder, keep: boolean): Selection {
	const anchor = state.anchor ?? state.cursor?.key ?? to.key;
	const from = order.indexOf(anchor) ?? to.index;
	const first = Math.max(order.firstEntry, Math.min(from, to.index));
	const range = order.keys.slice(first, Math.max(from, to.index) + 1);
	return { selected: new Set(keep ? [...state.selected, ...range] : range), cursor: to, anchor };
}

/** The row at an index; undefined beyond the end. */
export function cursorAt(order: RowOrder, index: number): Cursor | undefined {
	const key = order.keyAt(index);
	return key === undefined ? undefined : { key, index };
}

/** The current index of the cursor's row, or if it is gone, the row that took its place. */
export function cursorIndex(cursor: Cursor | undefined, order: RowOrder): number | undefined {
	if (order.count === 0) return undefined;
	if (!cursor) return 0;
	if (order.keyAt(cursor.index) === cursor.key) return cursor.index;
	return order.indexOf(cursor.key) ?? Math.min(cursor.index, order.count - 1);
}
