import { isFailure } from '@stowage/rules';
import { day, type Rule, refuses, second } from '../rules.js';
import { begin, jobOf, leaseMs, limits, userOf } from './steps.js';

/** How many jobs are kept, listed and allowed. */
export function jobBoundRules(assertThat: Rule): void {
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
		'room is made first by completed jobs, then by those that ended first, and never by the one that is retried',
		async (t, db, clock) => {
			const { jobs } = db;
			const ada = await userOf(db, 'ada');
			const ended = async (id: string, status: 'completed' | 'failed', length: number) => {
				await jobs.add(jobOf(id, ada, { input: JSON.stringify('x'.repeat(length - 2)) }), limits);
				await jobs.end(await begin(t, jobs, 'copy#0'), { status, error: null });
				clock.now += second;
			};
			const kept = async () => {
				const all = await Promise.all(['f1', 'f2', 'done', 'f3'].map((id) => jobs.find(id)));
				return all.flatMap((job) => (job?.hasInput ? [job.id] : []));
			};
			await ended('f1', 'failed', 200);
			await ended('f2', 'failed', 200);
			await ended('done', 'completed', 200);
			await ended('f3', 'failed', 200);
			await jobs.add(jobOf('new', ada, { input: JSON.stringify('x'.repeat(298)) }), limits);
			t.deepEqual(await kept(), ['f1', 'f2', 'f3']);
			await jobs.add(jobOf('newer', ada, { input: JSON.stringify('x'.repeat(298)) }), limits);
			t.deepEqual(await kept(), ['f2', 'f3']);
			const few = { ...limits, bytes: 900 };
			t.true(await jobs.retry('f2', few));
			t.deepEqual(await kept(), ['f2']);
			// What is not enough removes nothing.
			await refuses(t, 'rateLimited', () => jobs.add(jobOf('large', ada, { input: 'x'.repeat(900) }), limits));
			t.like(await jobs.find('f2'), { hasInput: true, status: 'queued' });
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
