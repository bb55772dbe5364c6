import { compareNames } from '@stowage/rules';
import { QueryClient } from '@tanstack/react-query';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { type FirstEntries, ListingReader } from '../../src/api/listings/ListingReader.js';
import { fetchListing, listingQuery } from '../../src/api/listings/listingQuery.js';
import { noSearch } from '../../src/api/listings/search.js';
import { ordersOf } from '../../src/api/listings/sortedEntries.js';
import type { FileSource } from '../../src/api/sources/FileSource.js';

const names = ['a', '},{"', '"entries":[', '\\"},{\\"', ']}', '日本 🎉', '\u2028', 'a "quoted" name'];
const entries = [...names].sort(compareNames).map((name, at) => ({
	name,
	path: `docs/${name}`,
	type: at % 2 === 0 ? ('file' as const) : ('directory' as const),
	size: at,
	mtime: at,
	...(at % 2 === 0 ? {} : { count: 1 }),
}));

function read(text: string, cuts: readonly number[]): unknown {
	const reader = new ListingReader();
	let at = 0;
	for (const cut of [...cuts].sort((a, b) => a - b)) {
		resultOf(reader.push(text.slice(at, cut)));
		at = Math.max(at, cut);
	}
	resultOf(reader.push(text.slice(at)));
	return resultOf(reader.finish());
}

function resultOf<T>(steps: Generator<undefined, T>): T {
	for (;;) {
		const { done, value } = steps.next();
		if (done) return value;
	}
}

test('a listing is parsed the same at all points at which it may be split', (t) => {
	for (const listing of [
		{ type: 'private', directory: 'docs', entries },
		{ type: 'public', directory: '"entries":[},{"', entries: entries.slice(0, 1), truncated: true },
		{ type: 'public', directory: '', entries: [] },
	]) {
		for (const text of [JSON.stringify(listing), JSON.stringify(listing, undefined, 2)]) {
			for (let cut = 0; cut < text.length; cut++) t.deepEqual(read(text, [cut]), listing);
			fc.assert(
				fc.property(fc.array(fc.nat(text.length)), (cuts) => {
					t.deepEqual(read(text, cuts), listing);
				}),
			);
		}
	}
});

test('the first entries are known before the others only where they come in an order', (t) => {
	for (const sorted of [undefined, 'name'] as const) {
		const text = JSON.stringify({ type: 'private', directory: 'docs', sorted, entries });
		const firsts: FirstEntries[] = [];
		const reader = new ListingReader((first) => firsts.push(first));
		const cut = text.indexOf(`"name":${JSON.stringify(entries[3]?.name)}`) + 5;
		resultOf(reader.push(text.slice(0, cut)));
		const expected = sorted === undefined ? [] : [{ sorted, entries: entries.slice(0, 3) }];
		t.deepEqual(firsts, expected);
		resultOf(reader.push(text.slice(cut)));
		t.is(resultOf(reader.finish()).entries.length, entries.length);
		t.deepEqual(firsts, expected);
	}
});

test('an invalid listing is refused', (t) => {
	const whole = JSON.stringify({ type: 'private', directory: 'docs', entries });
	for (const text of ['', 'null', '{}', '<html>', whole.slice(0, -2), whole.slice(0, whole.length / 2)]) {
		t.throws(() => read(text, [10]), undefined, text);
	}
	t.throws(() => read(whole.replace('"size":0', '"size":"0"'), []));
	t.throws(() => read(whole.replace('"type":"private"', '"type":"secret"'), []));
	t.throws(() => read(whole.replace('"size":4', '"size":null'), [200]));
});

test('each entry of a shared folder has its role, that of the folder unless it names another one', (t) => {
	const shared = entries.slice(0, 3).map((entry, at) => (at === 1 ? { ...entry, role: 'view' } : entry));
	const text = JSON.stringify({ type: 'shared', directory: 'docs', owner: 'ada', role: 'edit', entries: shared });
	for (let cut = 0; cut < text.length; cut += 7) {
		const listing = read(text, [cut]) as { owner: string; entries: { role: string }[] };
		t.is(listing.owner, 'ada');
		t.deepEqual(
			listing.entries.map(({ role }) => role),
			['edit', 'view', 'edit'],
		);
	}
});

/** Long, without keys by which they would be compared fast, and in no order. */
const longNames = Array.from({ length: 5000 }, (_, at) => `${'æ'.repeat(200)} ${(at * 7919) % 5003}`);

function sourceOf(names: readonly string[]): FileSource {
	const listed = names.map((name) => ({ name, path: name, type: 'file', size: 1, mtime: 1 }));
	const text = JSON.stringify({ type: 'private', directory: '', entries: listed });
	return { browse: async () => new Response(text) } as unknown as FileSource;
}

/** A step takes as long as it would on a slow computer, however fast this one is. */
function slowDown(t: ExecutionContext): void {
	const { now } = performance;
	let time = now.call(performance);
	performance.now = () => {
		time += 10;
		return time;
	};
	t.teardown(() => {
		performance.now = now;
	});
}

test.serial('the page has its turns while a folder of long names is put in order', async (t) => {
	slowDown(t);
	const { signal } = new AbortController();
	let turns = 0;
	let isDone = false;
	const others = (async () => {
		for (; !isDone; turns++) await new Promise((resolve) => setImmediate(resolve));
	})();
	const { entries: sorted } = await fetchListing(sourceOf(longNames), { directory: '' }, signal);
	isDone = true;
	await others;
	t.deepEqual(
		sorted.map(({ name }) => name),
		[...longNames].sort(compareNames),
	);
	t.true(turns > 2, `${turns}`);
});

test.serial('a folder of long names that is left while it is put in order is no more work', async (t) => {
	slowDown(t);
	const controller = new AbortController();
	const listing = fetchListing(sourceOf(longNames), { directory: '' }, controller.signal);
	setTimeout(() => controller.abort(new Error('left')), 1);
	await t.throwsAsync(listing, { message: 'left' });
});

test.serial(
	'a folder is in the order in which it is shown before the page renders it, also when it is fetched again',
	async (t) => {
		const client = new QueryClient();
		const sizes = [3, 1, 2];
		const listed = sizes.map((size) => ({ name: `${size}`, path: `${size}`, type: 'file', size, mtime: 1 }));
		const text = JSON.stringify({ type: 'private', directory: '', entries: listed });
		const source = {
			place: 'private',
			reader: 'user',
			browse: async () => new Response(text),
		} as unknown as FileSource;
		for (const _ of ['first', 'again']) {
			const { entries: fetched } = await client.fetchQuery({
				...listingQuery(source, '', noSearch, 'rsize'),
				staleTime: 0,
			});
			t.deepEqual(
				ordersOf(fetched)
					.get('rsize')
					?.map(({ size }) => size),
				[3, 2, 1],
			);
		}
		client.clear();
	},
);
