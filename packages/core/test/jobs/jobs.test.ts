import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { DatabaseUnavailable } from '@stowage/database';
import type { JobOwner } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import test from 'ava';
import { runInContext } from '../../src/context.js';
import { SiblingEvents } from '../../src/events/SiblingEvents.js';
import { jobLimits } from '../../src/jobs/jobLimits.js';
import { identifyProcess } from '../../src/leases/processIdentity.js';
import { createSiblings } from '../severalApps.js';
import { until } from '../until.js';
import { type Bench, breakJobs, heldKind, jobBench, privateKind } from './testJobs.js';

const minute = 60_000;

test('a job runs with its owner and input, reports its progress and stores its result', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind();
	const starter = jobs.define(kind);
	const { id, ...queued } = await starter.start(ada, 'three files', 'Copy 3 items');
	t.regex(id, /^[0-9a-f]{32}$/);
	t.like(queued, { kind: 'test', status: 'queued', title: 'Copy 3 items', startTime: null, canRetry: false });
	await jobs.poll();
	const [run] = runs;
	t.like(run?.context, { id, viewer: ada, input: 'three files', attempt: 1, saved: undefined, isCancelled: false });
	t.like(await jobs.find(ada, id), { status: 'processing', done: 0, total: 0 });
	run?.context.progress({ done: 0, total: 100, unit: 'bytes' });
	bench.advance(1000);
	run?.context.progress({ done: 20, total: 100, unit: 'bytes', detail: { name: 'a.txt' } });
	t.like(await jobs.find(ada, id), { done: 20, total: 100, speed: 20, timeLeft: 4, detail: { name: 'a.txt' } });
	// Of work that stands still nobody knows when it will end.
	for (let n = 0; n < 200; n++) {
		bench.advance(10_000);
		run?.context.progress({ done: 20, total: 100, unit: 'bytes', detail: { name: 'a.txt' } });
	}
	t.like(await jobs.find(ada, id), { done: 20, timeLeft: null });
	const end = jobs.waitForEnd(ada, id, minute);
	run?.finish({ size: 7 });
	t.like(await end, {
		id,
		status: 'completed',
		detail: { size: 7 },
		done: 20,
		speed: null,
		canRetry: false,
		error: null,
	});
	t.like(await jobs.waitForEnd(ada, id, 0), { status: 'completed' });
	t.like((await jobs.list(ada))[0], { id, status: 'completed' });
});

test('waitForEnd resolves to undefined after its timeout', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { id } = await jobs.define(heldKind().kind).start(ada, '', 'x');
	t.is(await jobs.waitForEnd(ada, id, 0), undefined);
	const given = jobs.waitForEnd(ada, id, minute);
	bench.advance(minute);
	await jobs.poll();
	t.is(await given, undefined);
});

test('a job that fails with a Failure shows its message, and one that fails with another error shows a general one', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind();
	const starter = jobs.define(kind);
	const [refused, faulty] = [await starter.start(ada, '', 'refused'), await starter.start(ada, '', 'faulty')];
	await jobs.poll();
	runs[0]?.fail(new Failure('unavailable', 'The disk is not there.'));
	runs[1]?.fail(new TypeError('x of undefined at /srv/secret'));
	t.like(await jobs.waitForEnd(ada, refused.id, minute), {
		status: 'failed',
		error: 'The disk is not there.',
		canRetry: true,
	});
	const { error } = (await jobs.waitForEnd(ada, faulty.id, minute)) ?? {};
	t.is(error, 'Something went wrong. The administrator finds details in the log.');
});

test('a queued job is cancelled at once; a running one is aborted and may report what it did', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind({ ignoresSignal: true });
	const starter = jobs.define(kind);
	const ids: string[] = [];
	for (const title of ['one', 'two', 'waits']) ids.push((await starter.start(ada, '', title)).id);
	await jobs.poll();
	for (const id of ids) await jobs.cancel(ada, id);
	t.like(await jobs.find(ada, ids[2] ?? ''), { status: 'cancelled', canRetry: true });
	for (const { context } of runs) t.true(context.signal.aborted && context.isCancelled);
	t.like(await jobs.find(ada, ids[0] ?? ''), { status: 'processing' });
	runs[0]?.fail(new Failure('conflict', 'Copied 2 of 3 items.'));
	runs[1]?.fail(runs[1].context.signal.reason);
	t.like(await jobs.waitForEnd(ada, ids[0] ?? '', minute), { status: 'cancelled', error: 'Copied 2 of 3 items.' });
	t.like(await jobs.waitForEnd(ada, ids[1] ?? '', minute), { status: 'cancelled', error: null });
	await jobs.cancel(ada, ids[0] ?? '');
	t.like(await jobs.find(ada, ids[0] ?? ''), { status: 'cancelled', error: 'Copied 2 of 3 items.' });
	await jobs.poll();
	t.is(runs.length, 2, 'a job that was cancelled in the queue never runs');
});

test('an interrupted job that is cancelled in the queue runs once more to clean up, even if no slot is free', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const one = bench.process();
	const here = heldKind({ concurrency: 1 });
	const { id } = await one.jobs.define(here.kind).start(ada, '', 'x');
	await one.jobs.poll();
	await here.runs[0]?.context.checkpoint({ staged: 'half' });
	await one.close();
	const two = bench.process();
	const there = heldKind({ concurrency: 1, ignoresSignal: true });
	const starter = two.jobs.define(there.kind);
	// A job of another user has the only slot.
	const bob = await bench.addUser('bob');
	await bench.database.jobs.add(
		{
			...{ id: 'f'.repeat(32), kind: 'test', userId: bob.id, network: 'none' },
			...{ title: '', input: '""', onRestart: 'resume', isLong: false, isOrdered: false },
		},
		{ jobs: 10, bytes: 1000 },
	);
	await bench.database.jobs.claim({ id: 'f'.repeat(32), holder: 'another', epoch: 1 }, 'test#0', 10_000);
	await two.jobs.poll();
	t.is(there.runs.length, 0);
	await two.jobs.cancel(ada, id);
	await two.jobs.poll();
	const [run] = there.runs;
	t.like(run?.context, { id, saved: { staged: 'half' }, isCancelled: true });
	t.true(run?.context.signal.aborted);
	run?.fail(new Failure('conflict', 'Copied 1 of 2 items.'));
	t.like(await two.jobs.waitForEnd(ada, id, minute), { status: 'cancelled', error: 'Copied 1 of 2 items.' });
	t.is((await starter.find(ada, id)).input, '');
});

test('a process can cancel a job that another one runs, await its end and retry it', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const [one, two] = [bench.process(), bench.process()];
	const here = heldKind();
	const there = heldKind();
	const starter = one.jobs.define(here.kind);
	two.jobs.define(there.kind);
	const { id } = await starter.start(ada, '', 'x');
	await one.jobs.poll();
	await two.jobs.cancel(ada, id);
	t.false(here.runs[0]?.context.signal.aborted);
	await one.jobs.poll();
	t.true(here.runs[0]?.context.isCancelled);
	const end = two.jobs.waitForEnd(ada, id, minute);
	await one.jobs.waitForEnd(ada, id, minute);
	await two.jobs.poll();
	t.like(await end, { status: 'cancelled' });
	const again = await two.jobs.retry(ada, id);
	t.like(again, { id, status: 'queued' });
	await two.jobs.poll();
	t.is(there.runs[0]?.context.attempt, 1);
});

test('a job that was started with a key is found in place of a second one, by its user and for its kind alone', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const [one, two] = [bench.process().jobs, bench.process().jobs];
	const { kind, runs } = heldKind({ onRestart: 'resume' });
	const [here, there] = [one.define(kind), two.define(heldKind({ onRestart: 'resume' }).kind)];
	const other = one.define(heldKind({ name: 'other' }).kind);
	const key = 'k'.repeat(22);
	t.is(await here.findByKey(ada, key), undefined);
	const starts = await Promise.all([
		...[here, there].flatMap((starter) => [
			starter.start(ada, 'x', 'x', { key }),
			starter.start(ada, 'x', 'x', { key }),
		]),
	]);
	const [id = '', ...others] = [...new Set(starts.map((job) => job.id))];
	t.deepEqual(others, []);
	t.is((await one.list(ada)).length, 1);
	t.like(await there.findByKey(ada, key), { job: { id }, input: 'x' });
	t.like(await there.findByKey(ada, key, { maxBytes: 3 }), { job: { id }, input: 'x' });
	await t.throwsAsync(there.findByKey(ada, key, { maxBytes: 2 }), { message: /was used for another request/ });
	await one.poll();
	runs[0]?.finish({});
	await until('it has ended', async () => (await one.find(ada, id)).endTime !== null);
	t.like(await there.start(ada, 'x', 'x', { key }), { id, status: 'completed' });
	for (const different of [
		await here.start(bob, 'x', 'x', { key }),
		await other.start(ada, 'x', 'x', { key }),
		await here.start(ada, 'x', 'x', { key: `${key}2` }),
		await here.start(ada, 'x', 'x'),
	])
		t.not(different.id, id);
	t.is((await here.findByKey(bob, key))?.job.title, 'x');
});

test('what failed jobs have saved is taken from them, but not from one that is tried again, nor of another user or kind', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const { jobs } = bench.process();
	const { kind, runs } = heldKind({ onRestart: 'resume', concurrency: 10 });
	const starter = jobs.define(kind);
	const other = heldKind({ name: 'other', onRestart: 'resume', concurrency: 10 });
	const otherStarter = jobs.define(other.kind);
	const ids: string[] = [];
	for (const owner of [ada, ada, ada, bob]) ids.push((await starter.start(owner, '', 'x')).id);
	await otherStarter.start(ada, '', 'x');
	await jobs.poll();
	for (const { context, fail } of [...runs, ...other.runs]) {
		await context.checkpoint({ of: context.id });
		fail(new Failure('storageFull', 'Full.'));
	}
	const [first = '', second = '', retried = '', his = ''] = ids;
	await until('all have failed', async () => (await jobs.list(ada)).every(({ endTime }) => endTime !== null));
	await until('his has failed', async () => (await jobs.find(bob, his)).endTime !== null);
	await jobs.retry(ada, retried);
	t.deepEqual(await starter.takeSaved(ada, (saved) => (saved as { of: string }).of === first), [{ of: first }]);
	t.deepEqual(await starter.takeSaved(ada, () => true), [{ of: second }]);
	t.deepEqual(await starter.takeSaved(ada, () => true), []);
	await jobs.poll();
	t.deepEqual(runs.at(-1)?.context.saved, { of: retried });
	t.is((await otherStarter.takeSaved(ada, () => true)).length, 1);
	t.deepEqual(await starter.takeSaved(bob, () => true), [{ of: his }]);
});

test('a job that lacks something for the moment waits, longer each time, and others do not wait for it', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const { jobs } = bench.process();
	const { kind, runs } = heldKind({ onRestart: 'resume', concurrency: 1 });
	const starter = jobs.define(kind);
	const { id } = await starter.start(ada, '', 'x');
	const away = () => new Failure('unavailable', 'The disk is away.', { retryAfter: 30 });
	const failNext = async () => {
		await jobs.poll();
		runs.at(-1)?.fail(away());
		await until('it is queued again', async () => (await jobs.find(ada, id)).status === 'queued');
	};
	await failNext();
	const { hold } = await jobs.find(ada, id);
	t.deepEqual(hold, { reason: 'The disk is away.', until: Date.UTC(2030, 0, 1) + 30_000 });
	const other = await starter.start(bob, '', 'y');
	await jobs.poll();
	t.is((await jobs.find(bob, other.id)).status, 'processing');
	runs.at(-1)?.finish();
	await until('the other one ends', async () => (await jobs.find(bob, other.id)).endTime !== null);
	for (const [waited, count] of [
		[29_000, 2],
		[1_000, 3],
	] as const) {
		bench.advance(waited);
		await jobs.poll();
		t.is(runs.length, count);
	}
	await failNext();
	bench.advance(59_000);
	await jobs.poll();
	t.is(runs.length, 3);
	// Who tries it again, or cancels it, does not wait.
	await jobs.cancel(ada, id);
	t.is((await jobs.find(ada, id)).status, 'cancelled');
	await jobs.retry(ada, id);
	await jobs.poll();
	t.is(runs.length, 4);
	// All of the attempts of a new one.
	while (runs.length < 23) {
		await failNext();
		bench.advance(10 * 60_000);
		await jobs.poll();
	}
	runs.at(-1)?.fail(away());
	await until('it is tried no more', async () => (await jobs.find(ada, id)).status === 'failed');
	t.is((await jobs.find(ada, id)).error, 'The disk is away.');
});

for (const [what, onRestart, failure] of [
	['of a kind that must not be repeated', 'fail', new Failure('unavailable', 'Away.', { retryAfter: 30 })],
	['whose failure does not say when to try again', 'resume', new Failure('unavailable', 'Away.')],
] as const) {
	test(`a job ${what} does not wait for what it lacks`, async (t) => {
		const bench = await jobBench(t);
		const ada = await bench.addUser('ada');
		const { jobs } = bench.process();
		const { kind, runs } = heldKind({ onRestart });
		const { id } = await jobs.define(kind).start(ada, '', 'x');
		await jobs.poll();
		runs[0]?.fail(failure);
		await until('it ends', async () => (await jobs.find(ada, id)).endTime !== null);
		t.like(await jobs.find(ada, id), { status: 'failed', error: 'Away.' });
	});
}

test('a job that is cancelled while it waits for a capability cleans up without that', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const lacks = new Set<string>();
	const { jobs } = bench.process(lacks);
	const { kind, runs } = heldKind({ onRestart: 'resume', needs: { capability: 'encoder', lack: 'No encoder.' } });
	const { id } = await jobs.define(kind).start(ada, '', 'x');
	await jobs.poll();
	await runs[0]?.context.checkpoint({ at: 1 });
	lacks.add('encoder');
	runs[0]?.fail(new Failure('unavailable', 'Away.', { retryAfter: 30 }));
	await until('it waits', async () => (await jobs.find(ada, id)).hold?.reason === 'No encoder.');
	bench.advance(60_000);
	await jobs.poll();
	t.is(runs.length, 1);
	await jobs.cancel(ada, id);
	await jobs.poll();
	await until('it cleans up', async () => (await jobs.find(ada, id)).status === 'cancelled');
	t.true(runs[1]?.context.isCancelled);
});

test('a process begins no job whose capability it lacks, and does once it has it', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const lacks = new Set(['encoder']);
	const needs = { capability: 'encoder', lack: 'There is no encoder right now.' };
	const [one, two] = [bench.process(lacks), bench.process()];
	const [here, there] = [heldKind({ needs }), heldKind({ needs })];
	const starter = one.jobs.define(here.kind);
	two.jobs.define(there.kind);
	const { id } = await starter.start(ada, '', 'x');
	await one.jobs.poll();
	t.like(await one.jobs.find(ada, id), { status: 'queued', hold: { reason: needs.lack, until: null } });
	t.like(await two.jobs.find(ada, id), { status: 'queued', hold: null });
	await two.jobs.poll();
	t.is(there.runs.length, 1);
	await starter.start(ada, '', 'y');
	lacks.clear();
	await one.jobs.poll();
	t.is(here.runs.length, 1);
});

test('a job that is tried again by another worker than the one where it waits does not wait', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const join = createSiblings();
	const events = [true, false].map((isLeader) => new SiblingEvents(join(isLeader)));
	const [one, two] = events.map((siblings) => bench.process(new Set(), new Set(), siblings).jobs);
	events.forEach((each, n) => void each.join(`worker ${n}`));
	if (one === undefined || two === undefined) throw new Error('There are two.');
	const [here, there] = [heldKind(), heldKind()];
	const { id } = await one.define(here.kind).start(ada, '', 'x');
	two.define(there.kind);
	await one.poll();
	here.runs[0]?.fail(new Failure('unavailable', 'Away.', { retryAfter: 600 }));
	const isHeld = async () => (await two.find(ada, id)).hold?.reason === 'Away.';
	await until('it waits at both', isHeld);
	await two.cancel(ada, id);
	await two.retry(ada, id);
	await until('it waits no more', async () => (await one.find(ada, id)).hold === null);
	await one.poll();
	t.is(here.runs.length, 2);
});

test('a job whose capability has been lacking for so long that it is not awaited any more fails with the reason', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const [lacks, givenUp] = [new Set<string>(), new Set<string>()];
	const { jobs } = bench.process(lacks, givenUp);
	const { kind, runs } = heldKind({ needs: { capability: 'encoder', lack: 'There is no encoder right now.' } });
	const { id } = await jobs.define(kind).start(ada, '', 'x');
	const gone = () => new Failure('unavailable', 'The encoder is not installed.', { retryAfter: 60 });
	await jobs.poll();
	lacks.add('encoder');
	runs[0]?.fail(gone());
	await until('it is queued again', async () => (await jobs.find(ada, id)).status === 'queued');
	bench.advance(10 * minute);
	givenUp.add('encoder');
	await jobs.poll();
	runs[1]?.fail(gone());
	await until('it has ended', async () => (await jobs.find(ada, id)).status !== 'processing');
	t.like(await jobs.find(ada, id), { status: 'failed', error: 'The encoder is not installed.' });
});

test('the concurrency of a kind holds over all processes, and each job runs once', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const processes = [bench.process(), bench.process(), bench.process()];
	let running = 0;
	let most = 0;
	const ran: string[] = [];
	const starters = processes.map(({ jobs }) =>
		jobs.define({
			...heldKind({ concurrency: 2, perUser: 100 }).kind,
			async run({ input }) {
				most = Math.max(most, ++running);
				ran.push(input);
				await new Promise((resolve) => setTimeout(resolve, 5));
				running--;
				return undefined;
			},
		}),
	);
	const inputs = Array.from({ length: 30 }, (_, n) => String(n));
	for (const input of inputs) await starters[0]?.start(ada, input, input);
	await until('all jobs have ended', async () => {
		await Promise.all(processes.map(({ jobs }) => jobs.poll()));
		return (await bench.database.jobs.list(100)).every(({ status }) => status === 'completed');
	});
	t.true(most <= 2, `${most} ran at once`);
	t.deepEqual(ran.sort(), inputs.sort());
});

test('runningPerUser holds over all processes and leaves slots for other users', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const limits = { concurrency: 3, runningPerUser: 2 };
	const [one, two] = [bench.process(), bench.process()];
	const [here, there] = [heldKind(limits), heldKind(limits)];
	const starter = one.jobs.define(here.kind);
	two.jobs.define(there.kind);
	for (let n = 0; n < 5; n++) await starter.start(ada, '', `ada ${n}`);
	await one.jobs.poll();
	await two.jobs.poll();
	t.is(here.runs.length + there.runs.length, 2, 'a slot stays free for other users');
	await starter.start(bob, '', 'bob');
	await two.jobs.poll();
	await one.jobs.poll();
	const running = [...here.runs, ...there.runs].map(({ context }) => context.viewer.username);
	t.deepEqual(running.sort(), ['ada', 'ada', 'bob']);
	here.runs[0]?.finish(undefined);
	await until('ada’s next job starts', async () => {
		await one.jobs.poll();
		return here.runs.length + there.runs.length === 4;
	});
});

test('with runningPerUser one of several places for short jobs is left to other users, also of another process', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const limits = { concurrency: 2, runningPerUser: 1, short: { places: 2, seconds: 60 } };
	const [one, two] = [bench.process(), bench.process()];
	const [here, there] = [heldKind(limits), heldKind(limits)];
	const starter = one.jobs.define(here.kind);
	two.jobs.define(there.kind);
	for (let n = 0; n < 4; n++) await starter.start(ada, '', `ada ${n}`);
	const running = async () => {
		await one.jobs.poll();
		await two.jobs.poll();
		return [...here.runs, ...there.runs].map(({ context }) => context.viewer.username).sort();
	};
	t.deepEqual(await running(), ['ada', 'ada']);
	for (let n = 0; n < 2; n++) await starter.start(bob, '', `bob ${n}`);
	t.deepEqual(await running(), ['ada', 'ada', 'bob', 'bob']);
	const ended = () =>
		[...here.runs, ...there.runs].flatMap(({ context: { signal, viewer } }) =>
			signal.aborted ? [`${viewer.username}: ${(signal.reason as Error).message}`] : [],
		);
	// Leases are renewed meanwhile.
	const pass = async (seconds: number) => {
		for (let n = 0; n < seconds; n += 5) {
			bench.advance(5000);
			await running();
		}
	};
	await pass(115);
	t.deepEqual(ended(), []);
	await pass(10);
	// Only she has jobs that wait, and may not have his place as well.
	t.deepEqual(ended(), ['ada: It waits for a place for long work.']);
	await until('her next one has its place', async () => (await running()).length === 5);
});

/** What it begins is for a request from the address, of anybody. */
function fromAddress<T>(address: string, run: () => Promise<T>): Promise<T> {
	const viewer = { kind: 'anonymous', access: 'read' } as const;
	const caller = { client: { address }, viewer, route: { path: '/' } };
	return runInContext({ request: { id: '', caller } }, run);
}

/** A stranger's accounts, each of which asks for three jobs. */
async function strangersAsk(bench: Bench, ask: (owner: JobOwner, name: string, nth: number) => Promise<unknown>) {
	for (let n = 0; n < 8; n++) {
		const owner = await bench.addUser(`stranger${n}`);
		for (let nth = 0; nth < 3; nth++) await ask(owner, `stranger${n}`, nth);
	}
}

for (const [what, address, another] of [
	['one address', '203.0.113.9', '203.0.113.9'],
	['one /48 of IPv6', '2001:db8:9:1::1', '2001:db8:9:ffff::2'],
] as const)
	test(`however many accounts ask from ${what}, others wait for one job of all these`, async (t) => {
		const bench = await jobBench(t);
		const { jobs } = bench.process();
		const { kind, runs } = heldKind({ concurrency: 1 });
		const starter = jobs.define(kind);
		await strangersAsk(bench, (owner, name, nth) =>
			fromAddress(nth === 0 ? address : another, () => starter.start(owner, name, name)),
		);
		await jobs.poll();
		const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
		// Of the addresses one comes before that of the strangers in any order, and one behind it.
		await fromAddress('1.1.1.1', () => starter.start(ada, 'ada', 'ada'));
		await fromAddress('9.9.9.9', () => starter.start(bob, 'bob', 'bob'));
		await fromAddress('9.9.9.9', () => starter.start(bob, 'bob', 'bob'));
		const order: string[] = [];
		for (let n = 1; n < 7; n++) {
			runs[n - 1]?.finish();
			await until('the next one runs', async () => {
				await jobs.poll();
				return runs.length === n + 1;
			});
			order.push(runs[n]?.context.input ?? '');
		}
		t.deepEqual(order.slice(0, 2).sort(), ['ada', 'bob']);
		t.deepEqual(order.slice(2, 4).filter((name) => name === 'bob').length, 1);
		// The accounts of the network have their turns among each other as before.
		const names = [runs[0]?.context.input ?? '', ...order].filter((name) => name.startsWith('stranger'));
		t.deepEqual([names.length, new Set(names).size], [4, 4]);
	});

test('of several places the last one goes to another network that waits, also of those for short jobs', async (t) => {
	const bench = await jobBench(t);
	const { jobs } = bench.process();
	const limits = { concurrency: 2, runningPerUser: 1, short: { places: 2, seconds: 60 } };
	const { kind, runs } = heldKind(limits);
	const starter = jobs.define(kind);
	await strangersAsk(bench, (owner, name, nth) =>
		fromAddress('203.0.113.9', () => starter.start(owner, name, name, { expectedSeconds: nth === 0 ? 7200 : 1 })),
	);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	await fromAddress('203.0.113.99', () => starter.start(ada, 'ada', 'ada', { expectedSeconds: 7200 }));
	await fromAddress('203.0.113.99', () => starter.start(bob, 'bob', 'bob'));
	await jobs.poll();
	const running = () => runs.filter(({ context }) => !context.signal.aborted).map(({ context }) => context.input);
	t.true(running().includes('ada'));
	t.true(running().includes('bob'));
});

test('people who share an address have all places as long as nobody else waits, each of them as many as a user has', async (t) => {
	const bench = await jobBench(t);
	const { jobs } = bench.process();
	const { kind, runs } = heldKind({ concurrency: 3, runningPerUser: 2, perUser: 10 });
	const starter = jobs.define(kind);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const ask = (owner: JobOwner, name: string, address: string) =>
		fromAddress(address, () => starter.start(owner, name, name));
	for (let n = 0; n < 4; n++) await ask(ada, 'ada', '203.0.113.9');
	await jobs.poll();
	t.is(runs.length, 2);
	await ask(bob, 'bob', '203.0.113.9');
	await ask(bob, 'bob', '203.0.113.9');
	await jobs.poll();
	t.deepEqual(
		runs.map(({ context }) => context.input),
		['ada', 'ada', 'bob'],
	);
	const carl = await bench.addUser('carl');
	await ask(carl, 'carl', '203.0.113.200');
	runs[0]?.finish();
	await until('the other network has its place', async () => {
		await jobs.poll();
		return runs.length === 4;
	});
	t.is(runs[3]?.context.input, 'carl');
});

/** One place for all, and one for jobs of at most a minute. */
const withShort = { concurrency: 1, short: { places: 1, seconds: 60 } };

test('short jobs run beside a long one, of the same user and of others in turn, and known long ones wait for it', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const { jobs } = bench.process();
	const { kind, runs } = heldKind(withShort);
	const starter = jobs.define(kind);
	const film = { expectedSeconds: 7200 };
	for (const title of ['film 1', 'film 2']) await starter.start(ada, title, title, film);
	for (const title of ['clip 1', 'clip 2']) await starter.start(ada, title, title, { expectedSeconds: 1 });
	bench.advance(1);
	await starter.start(bob, 'bobs clip', 'bobs clip');
	const begun = () => runs.map(({ context }) => context.input);
	const next = async (ended: number) => {
		runs[ended]?.finish();
		await until('the place is taken again', async () => {
			await jobs.poll();
			return runs.length === ended + 2;
		});
	};
	await jobs.poll();
	t.deepEqual(begun(), ['film 1', 'clip 1']);
	await next(1);
	await next(2);
	t.deepEqual(begun(), ['film 1', 'clip 1', 'bobs clip', 'clip 2']);
	runs[3]?.finish();
	await jobs.poll();
	t.is(runs.length, 4, 'the second film waits, although a place for short jobs is free');
});

test('a run that learns that it is long gives back a place for short jobs, keeps any other, and is no interruption', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const { jobs } = bench.process();
	const { kind, runs } = heldKind({ ...withShort, onRestart: 'fail' });
	const starter = jobs.define(kind);
	const first = await starter.start(ada, 'hers', 'hers');
	await jobs.poll();
	await runs[0]?.context.expect(7200);
	t.false(runs[0]?.context.signal.aborted, 'it has an ordinary place');
	const second = await starter.start(ada, 'her second', 'her second');
	bench.advance(1);
	const third = await starter.start(bob, 'his', 'his');
	await jobs.poll();
	t.is(runs[1]?.context.id, second.id);
	await runs[1]?.context.expect(60);
	t.false(runs[1]?.context.signal.aborted, 'a minute is short');
	await t.throwsAsync(async () => runs[1]?.context.expect(61), { message: /waits for a place/ });
	t.true(runs[1]?.context.signal.aborted);
	t.false(runs[1]?.context.isCancelled);
	await until('the next one has its place', async () => {
		await jobs.poll();
		return runs.length === 3;
	});
	t.is(runs[2]?.context.id, third.id);
	t.like(await jobs.find(ada, second.id), { status: 'queued', error: null });
	await t.throwsAsync(async () => runs[2]?.context.expect(7200));
	await until('it waits again', async () => (await jobs.find(bob, third.id)).status === 'queued');
	runs[0]?.finish();
	await jobs.waitForEnd(ada, first.id, minute);
	await until('the ordinary place is taken', async () => {
		await jobs.poll();
		return runs.length === 4;
	});
	// Her first film is over, and he has had none.
	t.is(runs[3]?.context.id, third.id);
	t.false(runs[3]?.context.signal.aborted);
});

test('a run that has a place for short jobs for twice as long gives it back once another one waits', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const { jobs } = bench.process();
	const { kind, runs } = heldKind(withShort);
	const starter = jobs.define(kind);
	await starter.start(ada, 'film', 'film', { expectedSeconds: 7200 });
	const slow = await starter.start(ada, 'slow', 'slow');
	await jobs.poll();
	const pass = async (seconds: number) => {
		for (let n = 0; n < seconds; n += 5) {
			bench.advance(5000);
			await jobs.poll();
		}
	};
	await pass(300);
	t.false(runs[1]?.context.signal.aborted, 'nobody waits for its place');
	await starter.start(bob, 'clip', 'clip');
	await until('the clip runs', async () => {
		await jobs.poll();
		return runs.length === 3;
	});
	t.true(runs[1]?.context.signal.aborted);
	t.is(runs[2]?.context.input, 'clip');
	t.like(await jobs.find(ada, slow.id), { status: 'queued' });
	runs[2]?.finish();
	await jobs.poll();
	t.is(runs.length, 3, 'it waits for an ordinary place now');
});

test('of the runs that have places for short jobs for too long as many give one back as jobs wait that may have it', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const [carl, dora] = [await bench.addUser('carl'), await bench.addUser('dora')];
	const { jobs } = bench.process();
	const limits = { concurrency: 2, runningPerUser: 1, short: { places: 2, seconds: 60 } };
	// Those that are told to end take a while for it.
	const { kind, runs } = heldKind({ ...limits, ignoresSignal: true });
	const starter = jobs.define(kind);
	const film = { expectedSeconds: 7200 };
	for (const owner of [ada, bob]) await starter.start(owner, 'film', 'film', film);
	for (const owner of [ada, bob]) await starter.start(owner, 'slow', 'slow');
	const pass = async (seconds: number) => {
		for (let n = 0; n < seconds; n += 5) {
			bench.advance(5000);
			await jobs.poll();
		}
	};
	await pass(125);
	t.deepEqual(runs.map(({ context }) => context.input).sort(), ['film', 'film', 'slow', 'slow']);
	const told = () => runs.filter(({ context }) => context.signal.aborted);
	t.is(told().length, 0, 'nobody waits');
	// One user may not have both places.
	for (const title of ['clip 1', 'clip 2']) await starter.start(carl, title, title);
	await pass(20);
	t.is(told().length, 1, 'the other one stays');
	const another = await starter.start(dora, 'clip', 'clip');
	await pass(20);
	t.is(told().length, 2);
	for (const run of told()) run.fail(run.context.signal.reason);
	await until('the clips run', async () => {
		await jobs.poll();
		return runs.length === 6;
	});
	t.deepEqual(
		runs
			.slice(4)
			.map(({ context }) => context.input)
			.sort(),
		['clip', 'clip 1'],
	);
	t.like(await jobs.find(dora, another.id), { status: 'processing' });
});

for (const told of ['gives back its place', 'is cancelled'] as const)
	test(`a run that ${told} and does not end takes no waiting job from those that would make room`, async (t) => {
		const bench = await jobBench(t);
		const [ada, bob, carol] = [await bench.addUser('ada'), await bench.addUser('bob'), await bench.addUser('carol')];
		const { jobs } = bench.process();
		const limits = { concurrency: 2, runningPerUser: 1, short: { places: 2, seconds: 10 } };
		const { kind, runs } = heldKind({ ...limits, ignoresSignal: true });
		const starter = jobs.define(kind);
		const pass = async (seconds: number) => {
			for (let n = 0; n < seconds; n += 5) {
				bench.advance(5000);
				await jobs.poll();
				for (const { context, fail } of runs)
					if (context.signal.aborted && context.input === 'healthy') fail(context.signal.reason);
			}
		};
		const film = { expectedSeconds: 7200 };
		for (const owner of [ada, bob]) await starter.start(owner, 'film', 'film', film);
		const hung = await starter.start(ada, 'hung', 'hung');
		await jobs.poll();
		await starter.start(bob, 'healthy', 'healthy');
		await pass(25);
		t.deepEqual(runs.map(({ context }) => context.input).sort(), ['film', 'film', 'healthy', 'hung']);
		if (told === 'is cancelled') await jobs.cancel(ada, hung.id);
		const { id } = await starter.start(carol, 'clip', 'clip');
		await pass(5);
		t.is((await jobs.find(carol, id)).status, 'queued', 'it will have the place of the run that was told to end');
		await pass(35);
		await until('the clip runs', async () => {
			await jobs.poll();
			return (await jobs.find(carol, id)).status === 'processing';
		});
		const inputsOfTold = () => runs.filter(({ context }) => context.signal.aborted).map(({ context }) => context.input);
		t.deepEqual(inputsOfTold().sort(), ['healthy', 'hung']);
		// The run that hangs counts for its user again, who may not have both places.
		await starter.start(ada, 'hers', 'hers');
		await pass(30);
		t.deepEqual(inputsOfTold().sort(), ['healthy', 'hung'], 'the clip, which is overdue, is not told');
	});

test('a job whose lease has expired is taken over and resumes from its checkpoint', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const [one, two] = [bench.process(), bench.process()];
	const here = heldKind({ ignoresSignal: true });
	const there = heldKind();
	const starter = one.jobs.define(here.kind);
	two.jobs.define(there.kind);
	const { id } = await starter.start(ada, 'x', 'x');
	await one.jobs.poll();
	const [old] = here.runs;
	await old?.context.checkpoint({ at: 5 });
	for (let n = 0; n < 20; n++) {
		bench.advance(1000);
		await one.jobs.poll();
		await two.jobs.poll();
	}
	t.is(there.runs.length, 0, 'the lease is renewed as long as its process polls');
	// As if its process were stopped.
	bench.advance(11_000);
	await two.jobs.poll();
	t.like(there.runs[0]?.context, { id, attempt: 2, saved: { at: 5 }, input: 'x' });
	await t.throwsAsync(async () => old?.context.checkpoint({ at: 6 }), { message: /Another process/ });
	await one.jobs.poll();
	t.true(old?.context.signal.aborted);
	t.false(old?.context.isCancelled);
	old?.finish({ by: 'the old one' });
	there.runs[0]?.finish({ by: 'the new one' });
	t.like(await two.jobs.waitForEnd(ada, id, minute), { status: 'completed', detail: { by: 'the new one' } });
});

test('a run that lost its lease and ends late does not affect the new run of its job', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const [one, two] = [bench.process(), bench.process()];
	const { kind, runs } = heldKind({ ignoresSignal: true });
	const { id } = await one.jobs.define(kind).start(ada, '', 'x');
	await one.jobs.poll();
	bench.advance(11_000);
	// This process does not define the kind: it releases the job for others.
	await two.jobs.poll();
	await one.jobs.poll();
	t.is(runs.length, 2);
	runs[0]?.finish({ by: 'the old one' });
	for (let n = 0; n < 20; n++) {
		bench.advance(1000);
		await one.jobs.poll();
		await two.jobs.poll();
	}
	t.is(runs.length, 2);
	t.false(runs[1]?.context.signal.aborted);
	runs[1]?.finish({ by: 'the new one' });
	t.like(await one.jobs.waitForEnd(ada, id, minute), { status: 'completed', detail: { by: 'the new one' } });
});

test('the job of a process that is known to have ended is taken over at once', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const [one, two] = [bench.process(), bench.process()];
	const here = heldKind({ concurrency: 1 });
	const there = heldKind({ concurrency: 1 });
	const starter = one.jobs.define(here.kind);
	two.jobs.define(there.kind);
	const { id } = await starter.start(ada, '', 'x');
	await one.jobs.poll();
	await two.jobs.poll();
	t.is(there.runs.length, 0);
	bench.markGone(0);
	await two.jobs.poll();
	t.like(there.runs[0]?.context, { id, attempt: 2 });
});

test('identities are unique, and hasEnded is true only for a process that has ended', async (t) => {
	const own = await identifyProcess();
	const other = await identifyProcess();
	t.not(own.name, other.name);
	t.false(await own.hasEnded(own.name));
	t.false(await own.hasEnded(other.name), 'a second identity of this process');
	for (const name of [
		'',
		'x',
		'0123456789abcdef',
		own.name.replace(/ \d+ /, ' 1 '),
		own.name.replace(/ [0-9a-f]{8}-/, ' ffffffff-'),
	])
		t.false(await own.hasEnded(name), name);
	const child = spawn('/bin/sh', ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'ignore'] });
	const ended = once(child, 'exit');
	const [, place = '', rest = ''] = /^(linux \S+ \d+) \d+ (.*)$/.exec(own.name) ?? [];
	const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
	const name = `${place} ${child.pid} ${stat.split(' ')[21]} ${rest.split(' ')[1]}`;
	t.false(await own.hasEnded(name));
	t.true(await own.hasEnded(`${place} ${child.pid} 1 ${rest.split(' ')[1]}`), 'the pid belonged to an earlier process');
	child.stdin.end();
	await ended;
	t.true(await own.hasEnded(name));
});

test('a run whose lease can’t be renewed is aborted when it expires, and runs again once the database is back', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind();
	const starter = jobs.define(kind);
	const { id } = await starter.start(ada, '', 'x');
	await jobs.poll();
	const { renew } = bench.database.jobs;
	bench.database.jobs.renew = () =>
		Promise.reject(new Failure('unavailable', 'The database is not available right now.'));
	for (let n = 0; n < 9; n++) {
		bench.advance(1000);
		await jobs.poll();
	}
	t.false(runs[0]?.context.signal.aborted);
	bench.advance(1000);
	await jobs.poll();
	t.true(runs[0]?.context.signal.aborted);
	bench.database.jobs.renew = renew;
	await until('the job runs again', async () => {
		await jobs.poll();
		return runs.length === 2;
	});
	t.is(runs[1]?.context.id, id);
});

for (const [onRestart, most] of [
	['resume', jobLimits.attempts],
	['restart', jobLimits.attempts],
	['fail', 1],
] as const) {
	test(`a job with onRestart ${onRestart} is begun ${most} times at most while its runs lose the database, and as often once it is tried again`, async (t) => {
		const bench = await jobBench(t);
		const ada = await bench.addUser('ada');
		const { jobs } = bench.process();
		const { kind, runs } = heldKind({ onRestart });
		const { id } = await jobs.define(kind).start(ada, '', 'x');
		await jobs.poll();
		// A kind may say what it has done before.
		const lost = () => {
			const cause = new DatabaseUnavailable(new Error('The connection was closed.'));
			return new Failure('unavailable', `Copied 1 of 3 items. ${cause.message}`, { cause });
		};
		const error = 'Copied 1 of 3 items. The database is not available right now.';
		const runsToTheEnd = async (before: number) => {
			for (let attempt = 1; attempt <= most; attempt++) {
				await until('the job runs', async () => {
					await jobs.poll();
					return runs.length === before + attempt;
				});
				const run = runs[before + attempt - 1];
				t.is(run?.context.attempt, attempt);
				run?.fail(lost());
			}
			t.like(await jobs.waitForEnd(ada, id, minute), { status: 'failed', error, canRetry: true });
		};
		await runsToTheEnd(0);
		await jobs.retry(ada, id);
		await runsToTheEnd(most);
	});
}

for (const [onRestart, status, saved] of [
	['resume', 'processing', { at: 1 }],
	['restart', 'processing', undefined],
	['fail', 'failed', undefined],
] as const) {
	test(`a stopping server waits for its runs; a job with onRestart ${onRestart} is ${status} after the restart`, async (t) => {
		const bench = await jobBench(t);
		const ada = await bench.addUser('ada');
		const one = bench.process();
		const here = heldKind({ onRestart, ignoresSignal: true });
		const { id } = await one.jobs.define(here.kind).start(ada, '', 'x');
		await one.jobs.poll();
		const [run] = here.runs;
		await run?.context.checkpoint({ at: 1 });
		let hasStopped = false;
		const stopping = one.close().then(() => {
			hasStopped = true;
		});
		await until('the run is aborted', () => run?.context.signal.aborted);
		t.false(run?.context.isCancelled);
		t.false(hasStopped);
		run?.fail(run.context.signal.reason);
		await stopping;
		const two = bench.process();
		const there = heldKind({ onRestart });
		two.jobs.define(there.kind);
		// At once: the lease was released.
		await two.jobs.poll();
		t.like(await two.jobs.find(ada, id), { status });
		t.deepEqual(there.runs[0]?.context.saved, saved);
		t.is(there.runs[0]?.context.attempt, onRestart === 'fail' ? undefined : 2);
	});

	test(`a job with onRestart ${onRestart} is ${status} after kill -9`, async (t) => {
		const bench = await jobBench(t);
		const ada = await bench.addUser('ada');
		const here = heldKind({ onRestart });
		const one = bench.process();
		const { id } = await one.jobs.define(here.kind).start(ada, '', 'x');
		await one.jobs.poll();
		await here.runs[0]?.context.checkpoint({ at: 1 });
		const two = bench.process();
		const there = heldKind({ onRestart });
		two.jobs.define(there.kind);
		await two.jobs.poll();
		t.is(there.runs.length, 0);
		bench.advance(11_000);
		await two.jobs.poll();
		t.like(await two.jobs.find(ada, id), { status });
		t.deepEqual(there.runs[0]?.context.saved, saved);
	});
}

test('a checkpoint is retried while the database is unavailable, and fails once the lease has expired', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind({ ignoresSignal: true });
	await jobs.define(kind).start(ada, '', 'x');
	await jobs.poll();
	const { checkpoint, find } = bench.database.jobs;
	let tries = 0;
	bench.database.jobs.checkpoint = async (...args) => {
		if (++tries <= 2) throw new Failure('unavailable', 'The database is not available right now.');
		return checkpoint(...args);
	};
	await runs[0]?.context.checkpoint(1);
	t.is(tries, 3);
	tries = Number.NEGATIVE_INFINITY;
	const failing = t.throwsAsync(async () => runs[0]?.context.checkpoint(2));
	bench.database.jobs.renew = () =>
		Promise.reject(new Failure('unavailable', 'The database is not available right now.'));
	bench.advance(10_000);
	await jobs.poll();
	await failing;
	t.is(bench.database.jobs.find, find);
	runs[0]?.fail(new Error('it ended'));
});

test('a checkpoint waits while the disk of the database is full', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind();
	const { id } = await jobs.define(kind).start(ada, '', 'x');
	await jobs.poll();
	const { checkpoint } = bench.database.jobs;
	let tries = 0;
	bench.database.jobs.checkpoint = async (...args) => {
		if (++tries <= 2) throw new Failure('storageFull', 'The disk of the database is full.');
		return checkpoint(...args);
	};
	await runs[0]?.context.checkpoint({ at: 1 });
	t.is(tries, 3);
	t.is(await bench.database.jobs.checkpointOf(id), '{"at":1}');
});

for (const [what, kind] of [
	['away', 'unavailable'],
	['full', 'storageFull'],
] as const) {
	test(`private work goes on while the database is ${what}, and what follows it waits for the lease`, async (t) => {
		const bench = await jobBench(t);
		const ada = await bench.addUser('ada');
		const { jobs } = bench.process();
		const { kind: ofWork, runs } = privateKind();
		const { id } = await jobs.define(ofWork).start(ada, '', 'x');
		await jobs.poll();
		const mend = breakJobs(bench.database.jobs, kind);
		for (let n = 0; n < 30; n++) {
			bench.advance(1000);
			await jobs.poll();
		}
		const [run] = runs;
		t.false(run?.context.signal.aborted);
		run?.finish();
		await new Promise(setImmediate);
		await jobs.poll();
		t.false(run?.hasGoneOn);
		mend();
		t.like(await jobs.waitForEnd(ada, id, minute), { status: 'completed' });
		t.is(runs.length, 1);
	});
}

for (const [what, kind] of [
	['away', 'unavailable'],
	['full', 'storageFull'],
] as const) {
	test(`a stopping server waits a while for what a run saves, and for its end, though the database is ${what}`, async (t) => {
		const bench = await jobBench(t);
		const ada = await bench.addUser('ada');
		const { jobs, close } = bench.process();
		const held = heldKind({ ignoresSignal: true });
		const starter = jobs.define(held.kind);
		const ids = [(await starter.start(ada, '', 'x')).id, (await starter.start(ada, '', 'y')).id];
		await jobs.poll();
		const [saves, ends] = ids.map((id) => held.runs.find(({ context }) => context.id === id));
		const mend = breakJobs(bench.database.jobs, kind);
		const saving = saves?.context.checkpoint({ at: 1 }).then(() => saves.fail(saves.context.signal.reason));
		ends?.finish();
		await new Promise(setImmediate);
		const closing = close();
		await until('the run is aborted', () => saves?.context.signal.aborted);
		setTimeout(mend, 700);
		await saving;
		await closing;
		t.is(await bench.database.jobs.checkpointOf(ids[0] ?? ''), '{"at":1}');
		t.like(await bench.database.jobs.find(ids[0] ?? ''), { status: 'queued' });
		t.like(await bench.database.jobs.find(ids[1] ?? ''), { status: 'completed' });
	});

	test(`a run whose private work is done, and whose server stops while the database is ${what}, still saves it`, async (t) => {
		const bench = await jobBench(t);
		const ada = await bench.addUser('ada');
		const { jobs, close } = bench.process();
		let finish = () => {};
		const work = new Promise<void>((resolve) => {
			finish = resolve;
		});
		let signal: AbortSignal | undefined;
		const { id } = await jobs
			.define({
				...heldKind().kind,
				async run(context) {
					signal = context.signal;
					await context.privately(() => work);
					await context.privately(() => context.checkpoint({ at: 1 }));
					throw signal.reason;
				},
			})
			.start(ada, '', 'x');
		await jobs.poll();
		await until('it runs', () => signal);
		const mend = breakJobs(bench.database.jobs, kind);
		bench.advance(11_000);
		finish();
		await new Promise(setImmediate);
		const closing = close();
		await until('the run is aborted', () => signal?.aborted);
		setTimeout(mend, 700);
		await closing;
		t.is(await bench.database.jobs.checkpointOf(id), '{"at":1}');
		t.like(await bench.database.jobs.find(id), { status: 'queued' });
	});
}

test('a checkpoint that waits for the database is given up by a job that is cancelled', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs, close } = bench.process();
	const { kind, runs } = heldKind({ ignoresSignal: true });
	const { id } = await jobs.define(kind).start(ada, '', 'x');
	await jobs.poll();
	const mend = breakJobs(bench.database.jobs, 'unavailable');
	const saving = t.throwsAsync(async () => runs[0]?.context.checkpoint({ at: 1 }));
	await new Promise(setImmediate);
	await jobs.cancel(ada, id);
	t.true(isFailure(await saving, 'unavailable'));
	const closing = close();
	const late = t.throwsAsync(async () => runs[0]?.context.checkpoint({ at: 1 }));
	t.true(isFailure(await late, 'unavailable'));
	mend();
	runs[0]?.fail(new Error('It ends.'));
	await closing;
	t.not(await bench.database.jobs.checkpointOf(id), '{"at":1}');
});

test('a run whose private work lasts longer than its lease does nothing more if another process has the job', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const [one, two] = [bench.process().jobs, bench.process().jobs];
	const [here, there] = [privateKind(), privateKind()];
	const { id } = await one.define(here.kind).start(ada, '', 'x');
	two.define(there.kind);
	await one.poll();
	await two.poll();
	// Only the first one has lost the database.
	const mend = breakJobs(bench.database.jobs, 'unavailable', ['process 0']);
	for (let n = 0; n < 11; n++) {
		bench.advance(1000);
		await one.poll();
		await two.poll();
	}
	t.is(there.runs.length, 1);
	t.false(here.runs[0]?.context.signal.aborted);
	here.runs[0]?.finish();
	await new Promise(setImmediate);
	mend();
	await until('it has found that', () => here.runs[0]?.context.signal.aborted);
	t.false(there.runs[0]?.context.signal.aborted);
	there.runs[0]?.finish();
	t.like(await two.waitForEnd(ada, id, minute), { status: 'completed' });
	t.true(there.runs[0]?.hasGoneOn);
	t.false(here.runs[0]?.hasGoneOn);
});

test('after an outage of the database a process takes no job over before its holder could renew the lease', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const [one, two] = [bench.process().jobs, bench.process().jobs];
	const [here, there] = [privateKind(), privateKind()];
	await one.define(here.kind).start(ada, '', 'x');
	two.define(there.kind);
	await one.poll();
	await two.poll();
	const outage = async () => {
		const mend = breakJobs(bench.database.jobs, 'unavailable');
		for (let n = 0; n < 15; n++) {
			bench.advance(1000);
			await one.poll();
			await two.poll();
		}
		mend();
	};
	const alone = async (seconds: number) => {
		for (let n = 0; n < seconds; n++) {
			bench.advance(1000);
			await two.poll();
		}
	};
	await outage();
	await alone(5);
	await one.poll();
	await alone(8);
	t.is(there.runs.length, 0);
	t.false(here.runs[0]?.context.signal.aborted);
	await outage();
	await alone(11);
	t.is(there.runs.length, 1);
});

test('a clock that is set takes no job from a process that lives, and those of one that has ended are taken over later', async (t) => {
	for (const jump of [8_000, 15_000, -120_000, 3_600_000]) {
		const bench = await jobBench(t);
		const ada = await bench.addUser('ada');
		const [one, two] = [bench.process().jobs, bench.process().jobs];
		const [here, there] = [heldKind(), heldKind({ ignoresSignal: true })];
		one.define(here.kind);
		const { id } = await two.define(there.kind).start(ada, '', 'x');
		await two.poll();
		const pass = async (seconds: number, processes: readonly (typeof one)[]) => {
			for (let n = 0; n < seconds; n++) {
				bench.advance(1000);
				for (const jobs of processes) await jobs.poll();
			}
		};
		await pass(20, [one, two]);
		bench.setClock(jump);
		await pass(20, [one, two]);
		t.is(here.runs.length, 0);
		t.false(there.runs[0]?.context.signal.aborted);
		t.deepEqual((await bench.database.jobs.listInterruptions()).interruptions, []);
		bench.setClock(jump);
		await pass(25, [one]);
		t.is(here.runs[0]?.context.id, id);
	}
});

test('a job whose lease can’t be renewed is aborted, and other jobs keep their leases', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind();
	const starter = jobs.define(kind);
	for (const title of ['one', 'two']) await starter.start(ada, '', title);
	await jobs.poll();
	const { renew } = bench.database.jobs;
	const failing = runs[0]?.context.id;
	bench.database.jobs.renew = async (run, ...args) => {
		if (run.id === failing) throw new Error('Data too long for column');
		return renew(run, ...args);
	};
	for (let n = 0; n < 20; n++) {
		bench.advance(1000);
		await jobs.poll();
	}
	t.true(runs[0]?.context.signal.aborted);
	t.false(runs[1]?.context.signal.aborted);
});

test('the end of a job is written again after a database error, and the job does not run twice', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind();
	const { id } = await jobs.define(kind).start(ada, '', 'x');
	await jobs.poll();
	const { end } = bench.database.jobs;
	let tries = 0;
	bench.database.jobs.end = async (...args) => {
		if (++tries === 1) throw new Failure('storageFull', 'The disk of the database is full.');
		return end(...args);
	};
	runs[0]?.finish({ size: 1 });
	t.like(await jobs.waitForEnd(ada, id, minute), { status: 'completed', detail: { size: 1 } });
	t.is(tries, 2);
	t.is(runs.length, 1);
});

test('a job that does not go on because the disk of the database is full says so until there is room', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { kind, runs } = heldKind({ concurrency: 1 });
	const [before, after] = [bench.process().jobs, bench.process().jobs];
	const starter = before.define(kind);
	after.define(kind);
	const ids = [(await starter.start(ada, '', 'x')).id, (await starter.start(ada, '', 'y')).id];
	await before.poll();
	bench.markGone(0);
	const { requeue, claim } = bench.database.jobs;
	const holds = async () => Promise.all(ids.map(async (id) => (await after.find(ada, id)).hold?.reason));
	const full = async () => {
		throw new Failure('storageFull', 'The disk of the database is full.');
	};
	const reason = 'The disk of the database is full. This goes on once there is room.';
	// The job of a process that was killed can't be given back, and then none can begin.
	bench.database.jobs.requeue = full;
	await after.poll();
	t.deepEqual(await holds(), [reason, reason]);
	t.like(await after.find(ada, ids[0] ?? ''), { status: 'processing' });
	bench.database.jobs.requeue = requeue;
	bench.database.jobs.claim = full;
	bench.advance(3000);
	await after.poll();
	t.deepEqual(await holds(), [reason, reason]);
	bench.database.jobs.claim = claim;
	await after.poll();
	t.false((await holds()).includes(reason));
	t.is(runs.length, 2);
});

test('a job is published to its owner’s pages at most twice a second, its last state always and no state twice', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const bob = await bench.addUser('bob');
	const { jobs, notificationsOf } = bench.process();
	const { kind, runs } = heldKind();
	const starter = jobs.define(kind);
	const forAda = notificationsOf(ada);
	const forBob = notificationsOf(bob);
	const seen = (items: typeof forAda) =>
		items.map((item) => (item.kind === 'job' ? [item.job.status, item.job.done] : []));
	await starter.start(ada, '', 'x');
	await until('the job is published', () => forAda.length === 1);
	await jobs.poll();
	for (let done = 1; done <= 100; done++) {
		bench.advance(10);
		runs[0]?.context.progress({ done, total: 100, unit: 'items' });
		await jobs.poll();
	}
	bench.advance(500);
	await jobs.poll();
	await until('the last state is published', () => seen(forAda).at(-1)?.[1] === 100);
	t.true(forAda.length <= 5, JSON.stringify(seen(forAda)));
	const before = forAda.length;
	for (let n = 0; n < 5; n++) {
		bench.advance(1000);
		await jobs.poll();
	}
	t.is(forAda.length, before, 'nothing is published without a change');
	t.deepEqual(forBob, []);
});

test('pages at one process get the states of a job that another process runs, each once', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const [one, two] = [bench.process(), bench.process()];
	const { kind, runs } = heldKind();
	const starter = one.jobs.define(kind);
	const items = two.notificationsOf(ada);
	const receives = (status: string, done: number) =>
		until(`${status} ${done}`, async () => {
			bench.advance(500);
			await one.jobs.poll();
			await two.jobs.poll();
			return items.some((item) => item.kind === 'job' && item.job.status === status && item.job.done === done);
		});
	await starter.start(ada, '', 'x');
	await receives('processing', 0);
	runs[0]?.context.progress({ done: 3, total: 9, unit: 'items' });
	await receives('processing', 3);
	runs[0]?.finish();
	await receives('completed', 3);
	const states = items.map((item) => JSON.stringify(item));
	t.is(new Set(states).size, states.length);
});

test('a job whose process ended during each of three runs fails', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const one = bench.process();
	const { id } = await one.jobs.define(heldKind().kind).start(ada, '', 'x');
	let runs = 0;
	await until('the job fails', async () => {
		const { jobs } = bench.process();
		const { kind, runs: begun } = heldKind();
		jobs.define(kind);
		await jobs.poll();
		runs += begun.length;
		bench.advance(11_000);
		return (await jobs.find(ada, id)).status === 'failed';
	});
	t.is(runs, 3);
	t.regex((await one.jobs.find(ada, id)).error ?? '', /ended 3 times/);
});

test('a failed job is retried from its checkpoint; a queued, running or completed one can’t be retried', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind();
	const { id } = await jobs.define(kind).start(ada, 'x', 'x');
	await t.throwsAsync(() => jobs.retry(ada, id), { message: 'This can’t be tried again.' });
	await jobs.poll();
	await runs[0]?.context.checkpoint([1, 2]);
	await t.throwsAsync(() => jobs.retry(ada, id), { message: 'This can’t be tried again.' });
	runs[0]?.fail(new Failure('storageFull', 'The disk is full.'));
	t.like(await jobs.waitForEnd(ada, id, minute), { status: 'failed', canRetry: true });
	t.like(await jobs.retry(ada, id), { status: 'queued', error: null, endTime: null });
	await jobs.poll();
	t.like(runs[1]?.context, { attempt: 1, saved: [1, 2], input: 'x' });
	runs[1]?.finish();
	t.like(await jobs.waitForEnd(ada, id, minute), { status: 'completed', canRetry: false });
	await t.throwsAsync(() => jobs.retry(ada, id), { message: 'This can’t be tried again.' });
});

test('too large inputs and checkpoints and too many jobs are refused; a long title is cut, a large detail left out', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind({ perUser: 1 });
	const starter = jobs.define(kind);
	const large = await t.throwsAsync(() => starter.start(ada, 'x'.repeat(8 * 1024 * 1024), 'x'));
	t.true(isFailure(large, 'tooLarge'));
	const { id, title } = await starter.start(ada, 'x', `\0${'ä'.repeat(5000)}`);
	t.true(Buffer.byteLength(title) <= 1000 && title.endsWith('ä…'), title);
	const many = await t.throwsAsync(() => starter.start(ada, 'x', 'x'));
	t.true(isFailure(many, 'rateLimited'));
	await jobs.poll();
	const [run] = runs;
	const saved = await t.throwsAsync(async () => run?.context.checkpoint('x'.repeat(1024 * 1024)));
	t.true(isFailure(saved, 'tooLarge'));
	run?.context.progress({ done: Number.NaN, total: -1, unit: 'items', detail: { text: 'x'.repeat(20_000) } });
	t.like(await jobs.find(ada, id), { done: 0, total: 0, detail: null, timeLeft: null });
	run?.finish({ text: 'x'.repeat(20_000) });
	t.like(await jobs.waitForEnd(ada, id, minute), { status: 'completed', detail: null });
});

test('a job whose stored input does not match the schema of its kind fails', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind } = heldKind();
	const { id } = await jobs.define(kind).start(ada, 5 as unknown as string, 'x');
	await jobs.poll();
	t.like(await jobs.waitForEnd(ada, id, minute), { status: 'failed' });
});

test('the jobs of a disabled user are cancelled, and no new one starts', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const { jobs } = bench.process();
	const { kind, runs } = heldKind({ concurrency: 1 });
	const starter = jobs.define(kind);
	const first = await starter.start(ada, '', 'runs');
	await jobs.poll();
	const second = await starter.start(ada, '', 'waits');
	const bobsJob = await starter.start(bob, 'bob', 'bob');
	await bench.database.users.setDisabled(ada.id, true);
	await jobs.poll();
	t.true(runs[0]?.context.isCancelled);
	await jobs.waitForEnd(ada, first.id, minute);
	t.like(await jobs.find(ada, second.id), { status: 'cancelled' });
	await jobs.poll();
	t.is(runs[1]?.context.id, bobsJob.id);
	const error = await t.throwsAsync(() => starter.start(ada, '', 'late'));
	t.true(isFailure(error, 'notFound'));
});

test('a user can’t find, cancel, retry or await another user’s job', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const { jobs } = bench.process();
	const { kind, runs } = heldKind();
	const { id } = await jobs.define(kind).start(ada, '', 'x');
	await jobs.poll();
	const calls = [
		() => jobs.find(bob, id),
		() => jobs.cancel(bob, id),
		() => jobs.retry(bob, id),
		() => jobs.waitForEnd(bob, id, 0),
		...['', id.toUpperCase(), `${id} `, 'a\0', '%', '😀'.repeat(1000)].map((wrong) => () => jobs.find(ada, wrong)),
	];
	for (const call of calls) {
		const error = await t.throwsAsync(call);
		t.true(isFailure(error, 'notFound'), String(error));
	}
	t.deepEqual(await jobs.list(bob), []);
	t.false(runs[0]?.context.signal.aborted);
});

test('a job of the administrator’s is shown to its user, who can neither cancel nor retry it', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const { kind, runs } = heldKind();
	const starter = jobs.define(kind);
	const { id, canCancel } = await starter.start(ada, '', 'x', { orderedBy: 'administrator' });
	t.false(canCancel);
	t.true((await starter.start(ada, '', 'her own')).canCancel);
	t.is((await jobs.list(ada)).length, 2);
	const isRefused = async (call: () => Promise<unknown>, action: string) => {
		const error = await t.throwsAsync(call);
		t.true(isFailure(error, 'forbidden'), String(error));
		t.regex(error?.message ?? '', new RegExp(`only the administrator can ${action} it`));
	};
	await isRefused(() => jobs.cancel(ada, id), 'cancel');
	await jobs.poll();
	await isRefused(() => jobs.cancel(ada, id), 'cancel');
	t.false(runs[0]?.context.signal.aborted);
	t.like(await jobs.cancelAny(id), { job: { id }, isChanged: true });
	t.like(await jobs.cancelAny(id), { job: { endTime: null }, isChanged: false }, 'it ends already');
	t.true(runs[0]?.context.isCancelled);
	t.like(await jobs.waitForEnd(ada, id, minute), { status: 'cancelled', canRetry: false, canCancel: false });
	await jobs.cancel(ada, id);
	await isRefused(() => jobs.retry(ada, id), 'retry');
	await jobs.retryAny(id);
	t.like(await jobs.find(ada, id), { status: 'queued' });
	await bench.database.users.setDisabled(ada.id, true);
	await t.throwsAsync(() => jobs.retryAny(id), { message: 'ada is disabled.' });
	await bench.database.users.remove(ada.id);
	await t.throwsAsync(() => jobs.retryAny(id), { message: 'Its user is no longer there.' });
});

test('what waits for a user keeps no order of the administrator’s out', async (t) => {
	const bench = await jobBench(t);
	const ada = await bench.addUser('ada');
	const { jobs } = bench.process();
	const starter = jobs.define(heldKind().kind);
	const large = 'x'.repeat(8 * 1024 * 1024 - 10);
	for (let n = 0; n < 3; n++) await starter.start(ada, large, 'x');
	const refused = await t.throwsAsync(() => starter.start(ada, large, 'x').then(() => starter.start(ada, large, 'x')));
	t.true(isFailure(refused, 'rateLimited'));
	await t.notThrowsAsync(() => starter.start(ada, large, 'x', { orderedBy: 'administrator' }));
});

test('a kind finds its own jobs with their inputs, including ended ones, and no others', async (t) => {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	const { jobs } = bench.process();
	const { kind, runs } = heldKind();
	const starter = jobs.define(kind);
	const other = jobs.define(heldKind({ name: 'other' }).kind);
	const { id } = await starter.start(ada, 'input', 'x');
	t.like(await starter.find(ada, id), { input: 'input', job: { id, status: 'queued' } });
	await jobs.poll();
	runs[0]?.finish();
	await jobs.waitForEnd(ada, id, minute);
	t.like(await starter.find(ada, id), { input: 'input', job: { id, status: 'completed' } });
	for (const call of [() => starter.find(bob, id), () => other.find(ada, id), () => starter.find(ada, 'x')]) {
		const error = await t.throwsAsync(call);
		t.true(isFailure(error, 'notFound'));
	}
});

test('a second kind of the same name is refused', async (t) => {
	const bench = await jobBench(t);
	const { jobs } = bench.process();
	jobs.define(heldKind().kind);
	t.throws(() => jobs.define(heldKind().kind), { message: /Two plugins define the kind of job 'test'/ });
});
