import test, { type ExecutionContext } from 'ava';
import type { TrashListing } from '../../src/api/trash.js';
import { entryAt } from '../../src/features/files/list/rows.js';
import { keptFor } from '../../src/features/files/trash/keptFor.js';
import { restoredPlace, restoreNotices } from '../../src/features/files/trash/restoreOutcome.js';
import {
	defaultTrashOrder,
	parseTrashOrder,
	toggleTrashOrder,
	trashColumns,
	trashCount,
	trashedEntries,
	trashOrderText,
	trashRows,
} from '../../src/features/files/trash/trashEntries.js';
import { trashMenuFor } from '../../src/features/files/trash/trashMenu.js';
import { reasonLines } from '../../src/ui/notifications/notifications.js';

const hour = 60 * 60_000;

const isKeptFor = (t: ExecutionContext, milliseconds: number, expected: string) =>
	t.is(keptFor(milliseconds), expected);
test('thirty days are days', isKeptFor, 30 * 24 * hour, '30 days');
test('one day is a day', isKeptFor, 24 * hour, '1 day');
test('one and a half days are hours', isKeptFor, 36 * hour, '36 hours');
test('ninety minutes are minutes', isKeptFor, 1.5 * hour, '90 minutes');
test('less than a minute is seconds', isKeptFor, 2500, '3 seconds');

const listing: TrashListing = {
	entries: [
		['4', 'b/2.txt', 10, 40],
		['3', 'a/10.txt', 20, 30],
		['2', '3.txt', 5, 20],
		['1', 'b/2.txt', 30, 10],
	].map(([id, path, size, deletedAt]) => ({
		id: String(id),
		name: String(path).split('/').at(-1) as string,
		path: String(path),
		type: 'file',
		size: Number(size),
		deletedAt: Number(deletedAt),
		expiresAt: Number(deletedAt) + hour,
		deletedBy: id === '3' ? 'bob' : 'ada',
	})),
	size: 65,
	keepFor: hour,
};
const entries = trashedEntries(listing, 'ada');

const isSorted = (t: ExecutionContext, order: string, expected: string) =>
	t.is(trashRows(entries, parseTrashOrder(order) ?? defaultTrashOrder).keys.join(''), expected);
test('the trash begins with what was deleted last', isSorted, '', '4321');
test('the trash is sorted by time', isSorted, 'deleted', '1234');
test('the trash is sorted by name, and what has one name by its path', isSorted, 'name', '4123');
test('the trash is sorted by size', isSorted, 'size', '2431');
test('the trash is sorted by the largest first', isSorted, 'rsize', '1342');
test('the trash is sorted by the folder, and within it by name', isSorted, 'folder', '3412');
test('the trash is sorted by the last folder first', isSorted, 'rfolder', '2413');

test('an address with another order shows the newest first', (t) => {
	t.is(parseTrashOrder('count'), undefined);
	t.is(parseTrashOrder('rrsize'), undefined);
	for (const column of trashColumns) {
		for (const descending of [false, true]) {
			t.deepEqual(parseTrashOrder(trashOrderText({ column, descending })), { column, descending });
		}
	}
});

test('a header that is clicked again reverses the order, and that of the times begins with the newest', (t) => {
	t.deepEqual(toggleTrashOrder(defaultTrashOrder, 'deleted'), { column: 'deleted', descending: false });
	t.deepEqual(toggleTrashOrder(defaultTrashOrder, 'name'), { column: 'name', descending: false });
	t.deepEqual(toggleTrashOrder({ column: 'name', descending: false }, 'name'), { column: 'name', descending: true });
	t.deepEqual(toggleTrashOrder({ column: 'name', descending: true }, 'deleted'), defaultTrashOrder);
});

test.serial('the path of a folder is made ready for its order once, however many items were in it', (t) => {
	const items = Array.from({ length: 400 }, (_, at) => ({
		...(entries[0] as (typeof entries)[number]),
		id: String(at),
		folder: `${'\u00df'.repeat(400)}/${(at * 7) % 40}`,
	}));
	const { normalize } = String.prototype;
	let characters = 0;
	String.prototype.normalize = function (this: string, form?: string) {
		characters += this.length > 300 ? this.length : 0;
		return normalize.call(this, form);
	};
	try {
		const rows = trashRows(items, { column: 'folder', descending: true });
		const shown = items.map((_, at) => Number(entryAt(rows, at)?.folder.split('/')[1]));
		t.deepEqual(
			shown,
			[...shown].sort((a, b) => b - a),
		);
	} finally {
		String.prototype.normalize = normalize;
	}
	t.true(characters > 0 && characters <= 40 * 1024 * 3, `${characters}`);
});

test('items that were deleted at one path have rows of their own', (t) => {
	const rows = trashRows(entries, defaultTrashOrder);
	t.is(rows.indexOf('1'), 3);
	t.is(rows.indexOf('4'), 0);
	t.is(entryAt(rows, 3)?.id, '1');
});

test('the trash names folders as the browser does, and who else has deleted something', (t) => {
	t.deepEqual(
		entries.map(({ folder, deletedBy }) => [folder, deletedBy]),
		[
			['b', undefined],
			['a', 'bob'],
			['Private Files', undefined],
			['b', undefined],
		],
	);
});

test('a trash of which not all is listed has more than that', (t) => {
	t.is(trashCount(1, false), '1 item');
	t.is(trashCount(10_000, true), 'more than 10000 items');
});

test('a notice names the first reasons and counts the others', (t) => {
	t.is(reasonLines(['a.txt: Gone']), 'a.txt: Gone');
	t.is(reasonLines(['1', '2', '3', '4', '5']), '1\n2\n3\n…and 2 more');
});

test('what was restored is shown in its folder, unless it is in several', (t) => {
	const at = (...paths: string[]) => restoredPlace({ restored: paths.map((path) => ({ id: path, path })) });
	t.is(at(), undefined);
	t.deepEqual(at('a.txt')?.directory as string, '');
	t.like(at('docs/a (1).txt', 'docs/b.txt'), { directory: 'docs', path: 'docs/a (1).txt' } as object);
	t.is(at('docs/a.txt', 'b.txt'), undefined);
});

test('a restore that is cancelled, and one that has failed on the way, say what is done and what is not', (t) => {
	const items = ['a', 'b', 'c', 'd'].map((name) => ({ id: name, name }));
	const said = (rest: Partial<Parameters<typeof restoreNotices>[0]>) =>
		restoreNotices(
			{ restored: [{ id: 'a', path: 'docs/a' }], failed: [], unanswered: [], reason: undefined, left: [], ...rest },
			items,
			() => {},
		).map(({ message, detail }) => [message, detail]);
	t.deepEqual(said({}), [['Restored a', undefined]]);
	t.deepEqual(said({ left: items.slice(1) }), [
		['Restored a', undefined],
		['Restore cancelled', '3 items left.'],
	]);
	const failed = [{ id: 'b', code: 'NOT_FOUND', message: 'Gone' }];
	t.deepEqual(said({ failed, unanswered: items.slice(2), reason: new Error('Network error') }), [
		['Restored a', undefined],
		['3 items could not be restored', 'b: Gone\nNetwork error'],
	]);
});

const hasMenu = (t: ExecutionContext, chosen: number, shown: number, expected: string) => {
	const groups = trashMenuFor(chosen, shown).map((group) =>
		group.map((item) => (item.isDisabled ? `(${item.label})` : item.label)).join(', '),
	);
	t.is(groups.join(' | '), expected);
};
test('items of the trash can be restored or deleted forever', hasMenu, 2, 3, 'Restore | Delete forever');
test('the trash itself can be emptied', hasMenu, 0, 3, 'Select All | Refresh | Empty Trash');
test('an empty trash has nothing to be emptied', hasMenu, 0, 0, '(Select All) | Refresh | (Empty Trash)');

test('the folder of an item of the trash is shown with what turns the direction of letters', (t) => {
	const [first] = listing.entries;
	const turned = { ...listing, entries: [{ ...first, path: 'd\u202Er/a.txt' }] as TrashListing['entries'] };
	t.is(trashedEntries(turned, 'ada')[0]?.folder, 'd\uFFFDr');
});
