import type { Entry, Owner } from '@stowage/rules';
import test from 'ava';
import { patchEntries } from '../../src/features/files/folder/listingPatch.js';
import { loadFolder, type SavedFolder, saveFolder } from '../../src/features/files/folder/savedFolder.js';
import { entryAt, filterByLetter, keyOf, rowsOf, selectedEntries } from '../../src/features/files/list/rows.js';
import { nameParts } from '../../src/features/files/list/rowText.js';
import { anchoredScroll } from '../../src/features/files/list/useScrollAnchor.js';
import { menuMargin, placeMenu } from '../../src/features/files/menu/menuPlacement.js';
import { reasonOf, runEach } from '../../src/features/files/operations/runEach.js';
import { bandBetween, isBand, rowsInBand, scrollAtEdge } from '../../src/features/files/selection/rubberBand.js';

function file(name: string, owner?: Owner): Entry {
	return { name, path: name, type: 'file', size: 1, mtime: 0, ...(owner === undefined ? {} : { owner }) };
}

const names = (entries: readonly Entry[]) => entries.map(({ name }) => name).join(' ');

test('Up Directory is the first row and has no entry', (t) => {
	const rows = rowsOf([file('a'), file('b')], true);
	t.is(rows.keys.length, 3);
	t.is(entryAt(rows, 0), undefined);
	t.is(entryAt(rows, 1)?.name, 'a');
	t.is(entryAt(rows, 3), undefined);
});

test('the same path of two owners is two rows', (t) => {
	const keys = [file('a', 'alice'), file('a', null), file('a', 'anonymous')].map(keyOf);
	t.is(new Set(keys).size, 3);
});

test('rows are found by their keys, the first few and all others', (t) => {
	const rows = rowsOf(
		Array.from({ length: 100 }, (_, index) => file(`f${index}`)),
		true,
	);
	for (let index = 0; index < 100; index++) t.is(rows.indexOf(`f${index}`), index + 1);
	t.is(rows.indexOf('gone'), undefined);
});

test('selected entries that are not shown are left out', (t) => {
	const rows = rowsOf([file('b'), file('a')], true);
	t.is(names(selectedEntries(rows, new Set(['a', 'gone', '..', 'b']))), 'b a');
});

test('the letter filter looks at first letters', (t) => {
	const entries = ['Apple', 'ångström', 'banana', '7 seas', 'avocado'].map((name) => file(name));
	t.is(names(filterByLetter(entries, 'A')), 'Apple ångström avocado');
	t.is(names(filterByLetter(entries, '#')), '7 seas');
	t.is(filterByLetter(entries, 'ALL'), entries);
});

test('a change is shown before the folder is fetched again', (t) => {
	const entries = [file('a'), file('b')];
	t.is(names(patchEntries(entries, { removed: [file('a')], added: [file('c')] })), 'b c');
	t.is(names(patchEntries(entries, { added: [file('b')] })), 'a b');
});

test('a long name keeps its extension', (t) => {
	t.deepEqual(nameParts('a rather long name of a report.final.pdf'), {
		head: 'a rather long name of a report.final',
		tail: '.pdf',
	});
	t.deepEqual(nameParts('short.txt'), { head: 'short.txt', tail: '' });
	t.is(nameParts('a sentence with a dot. And then it goes on').tail, '');
});

test('a menu opens at the point where there is room', (t) => {
	t.deepEqual(placeMenu({ x: 100, y: 100 }, { width: 200, height: 300 }, { width: 1280, height: 800 }), {
		left: 100,
		top: 100,
	});
});

test('near an edge it flips to the other side', (t) => {
	t.deepEqual(placeMenu({ x: 1270, y: 790 }, { width: 200, height: 300 }, { width: 1280, height: 800 }), {
		left: 1070,
		top: 490,
	});
});

test('and where no side has room it is shifted', (t) => {
	const { left, top } = placeMenu({ x: 150, y: 200 }, { width: 220, height: 350 }, { width: 360, height: 400 });
	t.is(left + 220, 360 - menuMargin);
	t.is(top + 350, 400 - menuMargin);
});

test('a band begins after a few pixels and covers the rows that it touches', (t) => {
	t.false(isBand({ x: 0, y: 0 }, { x: 3, y: 3 }));
	t.true(isBand({ x: 0, y: 0 }, { x: 3, y: 4 }));
	const band = bandBetween({ x: 50, y: 130 }, { x: 10, y: 45 }, 500, 4000);
	t.deepEqual(band, { left: 10, top: 45, width: 40, height: 85 });
	t.deepEqual(rowsInBand(band, 40, 100), { first: 1, end: 4 });
	t.deepEqual(rowsInBand(bandBetween({ x: 0, y: 900 }, { x: 9, y: 950 }, 500, 4000), 40, 3), { first: 3, end: 3 });
});

test('a band scrolls the list at its edges only', (t) => {
	t.is(scrollAtEdge(400, 100, 700), 0);
	t.true(scrollAtEdge(95, 100, 700) < 0);
	t.true(scrollAtEdge(710, 100, 700) > 0);
});

function storage() {
	const kept = new Map<string, string>();
	return {
		getItem: (key: string) => kept.get(key) ?? null,
		setItem: (key: string, value: string) => void kept.set(key, value),
	};
}

const memory: SavedFolder = { letter: 'B', scrollTop: 80, selected: ['a'], cursor: { key: 'a', index: 1 } };

test('a folder is saved as it was left', (t) => {
	const place = storage();
	saveFolder(place, 'private:docs', memory);
	t.deepEqual(loadFolder(place, 'private:docs'), memory);
	t.is(loadFolder(place, 'private:other'), undefined);
});

test('only the newest folders are saved', (t) => {
	const place = storage();
	for (let index = 0; index < 60; index++) saveFolder(place, `folder ${index}`, memory);
	t.is(loadFolder(place, 'folder 0'), undefined);
	t.deepEqual(loadFolder(place, 'folder 59'), memory);
});

test('a huge selection is not saved', (t) => {
	const place = storage();
	saveFolder(place, 'x', { ...memory, selected: Array.from({ length: 100_000 }, (_, index) => `f${index}`) });
	t.deepEqual(loadFolder(place, 'x')?.selected, []);
});

test('what another version saved is ignored', (t) => {
	t.is(loadFolder({ getItem: () => '{"x":{"letter":5}}', setItem: () => {} }, 'x'), undefined);
	t.is(loadFolder({ getItem: () => 'nonsense', setItem: () => {} }, 'x'), undefined);
});

test('one failure does not stop the others', async (t) => {
	const seen: number[] = [];
	const outcome = await runEach(
		[1, 2, 3],
		async (item) => {
			if (item === 2) throw new Error('No');
		},
		{ signal: new AbortController().signal, onProgress: (ended) => seen.push(ended) },
	);
	t.deepEqual(outcome.done, [1, 3]);
	t.deepEqual(outcome.failed, [2]);
	t.is(reasonOf(outcome.reason), 'No');
	t.deepEqual(seen, [1, 2, 3]);
});

test('cancelling stops before the next', async (t) => {
	const controller = new AbortController();
	const outcome = await runEach([1, 2, 3], async (item) => item === 2 && controller.abort(), {
		signal: controller.signal,
		onProgress: () => {},
	});
	t.deepEqual(outcome.done, [1, 2]);
	t.true(outcome.isCancelled);
});

test('the rows on screen stay in place when rows are added or removed above them', (t) => {
	const before = rowsOf(
		['b', 'c', 'd', 'e'].map((name) => file(name)),
		true,
	);
	const scrolled = (entries: string[], scrollTop: number) =>
		anchoredScroll(
			before,
			rowsOf(
				entries.map((name) => file(name)),
				true,
			),
			scrollTop,
			40,
		);
	t.is(scrolled(['a', 'b', 'c', 'd', 'e'], 100), 140);
	t.is(scrolled(['c', 'd', 'e'], 100), 60);
	t.is(scrolled(['b', 'c', 'd', 'e', 'f'], 100), 100);
	// The row at the top is gone, so the next one is the anchor.
	t.is(scrolled(['a', 'b', 'd', 'e'], 100), 100);
	t.is(scrolled(['a', 'b', 'c', 'd', 'e'], 0), 0);
	t.is(scrolled([], 100), 100);
});
