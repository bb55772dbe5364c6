import { day, hostileTexts, type Rule, second } from '../rules.js';
import { begin, jobOf, leaseMs, limits, userOf } from './steps.js';

/** What a run may write while it holds its job. */
export function jobRunRules(assertThat: Rule): void {
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
				...{ ...run, kind: 'copy', userId: ada, network: '192.0.2.1', slot: 'copy#0', onRestart: 'resume' },
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
				t.like(await jobs.claim(again, 'copy#0', leaseMs), { saved, attempt: 1 });
				t.is((await jobs.listHeld(leaseMs))[0]?.interruptions, 0);
				t.true(await jobs.end(again, { status: 'completed', error: null }));
			}
		},
	);

	assertThat('what a failed job has saved may be removed until it is tried again', async (t, db) => {
		const { jobs } = db;
		const [ada, bob] = [await userOf(db, 'ada'), await userOf(db, 'bob')];
		const saved = JSON.stringify({ next: 3 });
		for (const id of ['failed', 'retried', 'running']) {
			await jobs.add(jobOf(id, ada, { onRestart: 'resume' }), limits);
			const run = await begin(t, jobs, `copy#${id}`);
			t.true(await jobs.checkpoint(run, leaseMs, saved));
			if (id !== 'running') t.true(await jobs.end(run, { status: 'failed', error: 'No.' }));
		}
		t.true(await jobs.retry('retried', limits));
		t.deepEqual(await jobs.failedCheckpoints('copy', ada), [{ id: 'failed', saved }]);
		for (const [kind, user] of [
			['move', ada],
			['copy', bob],
		] as const)
			t.deepEqual(await jobs.failedCheckpoints(kind, user), []);
		const forgotten = [];
		for (const id of ['failed', 'failed', 'retried', 'running', 'unknown'])
			forgotten.push(await jobs.forgetCheckpoint(id));
		t.deepEqual(forgotten, [true, false, false, false, false]);
		t.is(await jobs.checkpointOf('failed'), undefined);
		t.is(await jobs.checkpointOf('retried'), saved);
	});

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
}
