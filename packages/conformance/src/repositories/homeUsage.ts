import { type Rule, second } from './rules.js';

const amount = (bytes: number, entries = 0) => ({ bytes, entries });

const nothing = amount(0);

const minute = 60 * second;

/** What homes contain, as several processes count it. */
export function homeUsageRules(assertThat: Rule): void {
	assertThat(
		'a home is what was measured and what each process has added and removed since',
		async (t, { homeUsage }, clock) => {
			const state = () => homeUsage.state('home', 'nobody', 'reader');
			t.like(await state(), { number: 0, base: nothing, others: nothing, held: nothing });
			t.is(await homeUsage.begin('home', 'one', amount(100, 2)), 0);
			t.is(await homeUsage.begin('other home', 'one', amount(7)), 0);
			t.true(
				await homeUsage.save('home', 'one', 0, { added: amount(90, 2), published: amount(50, 1), removed: amount(10) }),
			);
			t.deepEqual((await state()).others, amount(80, 2));
			t.deepEqual((await homeUsage.state('home', 'nobody', 'one')).others, nothing, 'without the own row');

			const before = await homeUsage.rows('home', minute);
			// While the walk is under way one process publishes 20 bytes more, another one begins, and both have something reserved.
			t.true(
				await homeUsage.save('home', 'one', 0, { added: amount(95, 2), published: amount(70, 1), removed: amount(15) }),
			);
			t.is(await homeUsage.begin('home', 'two', amount(30, 1)), 0);
			clock.now += 2 * second;
			await homeUsage.measured('home', amount(1000, 10), before, new Set(), 1500);
			const measured = await state();
			t.like(measured, { number: 1, isExact: false });
			// A database server has a clock of its own.
			t.true(measured.ageMs >= 1000 && measured.ageMs < minute, String(measured.ageMs));
			// What was published before the walk is in what it found; what was published meanwhile counts twice, what was
			// removed before its end counts.
			t.deepEqual(measured.base.bytes + measured.others.bytes, 1000 + (95 - 50) + 30);
			t.deepEqual(measured.base.entries + measured.others.entries, 10 + (2 - 1) + 1);

			const late = { added: amount(95, 2), published: amount(70, 1), removed: amount(99) };
			t.false(await homeUsage.save('home', 'one', 0, late), 'what was removed meanwhile, and is said later');
			t.like(await homeUsage.find('home', 'one'), { number: 1, removed: amount(15) });
			t.true(
				await homeUsage.save('home', 'one', 1, { added: amount(95, 2), published: amount(95, 2), removed: amount(20) }),
			);
			t.deepEqual((await state()).base.bytes + (await state()).others.bytes, 1000 + 45 + 30 - 5);

			await homeUsage.measured('home', amount(1090, 10), await homeUsage.rows('home', minute), new Set(['two']), 0);
			const again = await state();
			t.like(again, { number: 2, isExact: true });
			t.is(again.base.bytes + again.others.bytes, 1090, 'what a process had reserved that has ended is free');
			t.is(await homeUsage.find('home', 'two'), undefined);
			t.is(await homeUsage.begin('home', 'two', nothing), 2);

			clock.now += 2 * minute;
			t.deepEqual(
				(await homeUsage.rows('home', minute)).map(({ isOld }) => isOld),
				[true, true],
			);
			await homeUsage.sweep(3 * minute);
			t.is((await state()).number, 2);
			await homeUsage.sweep(minute);
			t.like(await state(), { number: 0, base: nothing, others: nothing });
			t.deepEqual((await homeUsage.state('other home', 'nobody', 'reader')).others, amount(7));
		},
	);

	assertThat(
		'a home that something of unknown size has left is not counted exactly until it is measured',
		async (t, { homeUsage }) => {
			const isExact = async () => (await homeUsage.state('home', 'nobody', 'reader')).isExact;
			await homeUsage.doubt('home');
			for (let times = 0; times < 2; times++) {
				await homeUsage.measured('home', amount(1), [], new Set(), 0);
				t.true(await isExact());
				await homeUsage.doubt('home');
				t.false(await isExact());
			}
		},
	);

	assertThat('of processes that take at once, each sees all others or is seen by them', async (t, { homeUsage }) => {
		const names = Array.from({ length: 8 }, (_, n) => `process ${n}`);
		const seen = await Promise.all(
			names.map(async (name, n) => {
				await homeUsage.begin('home', name, amount(2 ** n));
				return (await homeUsage.state('home', 'nobody', name)).others.bytes + 2 ** n;
			}),
		);
		t.is(Math.max(...seen), 255);
		for (const [n, own] of seen.entries())
			for (const [m, other] of seen.entries())
				t.true((own & (2 ** m)) !== 0 || (other & (2 ** n)) !== 0, `${n} and ${m}`);
	});
}
