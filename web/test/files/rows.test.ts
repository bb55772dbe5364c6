import { type Entry, type Owner, sortEntries, sortModes } from '@stowage/rules';
import test from 'ava';
import { usualMs } from '../../../test/processorTime.js';
import { sortedEntries } from '../../src/api/listings/sortedEntries.js';
import { patchEntries } from '../../src/features/files/folder/useListingPatch.js';
import { gridLayout, listLayout, noticeRoom, positionOf, totalHeight } from '../../src/features/files/layout/layout.js';
import { anchoredScroll } from '../../src/features/files/layout/useScrollAnchor.js';
import { nameParts, rowLabel, tileName } from '../../src/features/files/list/items/rowText.js';
import { entryAt, filterByLetter, keyOf, rowsOf, selectedEntries } from '../../src/features/files/list/rows.js';
import { nameItems } from '../../src/features/files/messages.js';
import { reasonOf, runEach } from '../../src/features/files/operations/runEach.js';
import { isDrag, rangesInRect, rectBetween, scrollAtEdge } from '../../src/features/files/selection/marquee.js';
import { cursorIndex } from '../../src/features/files/selection/selection.js';

function file(name: string, owner?: Owner): Entry {
	return { name, path: name, type: 'file', size: 1, mtime: 0, ...(owner === undefined ? {} : { owner }) };
}

const paths = (entries: readonly Entry[]) => entries.map(({ path }) => path);
const names = (entries: readonly Entry[]) => entries.map(({ name }) => name).join(' ');

test('Up Directory is the first row and has no entry', (t) => {
	const rows = rowsOf([file('a'), file('b')], true);
	t.is(rows.keys.length, 3);
	t.is(entryAt(rows, 0), undefined);
	t.is(entryAt(rows, 1)?.name, 'a');
	t.is(entryAt(rows, 3), undefined);
});

test('the same path of several owners has a row for each', (t) => {
	const keys = [file('a', 'alice'), file('a', null), file('a', 'anonymous')].map(keyOf);
	t.is(new Set(keys).size, 3);
});

test.serial(
	'rows with long paths of one length are selected and found without comparing each with all others',
	async (t) => {
		const deep = 'f'.repeat(60_000);
		const entries = Array.from({ length: 1500 }, (_, index) => {
			const name = `${10_000 + index}`;
			return { ...file(name), path: `${index % 2}${deep}/${name}` };
		});
		const ms = await usualMs(() => {
			const rows = rowsOf(entries, false);
			const selected = new Set(rows.keys);
			t.is(selected.size, 1500);
			t.is(selectedEntries(rows, selected).length, 1500);
			const [first, second] = entries as [Entry, Entry];
			t.true(selected.has(keyOf({ ...first })));
			t.false(selected.has(keyOf({ ...first, path: `1${deep}/${first.name}` })), 'another folder');
			t.false(selected.has(keyOf({ ...first, owner: 'ada' })), 'another owner');
			t.is(patchEntries(entries, { removed: [first, second] }).length, 1498);
		});
		// With keys as long as the paths it takes 15 seconds and more.
		t.true(ms < 4000, `${ms} ms`);
	},
);

test('rows are shown without the keys of all of them', (t) => {
	let made = 0;
	const entries = ['b', 'c', 'd'].map((name) => file(name));
	const rows = rowsOf(entries, true, (entry) => {
		made++;
		return keyOf(entry);
	});
	t.is(rows.count, 4);
	t.is(cursorIndex(undefined, rows), 0);
	t.is(rows.keyAt(2), 'c');
	t.is(cursorIndex({ key: 'd', index: 3 }, rows), 3);
	t.is(made, 2);
	t.deepEqual(
		[-1, 0, 1, 2, 3, 4].map((index) => rows.keyAt(index)),
		[undefined, ...rows.keys, undefined],
	);
	const others = rowsOf(entries, false);
	t.deepEqual(
		[-1, 0, 1, 2, 3].map((index) => others.keyAt(index)),
		[undefined, ...others.keys, undefined],
	);
});

test('each row is found by its key', (t) => {
	const rows = rowsOf(
		Array.from({ length: 100 }, (_, index) => file(`f${index}`)),
		true,
	);
	for (let index = 0; index < 100; index++) t.is(rows.indexOf(`f${index}`), index + 1);
	t.is(rows.indexOf('gone'), undefined);
});

test('selected entries without a row are left out', (t) => {
	const rows = rowsOf([file('b'), file('a')], true);
	t.is(names(selectedEntries(rows, new Set(['a', 'gone', '..', 'b']))), 'b a');
});

test('the letter filter compares first letters without accents, and # means no letter', (t) => {
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

for (const mode of sortModes) {
	test(`in the order ${mode} a change of a large folder compares few of its entries and leaves all at their places`, (t) => {
		let compared = 0;
		/** Each comparison reads names or what the column shows. */
		const counted = (n: number, name: string): Entry => ({
			...{ path: `docs/${name}`, mtime: (n * 31) % 977 },
			get name() {
				compared++;
				return name;
			},
			get type() {
				compared++;
				return n % 3 === 0 ? ('directory' as const) : ('file' as const);
			},
			get size() {
				compared++;
				return (n * 7919) % 5003;
			},
			...(n % 3 === 0 ? { count: n % 5 } : {}),
		});
		const entries = Array.from({ length: 4000 }, (_, n) => counted(n, `f${(n * 7919) % 4001}`));
		let shown = [...entries];
		sortedEntries(shown, mode);
		compared = 0;
		const [renamed, deleted] = [entries[7], entries[2500]] as [Entry, Entry];
		shown = patchEntries(shown, { removed: [deleted] });
		sortedEntries(shown, mode);
		const last = counted(7, 'another name');
		shown = patchEntries(shown, { removed: [renamed], added: [last] });
		const sorted = sortedEntries(shown, mode);
		t.true(compared < 200, `${compared}`);
		const others = entries.filter((entry) => entry !== renamed && entry !== deleted);
		t.deepEqual(paths(sorted), paths(sortEntries([...others, last], mode)));
	});
}

test('a listing without what was removed is still the same one, and is not shown anew', (t) => {
	const entries = [file('a'), file('b')];
	t.is(patchEntries(entries, { removed: [file('c')] }), entries);
});

test('a name that turns its direction does not look like that of another kind of file', (t) => {
	const name = 'holiday pictures of ada \u202Egpj.exe';
	const shown = 'holiday pictures of ada \uFFFDgpj.exe';
	const { head, tail } = nameParts(name);
	t.is(head + tail, shown);
	t.is(tileName('\u202Egpj.exe').head, '\uFFFDgpj.exe');
	t.true(rowLabel({ ...file('a'), name }, false, undefined).startsWith(shown));
	t.is(nameItems([{ name }]), shown);
});

test('a long name keeps its extension, and its end, where copies and photos differ', (t) => {
	const tailOf = (name: string) => {
		const { head, tail } = nameParts(name);
		t.is(head + tail, name);
		return tail;
	};
	t.is(tailOf('a rather long name of a report.final.pdf'), 'inal.pdf');
	t.is(tailOf('a rather long name of a report (1).pdf'), ' (1).pdf');
	t.is(tailOf('Screenshot_20260714-101502_Browser.jpeg'), 'wser.jpeg');
	t.is(tailOf('Photos of the long holiday, part 2'), 'rt 2', 'a folder');
	t.is(tailOf('отчёт о работе за прошлый год.txt'), ' год.txt');
	t.is(tailOf('去年夏天在山上和全家人一起度假时拍的照片.jpg'), '拍的照片.jpg');
	t.is(tailOf('ภาพถ่ายจากการเดินทางกลางทะเล.jpg'), 'ทะเล.jpg');
	t.is(tailOf('short.txt'), '');
	t.is(tailOf('a sentence with a dot. And then it goes on'), '');
});

test('a long name is not set apart between letters that are drawn together', (t) => {
	const tailOf = (name: string) => nameParts(name).tail;
	t.is(tailOf('a rather long name that ends in cafe\u0301.txt'), '.txt');
	t.is(tailOf('a rather long name of a family 👩\u200D👩\u200D👧.jpg'), '.jpg');
	t.is(tailOf('पिछले साल की गर्मियों की छुट्टियाँ क्ष.jpg'), '.jpg');
	t.is(tailOf('a long name in parts \u1112\u1161\u11AB\u1100\u1173\u11AF.txt'), '.txt');
	t.is(tailOf('קובץ ארוך מאוד עם שם ארוך 2024.txt'), '');
});

test('a marquee begins after a few pixels and covers the rows that it touches', (t) => {
	t.false(isDrag({ x: 0, y: 0 }, { x: 3, y: 3 }));
	t.true(isDrag({ x: 0, y: 0 }, { x: 3, y: 4 }));
	const rect = rectBetween({ x: 50, y: 130 }, { x: 10, y: 45 }, 500, 4000);
	t.deepEqual(rect, { left: 10, top: 45, width: 40, height: 85 });
	t.deepEqual(rangesInRect(rect, listLayout, 100), [{ first: 1, end: 4 }]);
	t.deepEqual(rangesInRect(rectBetween({ x: 0, y: 900 }, { x: 9, y: 950 }, 500, 4000), listLayout, 3), []);
});

test('a marquee in the grid covers the tiles that it touches, and none in the gaps between them', (t) => {
	const layout = gridLayout(1200);
	const at = (index: number) => positionOf(layout, index);
	const between = (from: number, to: number) =>
		rangesInRect(
			rectBetween(
				{ x: at(from).left + 1, y: at(from).top + 1 },
				{ x: at(to).left + layout.width - 1, y: at(to).top + layout.height - 1 },
				1200,
				4000,
			),
			layout,
			2 * layout.columns + 3,
		);
	t.deepEqual(between(1, layout.columns + 2), [
		{ first: 1, end: 3 },
		{ first: layout.columns + 1, end: layout.columns + 3 },
	]);
	t.deepEqual(between(0, 2 * layout.columns - 1), [{ first: 0, end: 2 * layout.columns }], 'whole lines are one range');
	const last = between(2 * layout.columns, 3 * layout.columns - 1);
	t.deepEqual(last, [{ first: 2 * layout.columns, end: 2 * layout.columns + 3 }], 'the last line is shorter');
	const gap = { left: at(0).left + layout.width + 1, top: 0, width: 4, height: 900 };
	t.deepEqual(rangesInRect(gap, layout, 100), []);
	const betweenLines = { left: 0, top: at(0).top + layout.height + 1, width: 900, height: 4 };
	t.deepEqual(rangesInRect(betweenLines, layout, 100), []);
});

for (const width of [360, 390, 599, 600, 820, 1254, 2540]) {
	test(`tiles fill a list of ${width} pixels and don't exceed it`, (t) => {
		const layout = gridLayout(width);
		const right = positionOf(layout, layout.columns - 1).left + layout.width;
		t.true(layout.columns >= 2);
		t.true(right <= width - layout.padding && right > width - layout.padding - layout.columns);
		t.true(layout.width >= 140 && layout.width < 290);
		t.is(
			totalHeight(layout, layout.columns + 1),
			positionOf(layout, layout.columns).top + layout.height + layout.padding,
		);
	});
}

test('a long name in a tile keeps its end, where photos differ', (t) => {
	const name = 'Holiday in the mountains with all the family 2026-07-14 IMG_0042.jpeg';
	const { head, middle, tail } = tileName(name);
	t.is(head + middle + tail, name);
	t.is(tail, '0042.jpeg');
	t.true(head.length + tail.length <= 36);
	const whole = 'a sentence that is too long for a tile with a dot. And then it goes on';
	t.deepEqual(tileName(whole), { head: whole, middle: '', tail: '' });
	t.deepEqual(tileName('IMG_20260714_101502_HDR.jpg'), { head: 'IMG_20260714_101502_HDR.jpg', middle: '', tail: '' });
});

test('a marquee scrolls the list at its edges only', (t) => {
	t.is(scrollAtEdge(400, 100, 700), 0);
	t.true(scrollAtEdge(95, 100, 700) < 0);
	t.true(scrollAtEdge(710, 100, 700) > 0);
});

test('a failed item does not stop the other items', async (t) => {
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

test('cancelling stops before the next item, and what was under way is done or has failed', async (t) => {
	const cancelledAt = async (last: number, error?: Error) => {
		const controller = new AbortController();
		const work = async (item: number) => {
			if (item !== last) return;
			controller.abort();
			await new Promise((resolve) => setImmediate(resolve));
			if (error) throw error;
		};
		return runEach([1, 2, 3], work, { signal: controller.signal, onProgress: () => {} });
	};
	t.like(await cancelledAt(2), { done: [1, 2], failed: [], left: [3] });
	t.like(await cancelledAt(2, new Error('No')), { done: [1], failed: [2], left: [3] });
	t.like(await cancelledAt(3), { done: [1, 2, 3], failed: [], left: [] });
});

test('the rows on screen stay in place when rows are added or removed above them', (t) => {
	const before = rowsOf(
		['b', 'c', 'd', 'e'].map((name) => file(name)),
		true,
	);
	const scrolled = (entries: string[], scrollTop: number) =>
		anchoredScroll(
			{ rows: before, layout: listLayout },
			{
				rows: rowsOf(
					entries.map((name) => file(name)),
					true,
				),
				layout: listLayout,
			},
			scrollTop,
		);
	t.is(scrolled(['a', 'b', 'c', 'd', 'e'], 100), 140);
	t.is(scrolled(['c', 'd', 'e'], 100), 60);
	t.is(scrolled(['b', 'c', 'd', 'e', 'f'], 100), 100);
	// The row at the top was removed, so the next one is the anchor.
	t.is(scrolled(['a', 'b', 'd', 'e'], 100), 100);
	t.is(scrolled(['a', 'b', 'c', 'd', 'e'], 0), 0);
	t.is(scrolled([], 100), 100);
});

test('the entries on screen stay there when the list becomes a grid and back', (t) => {
	const rows = rowsOf(
		Array.from({ length: 1000 }, (_, index) => file(`f${index}`)),
		true,
	);
	const list = { rows, layout: listLayout };
	const grid = { rows, layout: gridLayout(1254) };
	const top = (index: number) => positionOf(grid.layout, index).top;
	t.is(anchoredScroll(list, grid, 0), 0);
	t.is(anchoredScroll(list, grid, 500 * 40), top(500));
	t.is(anchoredScroll(list, grid, 500 * 40, 510), top(510) - 160, 'the cursor before the first on screen');
	t.is(anchoredScroll(grid, list, top(504)), 504 * 40);
	const before = rowsOf(
		Array.from({ length: 999 }, (_, index) => file(`f${index + 1}`)),
		true,
	);
	t.is(anchoredScroll({ ...grid, rows: before }, grid, top(600)), top(600), 'one more entry above moves no line');
});

test('a shared folder has its path as its key, by which it is found from below', (t) => {
	t.is(keyOf({ ...file('Photos', 'ada'), role: 'view' }), 'Photos');
});

test('what is scrolled to stays above a notice where that is as wide as the rows', (t) => {
	t.true(noticeRoom(390) >= 64, 'one line of a notice, and its distance from the edge');
	t.is(noticeRoom(390) % listLayout.lineStep, 0, 'no row is cut by it');
	t.is(noticeRoom(600), 0);
});
