import test from 'ava';
import {
	cursorIndex,
	emptySelection,
	type RowOrder,
	reduceSelection,
	type Selection,
	type SelectionAction,
} from '../../src/features/files/selection/selection.js';

const keys = ['..', 'a', 'b', 'c', 'd', 'e'];
const order: RowOrder = {
	keys,
	count: keys.length,
	keyAt: (index) => keys[index],
	firstEntry: 1,
	indexOf: (key) => (keys.includes(key) ? keys.indexOf(key) : undefined),
};
const at = (key: string) => ({ key, index: keys.indexOf(key) });

function after(...actions: SelectionAction[]): Selection {
	return actions.reduce(reduceSelection, emptySelection);
}

function selected(state: Selection): string {
	return [...state.selected].sort().join('');
}

test('toggling a row selects it, and toggling it again deselects it', (t) => {
	const one = after({ type: 'toggled', at: at('b') }, { type: 'toggled', at: at('d') });
	t.is(selected(one), 'bd');
	t.is(selected(reduceSelection(one, { type: 'toggled', at: at('b') })), 'd');
});

test('opening a row clears the selection and leaves the cursor there', (t) => {
	const state = after({ type: 'toggled', at: at('b') }, { type: 'opened', at: at('c') });
	t.is(selected(state), '');
	t.is(state.cursor?.key, 'c');
});

test('a range extends from the last toggled row and replaces the selection', (t) => {
	const state = after(
		{ type: 'toggled', at: at('a') },
		{ type: 'toggled', at: at('c') },
		{ type: 'extended', to: at('e'), order, keep: false },
	);
	t.is(selected(state), 'cde');
});

test('a range with Ctrl is added to the selection', (t) => {
	const state = after(
		{ type: 'toggled', at: at('a') },
		{ type: 'toggled', at: at('d') },
		{ type: 'extended', to: at('e'), order, keep: true },
	);
	t.is(selected(state), 'ade');
});

test('a range can be extended to either side of its anchor', (t) => {
	const there = after({ type: 'moved', to: at('c') }, { type: 'extended', to: at('e'), order, keep: false });
	t.is(selected(there), 'cde');
	const back = reduceSelection(there, { type: 'extended', to: at('a'), order, keep: false });
	t.is(selected(back), 'abc');
});

test('a range never includes Up Directory', (t) => {
	const state = after({ type: 'moved', to: at('b') }, { type: 'extended', to: at('..'), order, keep: false });
	t.is(selected(state), 'ab');
	t.is(state.cursor?.key, '..');
});

test('focusing a row does not move the anchor of a range', (t) => {
	const state = after(
		{ type: 'moved', to: at('b') },
		{ type: 'focused', at: at('d') },
		{ type: 'extended', to: at('d'), order, keep: false },
	);
	t.is(selected(state), 'bcd');
});

test('a marquee selects the rows that it covers, besides the kept ones', (t) => {
	const state = after({ type: 'marquee', keys: ['c', 'd'], kept: new Set(['a']) });
	t.is(selected(state), 'acd');
	t.is(selected(reduceSelection(state, { type: 'marquee', keys: ['c'], kept: new Set(['a']) })), 'ac');
});

test('selecting all selects every entry except Up Directory', (t) => {
	t.is(selected(after({ type: 'all', order })), 'abcde');
});

test('clearing an empty selection changes nothing', (t) => {
	const state = after({ type: 'cleared' });
	t.is(state.selected, emptySelection.selected);
});

test('the cursor stays on its row when the row moves', (t) => {
	t.is(cursorIndex({ key: 'd', index: 1 }, order), 4);
});

test('the cursor of a removed row is on the row in its place', (t) => {
	t.is(cursorIndex({ key: 'gone', index: 3 }, order), 3);
	t.is(cursorIndex({ key: 'gone', index: 30 }, order), 5);
});

test('the cursor is on the first row of a new list, and an empty list has none', (t) => {
	t.is(cursorIndex(undefined, order), 0);
	t.is(
		cursorIndex(undefined, { keys: [], count: 0, keyAt: () => undefined, firstEntry: 0, indexOf: () => undefined }),
		undefined,
	);
});
