import { setImmediate } from 'node:timers/promises';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { Budget } from '../../src/limits/Budget.js';
import { FairQueue } from '../../src/limits/FairQueue.js';

const queueOf = (limits: Partial<FairQueue['limits']> = {}) =>
	new FairQueue({ running: 2, runningPerClient: 2, waiting: 100, waitingPerClient: 50, ...limits }, 'Too busy.');

/** Tasks that run until the test ends them; `started` has the names of those that started, in order. */
function heldWork() {
	const started: string[] = [];
	const ends: (() => void)[] = [];
	return {
		started,
		work: (name: string) => () => {
			started.push(name);
			return new Promise<void>((resolve) => ends.push(resolve));
		},
		async endFirst() {
			await setImmediate();
			ends.shift()?.();
			for (let round = 0; round < 5; round++) await setImmediate();
		},
	};
}

test('clients are served round robin: a single task starts before the rest of a flood', async (t) => {
	const queue = queueOf();
	const { started, work, endFirst } = heldWork();
	for (let count = 0; count < 20; count++) void queue.run('flood', work('flood'));
	void queue.run('honest', work('honest'));
	await endFirst();
	await endFirst();
	t.deepEqual(started, ['flood', 'flood', 'flood', 'honest']);
});

test('a client never runs more tasks at once than runningPerClient', async (t) => {
	const queue = queueOf({ running: 4, runningPerClient: 1 });
	const { started, work, endFirst } = heldWork();
	for (const name of ['a', 'a', 'a', 'b']) void queue.run(name, work(name));
	await setImmediate();
	t.deepEqual(started, ['a', 'b']);
	await endFirst();
	t.deepEqual(started, ['a', 'b', 'a']);
});

test('a client over its limit of waiting tasks is refused as rateLimited, any client over the total as unavailable', async (t) => {
	const queue = queueOf({ running: 1, waiting: 3, waitingPerClient: 2 });
	const { work } = heldWork();
	for (let count = 0; count < 3; count++) void queue.run('a', work('a'));
	t.true(isFailure(await t.throwsAsync(queue.run('a', work('a'))), 'rateLimited'));
	void queue.run('b', work('b'));
	t.true(isFailure(await t.throwsAsync(queue.run('c', work('c'))), 'unavailable'));
});

test('a task that is aborted while it waits leaves the queue, and a failed one frees its slot', async (t) => {
	const queue = queueOf({ running: 1 });
	const { started, work, endFirst } = heldWork();
	void queue.run('a', work('a'));
	const leaving = new AbortController();
	const left = queue.run('b', work('b'), leaving.signal);
	const failing = queue.run('c', async () => {
		throw new Error('failed');
	});
	const last = queue.run('d', work('d'));
	leaving.abort(new Error('gone'));
	await t.throwsAsync(left, { message: 'gone' });
	const failed = t.throwsAsync(failing, { message: 'failed' });
	await endFirst();
	await failed;
	await endFirst();
	t.deepEqual(started, ['a', 'd']);
	await last;
});

test('a budget limits each client and the total, and a released amount can be taken again, once', (t) => {
	const budget = new Budget({ total: 10, perClient: 6 }, 'Too much.');
	const release = budget.reserve('a', 6);
	t.true(
		isFailure(
			t.throws(() => budget.reserve('a', 1)),
			'rateLimited',
		),
	);
	t.true(
		isFailure(
			t.throws(() => budget.reserve('b', 5)),
			'unavailable',
		),
	);
	budget.reserve('b', 4);
	release();
	release();
	t.notThrows(() => budget.reserve('c', 6));
	t.throws(() => budget.reserve('d', 1));
});
