import type { JobRunKey, JobStore, NewJob, Stores } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import type { ExecutionContext } from 'ava';
import { day, hostileTexts, type Rule, refuses, second } from './rules.js';

const leaseMs = 10 * second;
const limits = { jobs: 100, bytes: 1000 };

/** Adds a user; resolves to their id. */
async function userOf({ users }: Stores, username: string): Promise<string> {
	return (await users.add({ username, secret: 's' })).id;
}

const jobOf = (id: string, userId: string, more: Partial<NewJob> = {}): NewJob => ({
	...{ id, kind: 'copy', userId, title: 'Copy 3 items', input: '{"items":3}', onRestart: 'resume' },
	...{ isLong: false, isOrdered: false, ...more },
});

/** Claims the next job; resolves to its run. */
async function begin(t: ExecutionContext, jobs: JobStore, slot: string, holder = 'one'): Promise<JobRunKey> {
	const next = await jobs.next('copy');
	if (next === undefined) throw new Error('no job is queued');
	const run = { id: next.id, holder, epoch: next.epoch + 1 };
	t.truthy(await jobs.claim(run, slot, leaseMs));
	return run;
}

/** Jobs with their leases. */
export function jobRules(assertThat: Rule): void {
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

	assertThat('the next job excludes users at their limit, and a held job names its user', async (t, db) => {
		const [ada, bob] = [await userOf(db, 'ada'), await userOf(db, 'bob')];
		t.deepEqual([...(await db.jobs.waitingKinds())], []);
		await db.jobs.add(jobOf('hers', ada), limits);
		await db.jobs.add(jobOf('his', bob), limits);
		t.deepEqual([...(await db.jobs.waitingKinds())], ['copy']);
		t.is((await db.jobs.next('copy', { except: [ada] }))?.id, 'his');
		t.is(await db.jobs.next('copy', { except: [ada, bob] }), undefined);
		await begin(t, db.jobs, 'copy#0');
		t.like((await db.jobs.listHeld(leaseMs))[0], { id: 'hers', userId: ada });
	});

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

	assertThat('a run gets its input, reports progress, saves a checkpoint and ends', async (t, db, clock) => {
		const { jobs } = db;
		const ada = await userOf(db, 'ada');
		await jobs.add(jobOf('one', ada), limits);
		const run = { id: 'one', holder: 'one', epoch: 1 };
		clock.now += 7 * second;
		const claimed = await jobs.claim(run, 'copy#0', leaseMs);
		t.like(claimed, { input: '{"items":3}', saved: null, attempt: 1 });
		t.like(claimed?.record, { id: 'one', status: 'processing', startTime: clock.now });
		t.deepEqual(await jobs.listHeld(leaseMs), [
			{
				...{ ...run, kind: 'copy', userId: ada, slot: 'copy#0', onRestart: 'resume' },
				...{ isCancelRequested: false, isExpired: false, interruptions: 0 },
				...{ isOrdered: false, isOnTrial: false, ranMs: 0 },
			},
		]);
		const progress = {
			done: 61.31,
			total: 100,
			unit: 'percent',
			speed: 0.25,
			timeLeft: 154.76,
			detail: '{"fps":94.36}',
		} as const;
		t.true(await jobs.renew(run, leaseMs, progress));
		t.like(await jobs.find('one'), progress);
		t.true(await jobs.renew(run, leaseMs));
		t.like(await jobs.find('one'), progress);
		t.true(await jobs.checkpoint(run, leaseMs, '{"at":2}'));
		t.true(await jobs.end(run, { status: 'completed', error: null, detail: '{"size":1}' }));
		t.like(await jobs.find('one'), {
			...{
				status: 'completed',
				detail: '{"size":1}',
				endTime: clock.now,
				hasInput: true,
				speed: null,
				timeLeft: null,
			},
		});
		t.deepEqual(await jobs.listHeld(leaseMs), []);
		t.false(await jobs.retry('one', limits), 'a completed job is not retried');
	});

	assertThat('writes of a run that has lost its job have no effect', async (t, db, clock) => {
		const { jobs } = db;
		await jobs.add(jobOf('one', await userOf(db, 'ada')), limits);
		const old = await begin(t, jobs, 'copy#0');
		await jobs.checkpoint(old, leaseMs, '1');
		clock.now += leaseMs + second;
		t.true(await jobs.requeue(old, 'interrupted', { leaseMs, isRecorded: false }));
		const waits = await jobs.find('one');
		t.is(waits?.status, 'queued');
		for (const stale of [old, { ...old, epoch: 2 }]) {
			const writes = [
				jobs.renew(stale, leaseMs, {
					...{ done: 9, total: 9, unit: 'items' },
					speed: null,
					timeLeft: null,
					detail: null,
				}),
				jobs.checkpoint(stale, leaseMs, '"stale"'),
				jobs.requeue(stale, 'released'),
				jobs.end(stale, { status: 'failed', error: 'stale' }),
			];
			t.deepEqual(await Promise.all(writes), [false, false, false, false]);
		}
		t.deepEqual(await jobs.find('one'), waits);
		const taken = { id: 'one', holder: 'two', epoch: 2 };
		t.like(await jobs.claim(taken, 'copy#0', leaseMs), { saved: '1', attempt: 2 });
		t.false(await jobs.checkpoint(old, leaseMs, '"stale"'));
		t.false(await jobs.end({ ...taken, holder: 'one' }, { status: 'failed', error: 'stale' }));
		t.true(await jobs.end(taken, { status: 'completed', error: null }));
	});

	assertThat('a renewed lease is kept, and an expired one may be taken over', async (t, db, clock) => {
		const { jobs } = db;
		await jobs.add(jobOf('one', await userOf(db, 'ada')), limits);
		const run = await begin(t, jobs, 'copy#0');
		const isExpired = async () => (await jobs.listHeld(leaseMs))[0]?.isExpired;
		clock.now += 8 * second;
		t.true(await jobs.renew(run, leaseMs));
		clock.now += 8 * second;
		t.false(await isExpired());
		t.false(await jobs.requeue(run, 'interrupted', { leaseMs, isRecorded: false }));
		t.false(await jobs.end(run, { status: 'failed', error: null }, { leaseMs, isRecorded: false }));
		t.true(await jobs.checkpoint(run, leaseMs, '1'));
		clock.now += 8 * second;
		t.false(await isExpired());
		clock.now += 4 * second;
		t.true(await isExpired());
		t.true(await jobs.renew(run, leaseMs), 'an expired lease that was not taken over is renewed');
		t.false(await isExpired());
		// The clock was wrong by years when the lease was taken.
		clock.now -= 400 * day;
		t.true(await isExpired());
		t.true(await jobs.end(run, { status: 'failed', error: 'It ended.' }, { leaseMs, isRecorded: false }));
	});

	assertThat(
		'a checkpoint is kept for a kind that resumes, and interruptions are counted until the next checkpoint',
		async (t, db) => {
			const { jobs } = db;
			const ada = await userOf(db, 'ada');
			for (const onRestart of ['resume', 'restart'] as const) {
				await jobs.add(jobOf(onRestart, ada, { onRestart }), limits);
				for (const interruptions of [0, 1]) {
					const run = await begin(t, jobs, 'copy#0');
					t.is((await jobs.listHeld(leaseMs))[0]?.interruptions, interruptions);
					t.true(await jobs.requeue(run, 'interrupted'));
				}
				const run = await begin(t, jobs, 'copy#0');
				t.true(await jobs.checkpoint(run, leaseMs, '"far"'));
				t.true(await jobs.requeue(run, 'interrupted'));
				const last = { id: onRestart, holder: 'two', epoch: 4 };
				const saved = onRestart === 'resume' ? '"far"' : null;
				t.like(await jobs.claim(last, 'copy#0', leaseMs), { saved, attempt: 4 });
				t.is((await jobs.listHeld(leaseMs))[0]?.interruptions, 1);
				t.true(await jobs.end(last, { status: 'failed', error: 'Broken.' }));
				t.true(await jobs.retry(onRestart, limits));
				t.like(await jobs.find(onRestart), { status: 'queued', error: null, endTime: null, startTime: null, done: 0 });
				const again = { id: onRestart, holder: 'two', epoch: 5 };
				t.like(await jobs.claim(again, 'copy#0', leaseMs), { saved, attempt: 5 });
				t.is((await jobs.listHeld(leaseMs))[0]?.interruptions, 0);
				t.true(await jobs.end(again, { status: 'completed', error: null }));
			}
		},
	);

	for (const [where, id] of [
		['a copy on the default root', 'copy-0123456789abcdef-1z-9'],
		['a copy on a further root', 'disk2~copy-0123456789abcdef-1z-9'],
		['a tree that moves between two roots', 'tree.0123456789abcdef.disk2~copy-0123456789abcdef-1z-9'],
	] as const) {
		assertThat(`an id in a checkpoint is found until its job has ended: ${where}`, async (t, db) => {
			const { jobs } = db;
			await jobs.add(jobOf('one', await userOf(db, 'ada')), limits);
			const run = await begin(t, jobs, 'copy#0');
			t.false(await jobs.isInCheckpoint(id));
			t.true(await jobs.checkpoint(run, leaseMs, JSON.stringify({ next: 3, mark: id })));
			t.true(await jobs.isInCheckpoint(id));
			t.deepEqual(JSON.parse((await jobs.checkpointOf('one')) ?? ''), { next: 3, mark: id });
			t.is(await jobs.checkpointOf('two'), undefined);
			for (const other of [id.slice(1), `${id}9`, '', '%', id.replace('-', '_'), ...hostileTexts])
				t.false(await jobs.isInCheckpoint(other), other);
			t.true(await jobs.requeue(run, 'released'));
			t.true(await jobs.isInCheckpoint(id));
			await jobs.cancel('one');
			t.true(await jobs.isInCheckpoint(id), 'the cancelled job still has to clean up');
			const last = await begin(t, jobs, 'copy#0');
			t.true(await jobs.end(last, { status: 'cancelled', error: null }));
			t.false(await jobs.isInCheckpoint(id));
		});
	}

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

	assertThat(
		'interruptions are remembered once for each process and job, until the job ends in a process, or a sweep',
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
			const one = { holder: 'one', jobId: first, kind: 'copy', wasTrial: false, hasEnded: false, ...firstOf };
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
			t.deepEqual(await known(), []);

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
		'an interruption of a job that is cancelled is forgotten once its trial is over, and says before that it has ended',
		async (t, db) => {
			const { jobs } = db;
			const ada = await userOf(db, 'ada');
			await jobs.add(jobOf('job', ada), limits);
			const known = async () => (await jobs.listInterruptions()).interruptions.map(({ hasEnded }) => hasEnded);
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
			t.true(await jobs.endTrial(key(3)));
			t.true(await jobs.end(key(3), cancelled));
			t.deepEqual(await known(), []);
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

	assertThat(
		'the unfinished jobs of a user and kind are limited, also when they are added concurrently',
		async (t, db) => {
			const { jobs } = db;
			const [ada, bob] = [await userOf(db, 'ada'), await userOf(db, 'bob')];
			const few = { ...limits, jobs: 3 };
			const added = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => jobs.add(jobOf(`job${n}`, ada), few)));
			t.is(added.filter(({ status }) => status === 'fulfilled').length, 3);
			for (const result of added) {
				if (result.status === 'rejected') t.true(isFailure(result.reason, 'rateLimited'), String(result.reason));
			}
			await jobs.add(jobOf('hers', ada, { kind: 'convert' }), few);
			const run = await begin(t, jobs, 'copy#0');
			await jobs.add(jobOf('his', bob), few);
			await refuses(t, 'rateLimited', () => jobs.add(jobOf('more', ada), few));
			await jobs.end(run, { status: 'failed', error: null });
			await jobs.add(jobOf('more', ada), few);
			await refuses(t, 'rateLimited', () => jobs.retry(run.id, few));
		},
	);

	assertThat(
		'the stored bytes of a user’s jobs are limited, and inputs of ended jobs are removed to make room',
		async (t, db) => {
			const { jobs } = db;
			const ada = await userOf(db, 'ada');
			const input = JSON.stringify('x'.repeat(398));
			await jobs.add(jobOf('one', ada, { input }), limits);
			const run = await begin(t, jobs, 'copy#0');
			t.true(await jobs.checkpoint(run, leaseMs, JSON.stringify('ä'.repeat(99))));
			await jobs.add(jobOf('two', ada, { input }), limits);
			await refuses(t, 'rateLimited', () => jobs.add(jobOf('three', ada), limits));
			await jobs.end(run, { status: 'failed', error: null });
			t.true((await jobs.find('one'))?.hasInput);
			await jobs.add(jobOf('three', ada), limits);
			t.false((await jobs.find('one'))?.hasInput);
			t.is(await jobs.input('one'), undefined);
			t.false(await jobs.retry('one', limits));
			t.true((await jobs.find('two'))?.hasInput);
		},
	);

	assertThat(
		'jobs are listed by user or in all, the newest first, with at limits so many ended ones',
		async (t, db, clock) => {
			const { jobs } = db;
			const [ada, bob] = [await userOf(db, 'ada'), await userOf(db, 'bob')];
			for (const id of ['one', 'two', 'three', 'four']) {
				clock.now += second;
				await jobs.add(jobOf(id, ada), limits);
			}
			for (let n = 0; n < 3; n++) {
				clock.now += second;
				await jobs.end(await begin(t, jobs, 'copy#0'), { status: 'completed', error: null });
			}
			clock.now += second;
			await jobs.add(jobOf('his', bob), limits);
			const ids = async (maxEnded: number, userId?: string) => (await jobs.list(maxEnded, userId)).map(({ id }) => id);
			t.deepEqual(await ids(10, ada), ['four', 'three', 'two', 'one']);
			t.deepEqual(await ids(2, ada), ['four', 'three', 'two']);
			t.deepEqual(await ids(10), ['his', 'four', 'three', 'two', 'one']);
			t.deepEqual(await ids(10, 'unknown'), []);
		},
	);

	assertThat('recently changed jobs are listed, whichever field has changed', async (t, db, clock) => {
		const { jobs } = db;
		const ada = await userOf(db, 'ada');
		const changed = async () => {
			const ids = (await jobs.listChanged(5 * second)).map(({ id }) => id).sort();
			clock.now += 60 * second;
			return ids;
		};
		await jobs.add(jobOf('one', ada), limits);
		await jobs.add(jobOf('two', ada), limits);
		t.deepEqual(await changed(), ['one', 'two']);
		t.deepEqual(await changed(), []);
		const run = await begin(t, jobs, 'copy#0');
		t.deepEqual(await changed(), ['one']);
		await jobs.renew(run, leaseMs);
		t.deepEqual(await changed(), ['one']);
		await jobs.cancel('two');
		t.deepEqual(await changed(), ['two']);
		await jobs.end(run, { status: 'failed', error: null });
		t.deepEqual(await changed(), ['one']);
		await jobs.retry('two', limits);
		t.deepEqual(await changed(), ['two']);
	});

	assertThat(
		'sweeping removes old jobs and those of a user beyond the latest, except unfinished ones',
		async (t, db, clock) => {
			const { jobs } = db;
			const [ada, bob] = [await userOf(db, 'ada'), await userOf(db, 'bob')];
			for (let n = 0; n < 6; n++) {
				await jobs.add(jobOf(`job${n}`, ada), limits);
				await jobs.end(await begin(t, jobs, 'copy#0'), { status: 'completed', error: null });
				clock.now += second;
			}
			await jobs.add(jobOf('his', bob), limits);
			await jobs.end(await begin(t, jobs, 'copy#0'), { status: 'failed', error: null });
			await jobs.add(jobOf('waits', ada), limits);
			t.is(await jobs.sweep(clock.now - 5 * second, 3), 3);
			const counts = await jobs.counts();
			t.true(counts.every(({ kind }) => kind === 'copy'));
			t.is(counts.find(({ status }) => status === 'queued')?.count, 1);
			t.is(
				counts.reduce((sum, { count }) => sum + count, 0),
				5,
			);
			t.deepEqual((await jobs.list(10)).map(({ id }) => id).sort(), ['his', 'job3', 'job4', 'job5', 'waits']);
			t.is(await jobs.sweep(clock.now + day, 3), 4);
			t.deepEqual(
				(await jobs.list(10)).map(({ id }) => id),
				['waits'],
			);
		},
	);

	assertThat('the jobs of a disabled or removed user are cancelled, and new ones are refused', async (t, db) => {
		const { jobs, users } = db;
		for (const name of ['ada', 'bob']) {
			const id = await userOf(db, name);
			await jobs.add(jobOf(`${name} runs`, id), limits);
			const run = await begin(t, jobs, `${name}#0`);
			await jobs.add(jobOf(`${name} waits`, id), limits);
			if (name === 'ada') await users.setDisabled(id, true);
			else await users.remove(id);
			t.is((await jobs.find(`${name} waits`))?.status, 'cancelled');
			t.true((await jobs.listHeld(leaseMs)).find((job) => job.id === run.id)?.isCancelRequested);
			await refuses(t, 'notFound', () => jobs.add(jobOf('late', id), limits));
			await refuses(t, 'notFound', () => jobs.retry(`${name} waits`, limits));
		}
	});
}
