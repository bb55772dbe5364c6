import type { SearchFilters } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { draftOf, type FilterDraft, filterTags, readDraft } from '../src/features/toolbar/search/filters.js';
import { parseSize, type SizeUnit, unitOf, withUnit } from '../src/ui/fields/sizes.js';

// The clock is put forward at midnight there.
process.env.TZ = 'Africa/Cairo';

const hour = 3_600_000;

const size = (t: ExecutionContext, text: string, unit: SizeUnit, bytes: number | undefined) =>
	t.is(parseSize({ text, unit }), bytes);
test('a number is a size in the chosen unit', size, '10', 'MB', 10 * 1024 ** 2);
test('a size may have decimals', size, '1.5', 'GB', 1.5 * 1024 ** 3);
test('a decimal comma is a point', size, '1,5', 'KB', 1536);
test('a number may begin or end with its point', size, ' .5 ', 'KB', 512);
test('parts of a byte are rounded', size, '1.3', 'B', 1);
test('a typed unit is used instead of the chosen one', size, '2 kb', 'GB', 2048);
test('one letter of a unit is enough', size, '2g', 'KB', 2 * 1024 ** 3);
test('a binary unit is the same', size, '1 MiB', 'KB', 1024 ** 2);
test('bytes have several names', size, '7 bytes', 'MB', 7);
test('zero is a size', size, '0', 'MB', 0);
test('a unit alone is no size', size, 'MB', 'MB', undefined);
test('a point alone is no size', size, '.', 'MB', undefined);
test('a negative number is no size', size, '-1', 'MB', undefined);
test('two points are no size', size, '1.000.000', 'MB', undefined);
test('an unknown unit is no size', size, '5 apples', 'MB', undefined);
test('what no file can have is no size', size, '9999999', 'TB', undefined);

test('the typed unit is shown as chosen, and choosing another takes it out of the text', (t) => {
	t.is(unitOf({ text: '3 gb', unit: 'MB' }), 'GB');
	t.is(unitOf({ text: '3', unit: 'MB' }), 'MB');
	t.is(unitOf({ text: '3 x', unit: 'MB' }), undefined);
	t.is(unitOf({ text: 'about 3 gb', unit: 'MB' }), 'MB');
	t.deepEqual(withUnit({ text: 'about 3', unit: 'MB' }, 'KB'), { text: 'about 3', unit: 'KB' });
	t.deepEqual(withUnit({ text: '3 gb', unit: 'MB' }, 'KB'), { text: '3', unit: 'KB' });
});

const read = (changes: Partial<FilterDraft>, before: SearchFilters = {}) =>
	readDraft({ ...draftOf(before), ...changes }, before);
const filtersOf = (changes: Partial<FilterDraft>, before: SearchFilters = {}) => {
	const result = read(changes, before);
	return 'filters' in result ? result.filters : result.error;
};

test('empty fields are no filters', (t) => {
	t.deepEqual(filtersOf({}), {});
	t.deepEqual(filtersOf({ minSize: { text: '  ', unit: 'GB' } }), {});
});

test('kinds have one order, however they were chosen', (t) => {
	t.deepEqual(filtersOf({ kinds: ['other', 'folder', 'image'] }), { kinds: ['folder', 'image', 'other'] });
});

test('a search after and before the same day finds this day in the time zone of the browser', (t) => {
	const { after = 0, before = 0 } = filtersOf({ after: '2026-01-15', before: '2026-01-15' }) as SearchFilters;
	t.is(new Date(after).toISOString(), '2026-01-14T22:00:00.000Z');
	t.is(before - after, 24 * hour - 1);
});

test('a day on which the clock is changed is as long as it is', (t) => {
	const { after = 0, before = 0 } = filtersOf({ after: '2026-04-24', before: '2026-04-24' }) as SearchFilters;
	t.is(new Date(after).toString().slice(16, 21), '01:00', 'there was no midnight');
	t.is(before - after, 23 * hour - 1);
	const autumn = filtersOf({ after: '2026-10-29', before: '2026-10-29' }) as { after: number; before: number };
	t.is(autumn.before - autumn.after, 25 * hour - 1);
});

test('fields that were not changed keep their filters, which they may show rounded', (t) => {
	const exact = {
		kinds: ['text'],
		minSize: 1_000_001,
		maxSize: 5_000_000_003,
		after: 1.7e12 + 7,
		before: 1.8e12,
	} as const;
	t.deepEqual(filtersOf({}, exact), exact);
	t.deepEqual(draftOf(exact).minSize, { text: '976.56', unit: 'KB' });
	t.deepEqual(filtersOf({ minSize: { text: '976.56', unit: 'MB' } }, exact), {
		...exact,
		minSize: Math.round(976.56 * 1024 ** 2),
	});
});

const refused = (t: ExecutionContext, changes: Partial<FilterDraft>, field: keyof FilterDraft) => {
	const result = read(changes);
	t.is<string | undefined, string>('field' in result ? result.field : undefined, field);
};
test('a text that is no size is refused at its field', refused, { maxSize: { text: 'big', unit: 'MB' } }, 'maxSize');
test('a day before 1970 is refused', refused, { after: '1969-12-31' }, 'after');
test('what is no day is refused', refused, { before: '21.11.2026' }, 'before');
test(
	'a smallest size above the largest is refused',
	refused,
	{ minSize: { text: '2', unit: 'MB' }, maxSize: { text: '2', unit: 'KB' } },
	'maxSize',
);
test('days in the wrong order are refused', refused, { after: '2026-02-02', before: '2026-02-01' }, 'before');

test('each filter is a tag, and each kind is one; without it the others stay', (t) => {
	const after = new Date(2026, 10, 20).getTime();
	const before = new Date(2026, 10, 21, 12, 5).getTime();
	const filters = { kinds: ['image', 'video'], minSize: 1536, maxSize: 1024 ** 3, after, before } as const;
	const tags = filterTags(filters);
	t.deepEqual(
		tags.map(({ text }) => text),
		[
			...['Image', 'Video', 'Larger than 1.5 KB', 'Smaller than 1 GB', 'Changed after Nov 20, 2026'],
			// Of an address that was made in another time zone.
			'Changed before Nov 21, 2026, 12:05 PM',
		],
	);
	t.deepEqual(tags[0]?.others, { ...filters, kinds: ['video'] });
	const { minSize: _, ...others } = filters;
	t.deepEqual(tags[2]?.others, others);
	t.deepEqual(filterTags({ kinds: ['image'] })[0]?.others, {});
	t.deepEqual(filterTags({}), []);
});
