import test from 'ava';
import fc from 'fast-check';
import { processorMs } from '../../../../test/processorTime.js';
import {
	compareNames,
	defaultSortMode,
	type Entry,
	insertEntries,
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
	'the mode name sorts numbers naturally, ignores case and mixes folders with files',
	sorted,
	'name',
	'a.txt',
	'alps',
	'B2.txt',
	'b10.txt',
	'zoo',
);
test('the mode rname is the reverse of name', sorted, 'rname', 'zoo', 'b10.txt', 'B2.txt', 'alps', 'a.txt');
test(
	'the mode type sorts folders first, each type by name',
	sorted,
	'type',
	'alps',
	'zoo',
	'a.txt',
	'B2.txt',
	'b10.txt',
);
test(
	'the mode rtype sorts files first, each type by name',
	sorted,
	'rtype',
	'a.txt',
	'B2.txt',
	'b10.txt',
	'alps',
	'zoo',
);
test(
	'the mode size sorts the smallest first, equal sizes by name',
	sorted,
	'size',
	'alps',
	'zoo',
	'a.txt',
	'b10.txt',
	'B2.txt',
);
test(
	'the mode rsize sorts the largest first, equal sizes by name in ascending order',
	sorted,
	'rsize',
	'B2.txt',
	'a.txt',
	'b10.txt',
	'alps',
	'zoo',
);
test('the mode time sorts the oldest first', sorted, 'time', 'alps', 'zoo', 'B2.txt', 'a.txt', 'b10.txt');
test('the mode rtime sorts the newest first', sorted, 'rtime', 'b10.txt', 'a.txt', 'B2.txt', 'alps', 'zoo');
test('the mode count sorts files before an empty folder', sorted, 'count', 'a.txt', 'B2.txt', 'b10.txt', 'zoo', 'alps');
test(
	'the mode rcount sorts the folder with the most entries first',
	sorted,
	'rcount',
	'alps',
	'zoo',
	'a.txt',
	'B2.txt',
	'b10.txt',
);

test('the default sort mode is type', (t) => {
	t.is(defaultSortMode, 'type');
});

test('sorting does not change the given list', (t) => {
	const given = [...mixed];
	sortEntries(given, 'name');
	t.deepEqual(given, mixed);
});

test('entries of equal names are sorted by owner, then by path', (t) => {
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
		fc.constantFrom(
			...['a', 'A', 'b', '1', '2', '10', '01', 'é', 'e\u0301', 'ß', 'ss', 'и', 'й', '漢', '😀', ' ', '-'],
			...['\u0f40', '\u0f71', '\u0f71'.repeat(9), '\u05ae\u0300'],
			...['й'.repeat(17), 'и'.repeat(17), '\u04e3'.repeat(17), '\ufdfa'.repeat(16)],
		),
		{
			maxLength: 4,
		},
	)
	.map((parts) => parts.join(''));

test('compareNames is a total order in which only identical names are equal', (t) => {
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

test('sorting keeps every entry and does not depend on the order before', (t) => {
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

function resultOf<T>(steps: Generator<undefined, T>): T {
	for (;;) {
		const { done, value } = steps.next();
		if (done) return value;
	}
}

test('NameOrder sorts entries that are added in batches as sortEntries does', (t) => {
	fc.assert(
		fc.property(fc.array(fc.array(anyEntry)), anyMode, (parts, mode) => {
			const order = new NameOrder();
			for (const part of parts) resultOf(order.adding(part));
			const whole = resultOf(order.ordering());
			const shown = (list: Entry[]) => list.map(({ name, owner, path }) => [name, owner, path]);
			t.deepEqual(shown(whole), shown(sortEntries(parts.flat(), 'name')));
			t.deepEqual(shown(sortEntries(whole, mode)), shown(sortEntries(parts.flat(), mode)));
		}),
	);
});

test('entries that are inserted in an order are where sorting all of them anew puts them', (t) => {
	fc.assert(
		fc.property(anyEntries, anyEntries, anyMode, (given, added, mode) => {
			const inserted = insertEntries(sortEntries(given, mode), added, mode);
			const shown = (list: Entry[]) => list.map(({ name, owner, path }) => [name, owner, path]);
			t.deepEqual(shown(inserted), shown(sortEntries([...given, ...added], mode)));
		}),
	);
});

test('the mode name sorts in the order of compareNames', (t) => {
	fc.assert(
		fc.property(fc.array(anyEntry), (entries) => {
			const names = sortEntries(entries, 'name').map((each) => each.name);
			t.deepEqual(names, entries.map((each) => each.name).sort(compareNames));
		}),
	);
});

/** Runs with what the collator sees counted: characters of the shorter of two. */
function withCollated(run: (collated: () => number) => void): void {
	const getter = Object.getOwnPropertyDescriptor(Intl.Collator.prototype, 'compare') as PropertyDescriptor;
	let characters = 0;
	Object.defineProperty(Intl.Collator.prototype, 'compare', {
		...getter,
		get() {
			const compare = getter.get?.call(this) as (a: string, b: string) => number;
			return (a: string, b: string) => {
				characters += Math.min(a.length, b.length);
				return compare(a, b);
			};
		},
	});
	try {
		run(() => characters);
	} finally {
		Object.defineProperty(Intl.Collator.prototype, 'compare', getter);
	}
}

const letters = (index: number) => index.toString(2).padStart(14, '0').replaceAll('0', 'a').replaceAll('1', 'A');

for (const [title, tail] of [
	['marks that the collator ignores', `\u0f39${'\u04e2'.repeat(110)}`],
	['letters that it looks behind', `\u00df${'\u0418'.repeat(110)}`],
] as const) {
	test.serial(`in each step of NameOrder the collator sees a bounded part of names with ${title}`, (t) => {
		const entries = Array.from({ length: 4000 }, (_, index) => entry(`${letters((index * 7919) % 16_381)}${tail}`));
		withCollated((collated) => {
			const order = new NameOrder();
			let worst = 0;
			let count = 0;
			const run = <T>(steps: Generator<undefined, T>): T => {
				for (;;) {
					const before = collated();
					const { done, value } = steps.next();
					count++;
					worst = Math.max(worst, collated() - before);
					if (done) return value;
				}
			};
			run(order.adding(entries.slice(0, 2000)));
			run(order.adding(entries.slice(2000)));
			const names = run(order.ordering()).map(({ name }) => name);
			t.log(`${collated()} characters in ${count} steps, ${worst} in the longest`);
			t.true(worst > 0 && worst <= 100_000);
			t.deepEqual(names, entries.map(({ name }) => name).sort());
		});
	});
}

test.serial('the collator sees each name once or twice where they come in order', (t) => {
	const entries = Array.from({ length: 2000 }, (_, index) => entry(`\u00df${String(index).padStart(9, '0')}`));
	withCollated((collated) => {
		const order = new NameOrder();
		for (let at = 0; at < 2000; at += 250) resultOf(order.adding(entries.slice(at, at + 250)));
		t.deepEqual(resultOf(order.ordering()), entries);
		t.true(collated() > 0 && collated() <= 2 * 2000 * 10);
	});
});

for (const [title, marks] of [
	['long vowels of Tibetan', '\u0f71\u0f73\u0f75'],
	['a long vowel of Tibetan before each of many marks', '\u0f71\u0301\u0323'],
] as const) {
	test.serial(
		`sorting names with ${title} takes at most thirty times as long as others that have no key`,
		async (t) => {
			const cost = async (beginning: string) => {
				const entries = Array.from({ length: 2000 }, (_, index) => entry(`${beginning}${(index * 7919) % 2003}`));
				let least = Number.POSITIVE_INFINITY;
				for (let tries = 0; tries < 3; tries++)
					least = Math.min(least, await processorMs(() => sortEntries([...entries], 'name')));
				return least;
			};
			const [other, hostile] = [await cost('छुट्टियों '.repeat(3)), await cost(marks.repeat(25))];
			t.log(`${other.toFixed()} ms, with the marks ${hostile.toFixed()} ms`);
			t.true(hostile < 30 * other);
		},
	);
}

test('a click on another column sorts by it, and a click on the same column reverses the order', (t) => {
	t.is(toggleSort('type', 'name'), 'name');
	t.is(toggleSort('name', 'name'), 'rname');
	t.is(toggleSort('rname', 'name'), 'name');
	t.is(toggleSort('rname', 'size'), 'size');
});

const order = test.macro((t, mode: SortMode, column: SortColumn, descending: boolean) =>
	t.deepEqual(sortOrder(mode), { column, descending }),
);
test('the mode time is ascending by its column', order, 'time', 'time', false);
test('the mode rtime is descending by its column', order, 'rtime', 'time', true);

test('isSortMode accepts only the ten sort modes', (t) => {
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
