import type { Rule } from '../rules.js';
import { begin, jobOf, leaseMs, limits, userOf } from './steps.js';

/** Whose job is next. */
export function jobTurnRules(assertThat: Rule): void {
	assertThat('users are served round robin, whatever the number and order of their jobs', async (t, db, clock) => {
		const { jobs } = db;
		const [ada, bob] = [await userOf(db, 'ada'), await userOf(db, 'bob')];
		const add = async (id: string, userId: string) => {
			clock.now += 1;
			await jobs.add(jobOf(id, userId), limits);
		};
		const order: string[] = [];
		const runNext = async () => {
			const run = await begin(t, jobs, 'copy#0');
			order.push(run.id);
			await jobs.end(run, { status: 'completed', error: null });
		};
		for (const id of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) await add(id, ada);
		await runNext();
		await runNext();
		for (const id of ['b1', 'b2']) await add(id, bob);
		await runNext();
		await runNext();
		// A user who adds one at a time is served no more often than one with many waiting.
		await add('b3', bob);
		await runNext();
		await add('b4', bob);
		for (let n = 0; n < 5; n++) await runNext();
		t.deepEqual(order, ['a1', 'a2', 'b1', 'a3', 'b2', 'a4', 'b3', 'a5', 'b4', 'a6']);
		// Another kind has a queue of its own.
		await jobs.add(jobOf('else', ada, { kind: 'convert' }), limits);
		t.is(await jobs.next('copy'), undefined);
		t.is((await jobs.next('convert'))?.id, 'else');
	});

	assertThat('long jobs have a queue of their own, in which users are served round robin too', async (t, db, clock) => {
		const { jobs } = db;
		const [ada, bob] = [await userOf(db, 'ada'), await userOf(db, 'bob')];
		const add = async (id: string, userId: string, isLong: boolean) => {
			clock.now += 1;
			await jobs.add(jobOf(id, userId, { isLong }), limits);
		};
		for (let n = 0; n < 5; n++) await add(`ada long ${n}`, ada, true);
		for (let n = 0; n < 20; n++) await add(`ada short ${n}`, ada, false);
		const claim = async (isLong: boolean) => {
			const next = await jobs.next('copy', { isLong });
			const run = { id: next?.id ?? '', holder: 'one', epoch: (next?.epoch ?? 0) + 1 };
			t.truthy(await jobs.claim(run, `${isLong}`, leaseMs));
			return run;
		};
		const endNext = async (isLong: boolean) => {
			const run = await claim(isLong);
			await jobs.end(run, { status: 'completed', error: null });
			return run.id;
		};
		for (let n = 0; n < 15; n++) t.is(await endNext(false), `ada short ${n}`);
		t.is(await endNext(true), 'ada long 0');
		// As far as the long queue is, not the short one.
		await add('bob long', bob, true);
		t.deepEqual([await endNext(true), await endNext(true)], ['bob long', 'ada long 1']);
		t.is((await jobs.next('copy', { isLong: true, except: [ada] }))?.id, undefined);

		await add('bob short', bob, false);
		const run = await claim(false);
		t.is(run.id, 'bob short');
		t.true(await jobs.requeue(run, 'yielded'));
		t.is((await jobs.next('copy', { isLong: false }))?.id, 'ada short 15');
		// Behind his other long one, and like that one before those of ada that came later.
		t.is(await endNext(true), 'bob short');
		t.false(await jobs.setLong(run), 'it is no longer this run’s');
		t.false(await jobs.requeue(run, 'yielded'));

		const running = await claim(false);
		t.true(await jobs.setLong(running));
		t.true(await jobs.setLong(running), 'it is long already');
		t.true(await jobs.requeue(running, 'interrupted'));
		t.is((await jobs.listHeld(leaseMs)).length, 0);
		const order: string[] = [];
		for (let n = 0; n < 4; n++) order.push(await endNext(true));
		t.deepEqual(order, ['ada long 2', 'ada long 3', 'ada long 4', running.id]);
	});
}
