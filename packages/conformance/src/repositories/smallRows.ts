import { hostileTexts, type Rule, second } from './rules.js';

/** Small rows that are forgotten after their time. */
export function smallRowRules(rule: Rule): void {
	rule(
		'a small row is what was set last, until its time has passed',
		async (t, { smallRows, sweepSmallRows }, clock) => {
			const tickets = smallRows('tickets');
			t.is(await tickets.get('one'), undefined);
			await tickets.set('one', { files: ['ä', '😀'], size: 2 ** 40 }, 60 * second);
			await tickets.set('one', { files: [], size: 0 }, 60 * second);
			await tickets.set('two', 'text', 120 * second);
			t.deepEqual(await tickets.get('one'), { files: [], size: 0 });
			clock.now += 60 * second;
			t.is(await tickets.get('one'), undefined);
			t.deepEqual(await tickets.getMany(['one', 'two']), new Map([['two', 'text']]));
			t.is(await sweepSmallRows(), 1);
			t.is(await sweepSmallRows(), 0);
			t.is(await tickets.get('two'), 'text');
		},
	);

	rule('scopes and keys of small rows are told apart', async (t, { smallRows }) => {
		const tickets = smallRows('tickets');
		for (const key of hostileTexts) await tickets.set(key, key, 60 * second);
		for (const key of hostileTexts) t.is(await tickets.get(key), key);
		for (const key of hostileTexts) t.is(await smallRows('Tickets').get(key), undefined);
		await smallRows('other').set('alice', 'other', 60 * second);
		t.is(await tickets.get('alice'), 'alice');
	});

	rule('of many who remove one small row at once, one is told that it was there', async (t, { smallRows }) => {
		const tickets = smallRows('tickets');
		await tickets.set('key', 1, 60 * second);
		const removed = await Promise.all(Array.from({ length: 8 }, () => tickets.remove('key')));
		t.is(removed.filter(Boolean).length, 1);
		t.is(await tickets.get('key'), undefined);
	});

	rule('many small rows are written and read at once', async (t, { smallRows }) => {
		const sums = smallRows('sums');
		const values = new Map(Array.from({ length: 1000 }, (_, index) => [`file ${index}`, index]));
		await sums.setMany(values, 60 * second);
		const found = await sums.getMany([...values.keys(), 'none']);
		t.deepEqual(new Map([...found].sort((a, b) => Number(a[1]) - Number(b[1]))), values);
		t.deepEqual(await sums.getMany([]), new Map());
	});
}
