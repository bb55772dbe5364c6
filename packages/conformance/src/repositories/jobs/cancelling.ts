import { type Rule, second } from '../rules.js';
import { begin, jobOf, leaseMs, limits, userOf } from './steps.js';

/** How a job ends before its work is done. */
export function jobCancelRules(assertThat: Rule): void {
	assertThat(
		'cancelling ends a queued job at once, requests the end of a running one and does not change an ended one',
		async (t, db, clock) => {
			const { jobs } = db;
			const ada = await userOf(db, 'ada');
			await jobs.add(jobOf('runs', ada), limits);
			const run = await begin(t, jobs, 'copy#0');
			await jobs.add(jobOf('waits', ada), limits);
			await jobs.add(jobOf('other', ada), limits);
			clock.now += second;
			const cancelAll = () => Promise.all(['runs', 'waits', 'unknown'].map((id) => jobs.cancel(id)));
			t.deepEqual(await cancelAll(), [true, true, false]);
			t.deepEqual(await cancelAll(), [false, false, false], 'all of it is done');
			t.like(await jobs.find('waits'), { status: 'cancelled', endTime: clock.now });
			t.like(await jobs.find('runs'), { status: 'processing', endTime: null });
			t.true((await jobs.listHeld(leaseMs))[0]?.isCancelRequested);
			t.is((await jobs.next('copy'))?.id, 'other');
			t.true(await jobs.renew(run, leaseMs));
			t.true(await jobs.end(run, { status: 'cancelled', error: 'Copied 2 of 3.' }));
			t.false(await jobs.cancel('runs'));
			t.like(await jobs.find('runs'), { status: 'cancelled', error: 'Copied 2 of 3.' });
			t.true(await jobs.retry('waits', limits));
			t.false(await jobs.retry('waits', limits), 'it is queued already');
			t.false(await jobs.retry('unknown', limits));
			t.is((await jobs.find('waits'))?.status, 'queued');
		},
	);

	assertThat(
		'a cancelled job with a checkpoint is queued first for its cleanup, and ended if it is cancelled again',
		async (t, db, clock) => {
			const { jobs } = db;
			const [ada, bob] = [await userOf(db, 'ada'), await userOf(db, 'bob')];
			await jobs.add(jobOf('other', bob), limits);
			const other = await begin(t, jobs, 'copy#0');
			for (const id of ['one', 'two']) {
				await jobs.add(jobOf(id, ada), limits);
				const run = { id, holder: 'one', epoch: 1 };
				t.truthy(await jobs.claim(run, 'copy#1', leaseMs));
				t.true(await jobs.checkpoint(run, leaseMs, '"far"'));
				// Requested while it waits, or while the interrupted run still has it.
				if (id === 'two') await jobs.cancel(id);
				t.true(await jobs.requeue(run, 'released'));
				if (id === 'one') await jobs.cancel(id);
				t.like(await jobs.find(id), { status: 'queued', endTime: null });
				t.like(await jobs.next('copy'), { id, epoch: 1, isCancelRequested: true });
				const last = { id, holder: 'two', epoch: 2 };
				t.like(await jobs.claim(last, 'copy#2', leaseMs), { saved: '"far"' });
				if (id === 'one') {
					t.true(await jobs.end(last, { status: 'cancelled', error: null }));
					continue;
				}
				t.true(await jobs.requeue(last, 'released'));
				clock.now += second;
				t.true(await jobs.cancel(id));
				t.like(await jobs.find(id), { status: 'cancelled', endTime: clock.now });
			}
			// It has no checkpoint, so there is nothing to clean up.
			await jobs.cancel('other');
			t.true(await jobs.requeue(other, 'released'));
			t.like(await jobs.find('other'), { status: 'cancelled', endTime: clock.now });
			t.is(await jobs.next('copy'), undefined);
		},
	);
}
