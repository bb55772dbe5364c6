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

	assertThat(
		'networks are served round robin whatever the number of their users, and in each its users',
		async (t, db, clock) => {
			const { jobs } = db;
			const [one, two, three] = ['192.0.2.1', '192.0.2.2', '2001:db8:1::/48'];
			const add = async (id: string, userId: string, network: string, more = {}) => {
				clock.now += 1;
				await jobs.add(jobOf(id, userId, { network, ...more }), limits);
			};
			let after: string | undefined;
			const runNext = async (choice = {}) => {
				const next = await jobs.next('copy', { ...choice, ...(after === undefined ? {} : { after }) });
				if (next === undefined) return undefined;
				after = next.network;
				const run = { id: next.id, holder: 'one', epoch: next.epoch + 1 };
				t.truthy(await jobs.claim(run, 'copy#0', leaseMs));
				t.is((await jobs.listHeld(leaseMs))[0]?.network, next.network);
				await jobs.end(run, { status: 'completed', error: null });
				return next.id;
			};
			const order = async (count: number, choice = {}) => {
				const ids: (string | undefined)[] = [];
				for (let n = 0; n < count; n++) ids.push(await runNext(choice));
				return ids.join(' ');
			};
			const users: string[] = [];
			for (const name of ['a', 'b', 'c']) users.push(await userOf(db, name));
			const [a = '', b = '', c = ''] = users;
			for (let n = 1; n <= 6; n++) await add(`a${n}`, a, one);
			for (let n = 1; n <= 2; n++) await add(`b${n}`, b, one);
			const ada = await userOf(db, 'ada');
			for (let n = 1; n <= 2; n++) await add(`ada${n}`, ada, two);
			t.is(await order(3), 'a1 ada1 b1');
			// From a third one, and another user of the first.
			await add('three', await userOf(db, 'eve'), three);
			await add('c', c, one);
			t.is((await jobs.next('copy', { exceptNetworks: [two], after: one }))?.network, three);
			t.is((await jobs.next('copy', { exceptNetworks: [two, three], after: one }))?.network, one);
			t.is(await jobs.next('copy', { exceptNetworks: [one, two, three], after: one }), undefined);
			t.is((await jobs.next('copy', { except: [a], after: three }))?.id, 'c');
			t.is(await order(4), 'ada2 three c a2');
			// What has happened to others meanwhile puts nobody of a network behind what waits there.
			await add('ada3', ada, two);
			t.is(await order(3, { isLong: false }), 'ada3 b2 a3');
			await add('long', a, one, { isLong: true });
			await add('long of two', ada, two, { isLong: true });
			t.is(await order(2, { isLong: true }), 'long of two long');
			// One that only has to clean up is first, of whatever network.
			const next = await jobs.next('copy');
			const run = { id: next?.id ?? '', holder: 'one', epoch: 1 };
			await jobs.claim(run, 'copy#0', leaseMs);
			await jobs.checkpoint(run, leaseMs, '1');
			await jobs.requeue(run, 'released');
			await jobs.cancel(run.id);
			await add('last', ada, two);
			t.like(await jobs.next('copy', { after: one, exceptNetworks: [one] }), { id: 'a4', isCancelRequested: true });
		},
	);

	assertThat('a user who asks from many networks has one turn in a round', async (t, db, clock) => {
		const { jobs } = db;
		const [ada, eve] = [await userOf(db, 'ada'), await userOf(db, 'eve')];
		for (const n of [1, 2, 3]) {
			clock.now += 1;
			await jobs.add(jobOf(`eve${n}`, eve, { network: `192.0.2.${n}` }), limits);
		}
		await jobs.add(jobOf('ada', ada, { network: '192.0.2.9' }), limits);
		const first = await jobs.next('copy');
		const run = { id: first?.id ?? '', holder: 'one', epoch: 1 };
		t.truthy(await jobs.claim(run, 'copy#0', leaseMs));
		await jobs.end(run, { status: 'completed', error: null });
		t.is(run.id, 'eve1');
		t.is((await jobs.next('copy', { after: first?.network ?? '' }))?.id, 'ada');
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
