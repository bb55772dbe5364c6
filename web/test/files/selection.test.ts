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
const order: RowOrder = { keys, pinned: 1, indexOf: (key) => (keys.includes(key) ? keys.indexOf(key) : undefined) };
const at = (key: string) => ({ key, index: keys.indexOf(key) });

function after(...actions: SelectionAction[]): Selection {
	return actions.reduce(reduceSelection, emptySelection);
}

function selected(state: Selection): string {
	return [...state.selected].sort().join('');
}

test('toggling adds a row and takes it away again', (t) => {
	const one = after({ type: 'toggled', at: at('b') }, { type: 'toggled', at: at('d') });
	t.is(selected(one), 'bd');
	t.is(selected(reduceSelection(one, { type: 'toggled', at: at('b') })), 'd');
});

test('opening a row clears the selection and leaves the cursor there', (t) => {
	const state = after({ type: 'toggled', at: at('b') }, { type: 'opened', at: at('c') });
	t.is(selected(state), '');
	t.is(state.cursor?.key, 'c');
});

test('a range reaches from the last toggled row and replaces what was selected', (t) => {
	const state = after(
		{ type: 'toggled', at: at('a') },
		{ type: 'toggled', at: at('c') },
		{ type: 'extended', to: at('e'), order, keep: false },
	);
	t.is(selected(state), 'cde');
});

test('with Ctrl a range joins the selection', (t) => {
	const state = after(
		{ type: 'toggled', at: at('a') },
		{ type: 'toggled', at: at('d') },
		{ type: 'extended', to: at('e'), order, keep: true },
	);
	t.is(selected(state), 'ade');
});

test('a range can be drawn back and over to the other side', (t) => {
	const there = after({ type: 'moved', to: at('c') }, { type: 'extended', to: at('e'), order, keep: false });
	t.is(selected(there), 'cde');
	const back = reduceSelection(there, { type: 'extended', to: at('a'), order, keep: false });
	t.is(selected(back), 'abc');
});

test('a range never takes in Up Directory', (t) => {
	const state = after({ type: 'moved', to: at('b') }, { type: 'extended', to: at('..'), order, keep: false });
	t.is(selected(state), 'ab');
	t.is(state.cursor?.key, '..');
});

test('the focus that comes to a row leaves the begin of a range where it was', (t) => {
	const state = after(
		{ type: 'moved', to: at('b') },
		{ type: 'focused', at: at('d') },
		{ type: 'extended', to: at('d'), order, keep: false },
	);
	t.is(selected(state), 'bcd');
});

test('a band selects what it covers beside what is kept', (t) => {
	const state = after({ type: 'banded', keys: ['c', 'd'], kept: new Set(['a']) });
	t.is(selected(state), 'acd');
	t.is(selected(reduceSelection(state, { type: 'banded', keys: ['c'], kept: new Set(['a']) })), 'ac');
});

test('all is every entry but not Up Directory', (t) => {
	t.is(selected(after({ type: 'all', order })), 'abcde');
});

test('clearing an empty selection changes nothing', (t) => {
	const state = after({ type: 'cleared' });
	t.is(state.selected, emptySelection.selected);
});

test('the cursor stays on its row when that moves', (t) => {
	t.is(cursorIndex({ key: 'd', index: 1 }, order), 4);
});

test('if its row is gone, the cursor is on the row that took its place', (t) => {
	t.is(cursorIndex({ key: 'gone', index: 3 }, order), 3);
	t.is(cursorIndex({ key: 'gone', index: 30 }, order), 5);
});

test('an untouched list has its cursor on the first row, an empty one has none', (t) => {
	t.is(cursorIndex(undefined, order), 0);
	t.is(cursorIndex(undefined, { keys: [], pinned: 0, indexOf: () => undefined }), undefined);
});
