import { day, type Rule, second } from '../rules.js';
import { begin, jobOf, leaseMs, limits, userOf } from './steps.js';

/** What is remembered of jobs whose process died. */
export function jobInterruptionRules(assertThat: Rule): void {
	assertThat(
		'interruptions are remembered once for each process and job, until a sweep, also of those that have passed since',
		async (t, db, clock) => {
			const { jobs } = db;
			const [ada, bob] = [await userOf(db, 'ada'), await userOf(db, 'bob')];
			await jobs.add(jobOf('hers', ada), limits);
			await jobs.add(jobOf('his', bob, { isOrdered: true }), limits);
			const known = async () => (await jobs.listInterruptions()).interruptions.map(({ at: _, ...each }) => each);
			const interrupt = async (holder: string, isRecorded = true) => {
				const run = await begin(t, jobs, 'copy#0', holder);
				clock.now += second;
				await jobs.renew(run, leaseMs);
				const [held] = await jobs.listHeld(leaseMs);
				t.true((held?.ranMs ?? 0) > second / 2, `${held?.ranMs}`);
				t.true(await jobs.requeue(run, 'interrupted', { isRecorded }));
				t.false(await jobs.requeue(run, 'interrupted', { isRecorded }), 'another process was first');
				return run.id;
			};
			t.deepEqual(await known(), []);
			await interrupt('unrecorded', false);
			t.deepEqual(await known(), []);
			const first = await interrupt('one');
			const firstOf = { hers: { userId: ada, isOrdered: false }, his: { userId: bob, isOrdered: true } }[first];
			const one = {
				holder: 'one',
				jobId: first,
				kind: 'copy',
				wasTrial: false,
				hasPassed: false,
				hasEnded: false,
				...firstOf,
			};
			t.deepEqual(await known(), [one]);
			clock.now += second;
			await interrupt('two');
			t.is((await known())[0]?.holder, 'two', 'the latest is the first');
			const { interruptions, now } = await jobs.listInterruptions();
			// A server's clock goes on meanwhile, and is read to the millisecond.
			t.true(now >= (interruptions[0]?.at ?? Number.POSITIVE_INFINITY) - second, `${now}`);
			t.is(await jobs.forgetInterruptions({ holder: 'two', userId: 'unknown' }), 0);
			t.is(await jobs.forgetInterruptions({ holder: 'two', kind: 'copy' }), 1);
			await jobs.end(await begin(t, jobs, 'copy#0'), { status: 'completed', error: null });
			t.deepEqual(await known(), [{ ...one, hasPassed: true, hasEnded: true }]);
			t.is(await jobs.forgetInterruptions({ holder: 'one' }), 1);

			const last = await interrupt('three');
			const run = await begin(t, jobs, 'copy#0', 'four');
			t.is(run.id, last);
			t.true(await jobs.end(run, { status: 'failed', error: 'Again.' }, { isRecorded: true }));
			t.is((await known()).length, 2);
			await jobs.sweep(clock.now - day, 10);
			t.is((await known()).length, 2);
			await jobs.sweep(clock.now + day, 10);
			t.deepEqual(await known(), []);
		},
	);

	assertThat(
		'an interruption of a job that is cancelled, or fails, has passed once its trial is over, and says before that it has ended',
		async (t, db) => {
			const { jobs } = db;
			const ada = await userOf(db, 'ada');
			await jobs.add(jobOf('job', ada), limits);
			const known = async () =>
				(await jobs.listInterruptions()).interruptions.map(({ hasEnded, hasPassed }) =>
					hasPassed ? 'passed' : hasEnded,
				);
			const key = (epoch: number) => ({ id: 'job', holder: `${epoch}`, epoch });
			const cancelled = { status: 'cancelled', error: null } as const;
			await jobs.claim(key(1), 'copy#0', leaseMs);
			t.true(await jobs.requeue(key(1), 'interrupted', { isRecorded: true }));
			t.deepEqual(await known(), [false]);
			await jobs.claim(key(2), 'copy#0', leaseMs, 'trial');
			t.deepEqual(await known(), [false]);
			t.true(await jobs.end(key(2), cancelled));
			t.deepEqual(await known(), [true]);
			t.true(await jobs.retry('job', limits));
			t.deepEqual(await known(), [false]);
			await jobs.claim(key(3), 'copy#0', leaseMs, 'trial');
			t.true(await jobs.end(key(3), { status: 'failed', error: 'No such file.' }));
			t.deepEqual(await known(), [true]);
			t.true(await jobs.retry('job', limits));
			t.deepEqual(await known(), [false]);
			await jobs.claim(key(4), 'copy#0', leaseMs, 'trial');
			t.true(await jobs.endTrial(key(4)));
			t.deepEqual(await known(), ['passed']);
			t.true(await jobs.end(key(4), cancelled));
			t.deepEqual(await known(), ['passed']);
			t.true(await jobs.retry('job', limits));
			await jobs.claim(key(5), 'copy#0', leaseMs);
			t.true(await jobs.requeue(key(5), 'interrupted', { isRecorded: true }));
			t.is((await known()).filter((each) => each === 'passed').length, 1);
		},
	);

	assertThat('one job is on trial at a time, until its trial or its run is over', async (t, db) => {
		const { jobs } = db;
		const ada = await userOf(db, 'ada');
		for (let n = 0; n < 8; n++) await jobs.add(jobOf(`job${n}`, ada), limits);
		const runs = Array.from({ length: 8 }, (_, n) => ({ id: `job${n}`, holder: `${n}`, epoch: 1 }));
		const tryAll = async () => {
			const claims = await Promise.all(
				runs.map(async (run, n) => (await jobs.claim(run, `copy#${n}`, leaseMs, 'trial')) && run),
			);
			return claims.filter((run) => run !== undefined);
		};
		const [first, ...others] = await tryAll();
		t.deepEqual(others, []);
		t.true((await jobs.listHeld(leaseMs))[0]?.isOnTrial);
		t.deepEqual(await tryAll(), []);
		if (first === undefined) return;
		t.true(await jobs.endTrial(first));
		t.false((await jobs.listHeld(leaseMs))[0]?.isOnTrial);
		const [second] = await tryAll();
		if (second === undefined) return t.fail('the next trial begins');
		t.true(await jobs.requeue(second, 'interrupted', { isRecorded: true }));
		t.true((await jobs.listInterruptions()).interruptions[0]?.wasTrial);
		t.like((await jobs.listHeld(leaseMs))[0], { id: first.id, isOnTrial: false });
		t.is((await jobs.next('copy', { userId: 'unknown' }))?.id, undefined);
		t.truthy(await jobs.next('copy', { userId: ada }));
	});
}
