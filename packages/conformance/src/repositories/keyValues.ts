import { hostileTexts, type Rule, second } from './rules.js';

/** A key-value store whose values expire. */
export function keyValueRules(assertThat: Rule): void {
	assertThat(
		'a key has the value that was set last, until it expires',
		async (t, { keyValues, sweepKeyValues }, clock) => {
			const tickets = keyValues('tickets');
			t.is(await tickets.get('one'), undefined);
			await tickets.set('one', { files: ['ä', '😀'], size: 2 ** 40 }, 60 * second);
			await tickets.set('one', { files: [], size: 0 }, 60 * second);
			await tickets.set('two', 'text', 120 * second);
			t.deepEqual(await tickets.get('one'), { files: [], size: 0 });
			clock.now += 60 * second;
			t.is(await tickets.get('one'), undefined);
			t.deepEqual(await tickets.getMany(['one', 'two']), new Map([['two', 'text']]));
			t.is(await sweepKeyValues(), 1);
			t.is(await sweepKeyValues(), 0);
			t.is(await tickets.get('two'), 'text');
		},
	);

	assertThat('values of different scopes and keys are distinct', async (t, { keyValues }) => {
		const tickets = keyValues('tickets');
		for (const key of hostileTexts) await tickets.set(key, key, 60 * second);
		for (const key of hostileTexts) t.is(await tickets.get(key), key);
		for (const key of hostileTexts) t.is(await keyValues('Tickets').get(key), undefined);
		await keyValues('other').set('alice', 'other', 60 * second);
		t.is(await tickets.get('alice'), 'alice');
	});

	assertThat('only one of many concurrent removals of a value succeeds', async (t, { keyValues }) => {
		const tickets = keyValues('tickets');
		await tickets.set('key', 1, 60 * second);
		const removed = await Promise.all(Array.from({ length: 8 }, () => tickets.remove('key')));
		t.is(removed.filter(Boolean).length, 1);
		t.is(await tickets.get('key'), undefined);
	});

	assertThat('many values are written and read with one call', async (t, { keyValues }) => {
		const sums = keyValues('sums');
		const values = new Map(Array.from({ length: 1000 }, (_, index) => [`file ${index}`, index]));
		await sums.setMany(values, 60 * second);
		const found = await sums.getMany([...values.keys(), 'none']);
		t.deepEqual(new Map([...found].sort((a, b) => Number(a[1]) - Number(b[1]))), values);
		t.deepEqual(await sums.getMany([]), new Map());
	});
}
