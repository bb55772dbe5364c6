import test from 'ava';
import fc from 'fast-check';
import {
	compareNames,
	defaultSortMode,
	type Entry,
	isSortMode,
	NameOrder,
	type SortColumn,
	type SortMode,
	sortEntries,
	sortModes,
	sortOrder,
	toggleSort,
} from '../../src/index.js';

function entry(name: string, more: Partial<Entry> = {}): Entry {
	return { name, path: name, type: 'file', size: 0, mtime: 0, ...more };
}

const folder = (name: string, count: number) => entry(name, { type: 'directory', count });

const mixed = [
	entry('b10.txt', { size: 5, mtime: 3 }),
	folder('zoo', 0),
	entry('B2.txt', { size: 7, mtime: 1 }),
	folder('alps', 12),
	entry('a.txt', { size: 5, mtime: 2 }),
];

const sorted = test.macro((t, mode: SortMode, ...names: string[]) =>
	t.deepEqual(
		sortEntries(mixed, mode).map((each) => each.name),
		names,
	),
);
test(
	'name is natural, ignores case and mixes folders with files',
	sorted,
	'name',
	'a.txt',
	'alps',
	'B2.txt',
	'b10.txt',
	'zoo',
);
test('rname is the reverse', sorted, 'rname', 'zoo', 'b10.txt', 'B2.txt', 'alps', 'a.txt');
test('type has folders first and each kind by name', sorted, 'type', 'alps', 'zoo', 'a.txt', 'B2.txt', 'b10.txt');
test('rtype has files first and each kind by name', sorted, 'rtype', 'a.txt', 'B2.txt', 'b10.txt', 'alps', 'zoo');
test('size has the smallest first and equals by name', sorted, 'size', 'alps', 'zoo', 'a.txt', 'b10.txt', 'B2.txt');
test(
	'rsize has the largest first and equals by name still',
	sorted,
	'rsize',
	'B2.txt',
	'a.txt',
	'b10.txt',
	'alps',
	'zoo',
);
test('time has the oldest first', sorted, 'time', 'alps', 'zoo', 'B2.txt', 'a.txt', 'b10.txt');
test('rtime has the newest first', sorted, 'rtime', 'b10.txt', 'a.txt', 'B2.txt', 'alps', 'zoo');
test('count has files before an empty folder', sorted, 'count', 'a.txt', 'B2.txt', 'b10.txt', 'zoo', 'alps');
test('rcount has the fullest folder first', sorted, 'rcount', 'alps', 'zoo', 'a.txt', 'B2.txt', 'b10.txt');

test('The default order is by type', (t) => {
	t.is(defaultSortMode, 'type');
});

test('The given entries stay as they are', (t) => {
	const given = [...mixed];
	sortEntries(given, 'name');
	t.deepEqual(given, mixed);
});

test('Equal names are in order of owners, then of paths', (t) => {
	const list = [
		entry('a', { owner: 'bob', path: 'x/a' }),
		entry('a', { owner: 'ann', path: 'y/a' }),
		entry('a', { owner: null, path: 'z/a' }),
		entry('a', { owner: 'ann', path: 'x/a' }),
	];
	t.deepEqual(
		sortEntries(list, 'name').map((each) => `${each.owner} ${each.path}`),
		['null z/a', 'ann x/a', 'ann y/a', 'bob x/a'],
	);
});

const name = fc
	.array(
		fc.constantFrom('a', 'A', 'b', '1', '2', '10', '01', 'é', 'e\u0301', 'ß', 'ss', 'и', 'й', '漢', '😀', ' ', '-'),
		{
			maxLength: 4,
		},
	)
	.map((parts) => parts.join(''));

test('Names have a total order: only equal names are equal', (t) => {
	fc.assert(
		fc.property(name, name, name, (a, b, c) => {
			const isAntisymmetric = Math.sign(compareNames(a, b)) === -Math.sign(compareNames(b, a)) || a === b;
			const isTransitive = !(compareNames(a, b) <= 0 && compareNames(b, c) <= 0) || compareNames(a, c) <= 0;
			return isAntisymmetric && isTransitive && (compareNames(a, b) === 0) === (a === b);
		}),
		{ numRuns: 2000 },
	);
	t.pass();
});

const anyEntry: fc.Arbitrary<Entry> = fc.record({
	name,
	path: name,
	type: fc.constantFrom('file' as const, 'directory' as const),
	size: fc.nat(3),
	mtime: fc.nat(3),
	owner: fc.constantFrom(null, 'ann', 'anonymous'),
	count: fc.constantFrom(undefined, 0, 1),
});
/** A listing never shows one path of one owner twice. */
const anyEntries = fc.uniqueArray(anyEntry, {
	selector: ({ name, owner, path }) => JSON.stringify([name, owner, path]),
});
const anyMode = fc.constantFrom(...sortModes);

test('Sorting keeps every entry, and the order does not depend on how they came', (t) => {
	fc.assert(
		fc.property(anyEntries, anyMode, fc.gen(), (entries, mode, gen) => {
			const once = sortEntries(entries, mode);
			const shuffled = gen(fc.shuffledSubarray, entries, { minLength: entries.length });
			t.deepEqual(sortEntries(shuffled, mode), once);
			t.deepEqual(sortEntries(once, mode), once);
			t.is(new Set(once).size, new Set(entries).size);
		}),
	);
});

test('Entries that come bit by bit are in the order of their names at the end', (t) => {
	fc.assert(
		fc.property(fc.array(fc.array(anyEntry)), anyMode, (parts, mode) => {
			const order = new NameOrder();
			for (const part of parts) order.add(part);
			const whole = order.entries();
			const shown = (list: Entry[]) => list.map(({ name, owner, path }) => [name, owner, path]);
			t.deepEqual(shown(whole), shown(sortEntries(parts.flat(), 'name')));
			t.deepEqual(shown(sortEntries(whole, mode)), shown(sortEntries(parts.flat(), mode)));
		}),
	);
});

test('By name, entries are in the order of compareNames', (t) => {
	fc.assert(
		fc.property(fc.array(anyEntry), (entries) => {
			const names = sortEntries(entries, 'name').map((each) => each.name);
			t.deepEqual(names, entries.map((each) => each.name).sort(compareNames));
		}),
	);
});

/** As a ratio in one run, since absolute times move with the machine: the runtime's own collator takes some 500 ms where we have 300. */
const bench = test.macro((t, prefix: string, count: number) => {
	const entries = Array.from({ length: count }, (_, index) =>
		entry(`${prefix}${(index * 7919) % 100_003} holiday.jpg`),
	);
	const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
	// Of the processor, not of a clock: another program may have taken it meanwhile.
	const milliseconds = (work: () => unknown) => {
		const before = process.cpuUsage();
		work();
		const { user, system } = process.cpuUsage(before);
		return (user + system) / 1000;
	};
	const ours: number[] = [];
	const again: number[] = [];
	const plain: number[] = [];
	for (let run = 0; run < 4; run++) {
		// A list of its own each time, since the order of names is remembered with the list.
		const fresh = [...entries];
		ours.push(milliseconds(() => sortEntries(fresh, 'type')));
		again.push(milliseconds(() => sortEntries(fresh, 'size')));
		plain.push(milliseconds(() => [...entries].sort((a, b) => collator.compare(a.name, b.name))));
	}
	const [best, floor] = [Math.min(...ours), Math.min(...plain)];
	t.log(`${best.toFixed(0)} ms, by the collator ${floor.toFixed(0)} ms`);
	t.true(best < floor * 0.6);
	t.true(Math.min(...again) < floor * 0.2);
});
test.serial('100,000 entries are sorted in far less than the collator takes', bench, 'IMG_', 100_000);
test.serial('entries with accents are sorted in far less than the collator takes', bench, 'Été ', 40_000);
test.serial('Cyrillic entries are sorted in far less than the collator takes', bench, 'Фото ', 40_000);

test('A click on another column sorts by it, and one on the same turns the order round', (t) => {
	t.is(toggleSort('type', 'name'), 'name');
	t.is(toggleSort('name', 'name'), 'rname');
	t.is(toggleSort('rname', 'name'), 'name');
	t.is(toggleSort('rname', 'size'), 'size');
});

const order = test.macro((t, mode: SortMode, column: SortColumn, descending: boolean) =>
	t.deepEqual(sortOrder(mode), { column, descending }),
);
test('A mode names its column', order, 'time', 'time', false);
test('An r before it makes it descending', order, 'rtime', 'time', true);

test('Only the ten modes are modes', (t) => {
	t.deepEqual([...sortModes].sort(), [
		'count',
		'name',
		'rcount',
		'rname',
		'rsize',
		'rtime',
		'rtype',
		'size',
		'time',
		'type',
	]);
	t.true(isSortMode('rname'));
	t.false(isSortMode('rrname'));
	t.false(isSortMode(''));
});
