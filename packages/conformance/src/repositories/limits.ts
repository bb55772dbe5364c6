import { hostileTexts, type Rule, second } from './rules.js';

/** Counts of attempts in a window. */
export function limitRules(assertThat: Rule): void {
	assertThat('hits are counted in a window that begins with the first one', async (t, { limits }) => {
		t.deepEqual(await limits.hit('key', 60 * second, 1000), { count: 1, endsAt: 61_000 });
		t.deepEqual(await limits.hit('key', 60 * second, 30_000), { count: 2, endsAt: 61_000 });
		t.deepEqual(await limits.hit('Key', 60 * second, 30_000), { count: 1, endsAt: 90_000 });
		t.deepEqual(await limits.hit('key', 60 * second, 60_999), { count: 3, endsAt: 61_000 });
		t.deepEqual(await limits.hit('key', 60 * second, 61_000), { count: 1, endsAt: 121_000 });
	});

	assertThat('many concurrent hits are all counted', async (t, { limits }) => {
		const results = await Promise.all(Array.from({ length: 40 }, () => limits.hit('key', 60 * second, 1000)));
		const counts = results.map((result) => result.count).sort((a, b) => a - b);
		t.deepEqual(
			counts,
			Array.from({ length: 40 }, (_, index) => index + 1),
		);
	});

	assertThat(
		'a window that began while the clock was years ahead is over once the clock is corrected',
		async (t, { limits }) => {
			const year = 365 * 24 * 60 * 60 * second;
			for (let times = 0; times < 3; times++) await limits.hit('key', 60 * second, year);
			t.deepEqual(await limits.hit('key', 60 * second, 1000), { count: 1, endsAt: 61_000 });
			t.is((await limits.hit('key', 60 * second, 0)).count, 2, 'small differences between clocks do not end a window');
		},
	);

	assertThat('a released hit does not count', async (t, { limits }) => {
		await limits.release('key', 1, 61_000);
		await limits.hit('key', 60 * second, 1000);
		await limits.hit('key', 60 * second, 1000);
		await limits.release('key', 1, 61_000);
		t.is((await limits.hit('key', 60 * second, 2000)).count, 2);
		for (let times = 0; times < 5; times++) await limits.release('key', 1, 61_000);
		t.deepEqual(await limits.hit('key', 60 * second, 3000), { count: 1, endsAt: 61_000 });
	});

	assertThat('what was counted in a window is released in no later one', async (t, { limits }) => {
		await limits.hit('key', 60 * second, 1000, 5);
		await limits.hit('key', 60 * second, 61_000, 7);
		await limits.release('key', 5, 61_000);
		await limits.releaseEach([{ key: 'key', endsAt: 61_000 }]);
		t.deepEqual(await limits.find(['key'], 62_000), new Map([['key', { count: 7, endsAt: 121_000 }]]));
		await limits.releaseEach([{ key: 'key', endsAt: 121_000 }]);
		t.is((await limits.find(['key'], 62_000)).get('key')?.count, 6);
	});

	assertThat('hits of several keys are counted and released together', async (t, { limits }) => {
		await limits.hit('b', 60 * second, 1000);
		const hits = [
			{ key: 'c', windowMs: 30 * second },
			{ key: 'a', windowMs: 60 * second },
			{ key: 'b', windowMs: 5 * second },
		];
		t.deepEqual(await limits.hitEach(hits, 2000), [
			{ count: 1, endsAt: 32_000 },
			{ count: 1, endsAt: 62_000 },
			{ count: 2, endsAt: 61_000 },
		]);
		await limits.releaseEach([
			{ key: 'a', endsAt: 62_000 },
			{ key: 'b', endsAt: 61_000 },
			{ key: 'unknown', endsAt: 61_000 },
		]);
		t.deepEqual(
			(await limits.hitEach(hits, 3000)).map(({ count }) => count),
			[2, 1, 2],
		);
		t.deepEqual(await limits.hitEach([], 3000), []);
		await limits.releaseEach([]);
	});

	assertThat('what hits would count can be asked for, and counts nothing', async (t, { limits }) => {
		// Of a clock that was set wrong.
		await limits.hit('future', 60 * second, 10 ** 9);
		await limits.hit('b', 60 * second, 1000);
		await limits.hit('over', 5 * second, 1000);
		const hits = ['new', 'b', 'over', 'future'].map((key) => ({ key, windowMs: 30 * second }));
		const expected = [
			{ count: 1, endsAt: 36_000 },
			{ count: 2, endsAt: 61_000 },
			{ count: 1, endsAt: 36_000 },
			{ count: 1, endsAt: 36_000 },
		];
		for (let times = 0; times < 2; times++) t.deepEqual(await limits.peekEach(hits, 6000), expected);
		t.deepEqual(await limits.hitEach(hits, 6000), expected);
		t.deepEqual(await limits.peekEach([], 6000), []);
	});

	assertThat('many concurrent hits of the same keys are all counted', async (t, { limits }) => {
		const keys = ['a', 'b', 'c'].map((key) => ({ key, windowMs: 60 * second }));
		const orders = [keys, [...keys].reverse()];
		await Promise.all(
			Array.from({ length: 40 }, async (_, n) => {
				const hits = orders[n % 2] ?? [];
				await limits.hitEach(hits, 1000);
				if (n < 10) await limits.releaseEach(hits.map(({ key }) => ({ key, endsAt: 61_000 })));
			}),
		);
		t.deepEqual(
			(await limits.hitEach(keys, 1000)).map(({ count }) => count),
			[31, 31, 31],
		);
	});

	assertThat('of hits at once of the same keys each gets a count of its own', async (t, { limits }) => {
		const keys = ['a', 'b'].map((key) => ({ key, windowMs: 60 * second }));
		const all = await Promise.all(Array.from({ length: 30 }, () => limits.hitEach(keys, 1000)));
		for (const at of [0, 1])
			t.deepEqual(
				all.map((counts) => counts[at]?.count).sort((one, other) => Number(one) - Number(other)),
				Array.from({ length: 30 }, (_, n) => n + 1),
			);
		await Promise.all(
			Array.from({ length: 20 }, () => limits.releaseEach(keys.map(({ key }) => ({ key, endsAt: 61_000 })))),
		);
		t.deepEqual(
			(await limits.hitEach(keys, 1000)).map(({ count }) => count),
			[11, 11],
		);
	});

	assertThat('large amounts are counted and released', async (t, { limits }) => {
		const terabyte = 2 ** 40;
		t.deepEqual(await limits.hit('key', 60 * second, 1000, terabyte), { count: terabyte, endsAt: 61_000 });
		t.is((await limits.hit('key', 60 * second, 2000, 5)).count, terabyte + 5);
		await limits.release('key', terabyte, 61_000);
		t.is((await limits.hit('key', 60 * second, 2000)).count, 6);
		t.is((await limits.hit('key', 60 * second, 61_000, 7)).count, 7);
	});

	assertThat('either all of several amounts are counted or none', async (t, { limits }) => {
		await limits.hit('b', 60 * second, 1000, 5);
		const hits = ['c', 'b', 'a'].map((key) => ({ key, amount: 2, max: 50 }));
		const ends = new Map([
			['a', 62_000],
			['b', 61_000],
			['c', 62_000],
		]);
		t.deepEqual(await limits.hitAll(hits, 60 * second, 2000), { endsAt: ends });
		t.deepEqual(
			await limits.find(['a', 'b', 'd'], 3000),
			new Map([
				['b', { count: 7, endsAt: 61_000 }],
				['a', { count: 2, endsAt: 62_000 }],
			]),
		);
		t.is((await limits.find(['b'], 61_000)).size, 0);
		const ordered = (n: number) => (n % 2 === 0 ? hits : hits.toReversed());
		await Promise.all(Array.from({ length: 20 }, (_, n) => limits.hitAll(ordered(n), 60 * second, 2000)));
		t.is((await limits.find(['a'], 2000)).get('a')?.count, 42);
		const refused = await limits.hitAll([...hits, { key: 'd', amount: 60, max: 50 }], 60 * second, 2000);
		t.deepEqual(refused, { exceeded: { key: 'd', endsAt: 62_000 } });
		t.deepEqual([...(await limits.find(['a', 'b', 'c', 'd'], 2000))].map(([key, { count }]) => [key, count]).sort(), [
			['a', 42],
			['b', 47],
			['c', 42],
		]);
	});

	assertThat('any two different texts are different keys', async (t, { limits }) => {
		const keys = [...hostileTexts, 'a'.repeat(100_000), `${'a'.repeat(99_999)}b`, 'a\0b', 'a\0c', ''];
		for (const key of keys) t.is((await limits.hit(key, 60 * second, 1000)).count, 1, key.slice(0, 40));
	});
}
