import { hostileTexts, type Rule, refuses } from '../rules.js';
import { begin, jobOf, leaseMs, limits, userOf } from './steps.js';

/** How a job is added, found and claimed. */
export function jobClaimRules(assertThat: Rule): void {
	assertThat('a job is found by its id as it was added, and needs a user and an unused id', async (t, db, clock) => {
		const ada = await userOf(db, 'ada');
		const title = `Copy ${'😀'.repeat(200)}`;
		const input = JSON.stringify({ path: "a'b\0\\\n" });
		await db.jobs.add(jobOf('one', ada, { title, input }), limits);
		t.deepEqual(await db.jobs.find('one'), {
			...{ id: 'one', kind: 'copy', userId: ada, title, status: 'queued', done: 0, total: 0, unit: 'items' },
			...{ speed: null, timeLeft: null, detail: null, error: null, hasInput: true, isOrdered: false },
			...{ createdAt: clock.now, startTime: null, endTime: null },
		});
		t.is(await db.jobs.input('one'), input);
		t.is(await db.jobs.input('one', Buffer.byteLength(input)), input);
		t.is(await db.jobs.input('one', Buffer.byteLength(input) - 1), undefined);
		t.is(await db.jobs.input('two'), undefined);
		for (const text of ['ONE', 'one ', ...hostileTexts]) t.is(await db.jobs.find(text), undefined);
		await refuses(t, 'alreadyExists', () => db.jobs.add(jobOf('one', ada), limits));
		await refuses(t, 'notFound', () => db.jobs.add(jobOf('two', 'unknown'), limits));
	});

	assertThat('only one of many concurrent claims of a job succeeds', async (t, db) => {
		await db.jobs.add(jobOf('one', await userOf(db, 'ada')), limits);
		const claims = await Promise.all(
			Array.from({ length: 8 }, (_, n) => db.jobs.claim({ id: 'one', holder: `${n}`, epoch: 1 }, `copy#${n}`, leaseMs)),
		);
		t.is(claims.filter((claim) => claim !== undefined).length, 1);
		t.is((await db.jobs.listHeld(leaseMs)).length, 1);
		t.is(await db.jobs.next('copy'), undefined);
	});

	assertThat(
		'the next job excludes users at their limit and jobs that are passed over, and a held job names its user',
		async (t, db) => {
			const [ada, bob] = [await userOf(db, 'ada'), await userOf(db, 'bob')];
			t.deepEqual([...(await db.jobs.waitingKinds())], []);
			await db.jobs.add(jobOf('hers', ada), limits);
			await db.jobs.add(jobOf('his', bob), limits);
			t.deepEqual([...(await db.jobs.waitingKinds())], ['copy']);
			t.is((await db.jobs.next('copy', { except: [ada] }))?.id, 'his');
			t.is(await db.jobs.next('copy', { except: [ada, bob] }), undefined);
			t.is((await db.jobs.next('copy', { exceptJobs: ['hers', 'another'] }))?.id, 'his');
			t.is(await db.jobs.next('copy', { except: [bob], exceptJobs: ['hers'] }), undefined);
			await begin(t, db.jobs, 'copy#0');
			t.like((await db.jobs.listHeld(leaseMs))[0], { id: 'hers', userId: ada });
		},
	);

	assertThat('only one of many concurrent claims of different jobs for one slot succeeds', async (t, db) => {
		const ada = await userOf(db, 'ada');
		for (let n = 0; n < 8; n++) await db.jobs.add(jobOf(`job${n}`, ada), limits);
		const claims = await Promise.all(
			Array.from({ length: 8 }, (_, n) =>
				db.jobs.claim({ id: `job${n}`, holder: `${n}`, epoch: 1 }, 'copy#0', leaseMs),
			),
		);
		t.is(claims.filter((claim) => claim !== undefined).length, 1);
		t.is((await db.jobs.listHeld(leaseMs)).length, 1);
	});
}
