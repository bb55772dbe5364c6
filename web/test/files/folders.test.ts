import type { Entry, LetterFilter } from '@stowage/rules';
import test from 'ava';
import {
	arrive,
	enterFolder,
	type Folders,
	type FoldersAction,
	foldersToSave,
	reduceFolders,
	type Visit,
} from '../../src/features/files/folder/folders.js';
import {
	readFolders,
	type SavedFolder,
	saveFolder,
	writeFolders,
} from '../../src/features/files/folder/savedFolders.js';
import { rowsOf } from '../../src/features/files/list/rows.js';
import { cursorIndex } from '../../src/features/files/selection/selection.js';

const visit = (key: string, given: Partial<Visit> = {}): Visit => ({
	key,
	user: 'ada',
	isReturn: false,
	startKey: undefined,
	isStartSelected: false,
	...given,
});
const a = { key: 'a.txt', index: 1 };

/** The state after `docs` was entered and an entry was selected in it. */
const selected: Folders = reduceFolders(arrive(visit('docs'), {}), {
	type: 'visited',
	visit: visit('docs'),
	action: { type: 'selection', action: { type: 'toggled', at: a } },
});

/** The state after `docs` was left, scrolled by 80 pixels, for `other`. */
function left(): Folders {
	const entered = enterFolder(selected, visit('other'));
	return reduceFolders(entered, { type: 'left', left: foldersToSave(entered, { key: 'docs', user: 'ada' }, 80) });
}

test('a folder that is entered has no selection and begins at its top', (t) => {
	const { current } = enterFolder(left(), visit('docs'));
	t.like(current, { key: 'docs', letter: 'ALL', scrollTop: 0, revealed: undefined });
	t.is(current.selection.selected.size, 0);
});

test('a folder is as it was left when its user comes back', (t) => {
	const { current } = enterFolder(left(), visit('docs', { isReturn: true }));
	t.like(current, { letter: 'ALL', scrollTop: 80 });
	t.deepEqual([...current.selection.selected], ['a.txt']);
	t.deepEqual(current.selection.cursor, a);
});

test('a folder is as it was left for who has left it, once that is known, and for nobody else', (t) => {
	const selectedIn = (before: Folders['left'], user: Visit['user']) => {
		const first = arrive(visit('docs', { user: undefined, isReturn: true }), before);
		const known = enterFolder(first, visit('docs', { user, isReturn: true }));
		return [...reduceFolders(first, { type: 'entered', folders: known }).current.selection.selected];
	};
	const before = left().left;
	t.deepEqual(selectedIn(before, undefined), []);
	t.deepEqual(selectedIn(before, 'ada'), ['a.txt']);
	t.deepEqual(selectedIn(before, 'bob'), []);
	t.deepEqual(selectedIn(before, null), []);
});

test('a visitor who signs in goes on with what is on screen', (t) => {
	const visitor = enterFolder(arrive(visit('docs', { user: null }), {}), visit('docs', { user: null }));
	const action = { type: 'filtered', letter: 'B' } as const;
	const filtered = reduceFolders(visitor, { type: 'visited', visit: visit('docs', { user: null }), action });
	t.like(enterFolder(filtered, visit('docs')).current, { user: 'ada', letter: 'B' });
	t.deepEqual(enterFolder(filtered, visit('docs')).left, {});
});

test('the cursor begins at the folder that was left upwards', (t) => {
	const { current } = enterFolder(selected, visit('', { startKey: 'docs' }));
	t.is(current.selection.cursor?.key, 'docs');
	t.is(current.revealed, 'docs');
	t.is(current.selection.selected.size, 0);
});

test('an entry for which its folder is opened is selected', (t) => {
	const { current } = enterFolder(selected, visit('', { startKey: 'docs', isStartSelected: true }));
	t.deepEqual([...current.selection.selected], ['docs']);
	t.like(current, { revealed: 'docs', selection: { anchor: 'docs' } });
});

test('the first action in a folder enters it, and an entered folder is not entered again', (t) => {
	const action: FoldersAction = {
		type: 'visited',
		visit: visit('other'),
		action: { type: 'filtered', letter: 'B' },
	};
	const filtered = reduceFolders(selected, action);
	t.like(filtered.current, { key: 'other', letter: 'B' });
	t.is(reduceFolders(filtered, { type: 'entered', folders: enterFolder(selected, visit('other')) }), filtered);
	t.is(enterFolder(filtered, visit('other', { isReturn: true })), filtered);
});

test('an entry that is shown is the only selected one until another is selected', (t) => {
	const shown = reduceFolders(selected, {
		type: 'visited',
		visit: visit('docs'),
		action: { type: 'shown', key: 'b.txt', name: 'b.txt' },
	});
	t.deepEqual([...shown.current.selection.selected], ['b.txt']);
	t.is(shown.current.revealed, 'b.txt');
	const revealed = reduceFolders(shown, { type: 'visited', visit: visit('docs'), action: { type: 'revealed' } });
	t.is(revealed.current.revealed, undefined);
});

test('an entry that is shown is seen also if the letter filter hid it', (t) => {
	const after = (letter: LetterFilter, name: string) => {
		const actions = [{ type: 'filtered', letter } as const, { type: 'shown', key: name, name } as const];
		return actions.reduce<Folders>(
			(folders, action) => reduceFolders(folders, { type: 'visited', visit: visit('docs'), action }),
			selected,
		).current;
	};
	t.is(after('Z', 'Zeta').letter, 'Z');
	t.is(after('A', 'Zeta').letter, 'ALL');
});

test('the cursor stays where it is until the entry that is shown is in the list', (t) => {
	const action = { type: 'shown', key: 'z.txt', name: 'z.txt' } as const;
	const shown = reduceFolders(selected, { type: 'visited', visit: visit('docs'), action });
	const rows = rowsOf(
		['Alpha', 'a.txt', 'c.txt'].map((name): Entry => ({ name, path: name, type: 'file', size: 1, mtime: 1 })),
		false,
	);
	t.is(cursorIndex(shown.current.selection.cursor, rows), a.index);
});

function storage() {
	const values = new Map<string, string>();
	return {
		getItem: (key: string) => values.get(key) ?? null,
		setItem: (key: string, value: string) => void values.set(key, value),
	};
}

const view: SavedFolder = { letter: 'B', scrollTop: 80, selected: ['a'], cursor: { key: 'a', index: 1 } };

test('the saved view of a folder is loaded for that folder only', (t) => {
	const place = storage();
	writeFolders(place, saveFolder({}, 'private:docs', view));
	t.deepEqual(readFolders(place), { 'private:docs': view });
});

test('only the views of the latest folders stay saved', (t) => {
	let saved = {};
	for (let index = 0; index < 60; index++) saved = saveFolder(saved, `folder ${index}`, view);
	saved = saveFolder(saved, 'folder 10', view);
	const keys = Object.keys(saved);
	t.is(keys.length, 50);
	t.is(keys[0], 'folder 11');
	t.is(keys.at(-1), 'folder 10');
});

test('a huge selection is not saved', (t) => {
	const huge = { ...view, selected: Array.from({ length: 100_000 }, (_, index) => `f${index}`) };
	t.deepEqual(saveFolder({}, 'x', huge).x?.selected, []);
});

test('a saved view of another version, and a storage that is forbidden, are ignored', (t) => {
	t.deepEqual(readFolders({ getItem: () => '{"x":{"letter":5}}', setItem: () => {} }), {});
	t.deepEqual(readFolders({ getItem: () => 'nonsense', setItem: () => {} }), {});
	t.deepEqual(readFolders(undefined), {});
});
