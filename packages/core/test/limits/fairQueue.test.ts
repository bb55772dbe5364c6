import { setImmediate } from 'node:timers/promises';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { Budget } from '../../src/limits/Budget.js';
import { FairQueue } from '../../src/limits/FairQueue.js';

const queueOf = (limits: Partial<FairQueue['limits']> = {}) =>
	new FairQueue({ running: 2, runningPerClient: 2, waiting: 100, waitingPerClient: 50, ...limits }, 'Too busy.');

/** Work that is under way until it is ended, noting who began. */
function heldWork() {
	const begun: string[] = [];
	const ends: (() => void)[] = [];
	return {
		begun,
		work: (name: string) => () => {
			begun.push(name);
			return new Promise<void>((resolve) => ends.push(resolve));
		},
		async endFirst() {
			await setImmediate();
			ends.shift()?.();
			for (let round = 0; round < 5; round++) await setImmediate();
		},
	};
}

test('a client with one piece of work is served before the rest of one with many', async (t) => {
	const queue = queueOf();
	const { begun, work, endFirst } = heldWork();
	for (let count = 0; count < 20; count++) void queue.run('flood', work('flood'));
	void queue.run('honest', work('honest'));
	await endFirst();
	await endFirst();
	t.deepEqual(begun, ['flood', 'flood', 'flood', 'honest']);
});

test('one client never has more than its places', async (t) => {
	const queue = queueOf({ running: 4, runningPerClient: 1 });
	const { begun, work, endFirst } = heldWork();
	for (const name of ['a', 'a', 'a', 'b']) void queue.run(name, work(name));
	await setImmediate();
	t.deepEqual(begun, ['a', 'b']);
	await endFirst();
	t.deepEqual(begun, ['a', 'b', 'a']);
});

test('beyond the bounds of waiting the client is refused, and then everybody', async (t) => {
	const queue = queueOf({ running: 1, waiting: 3, waitingPerClient: 2 });
	const { work } = heldWork();
	for (let count = 0; count < 3; count++) void queue.run('a', work('a'));
	t.true(isFailure(await t.throwsAsync(queue.run('a', work('a'))), 'rateLimited'));
	void queue.run('b', work('b'));
	t.true(isFailure(await t.throwsAsync(queue.run('c', work('c'))), 'unavailable'));
});

test('who leaves while waiting holds no place, and failed work gives its place back', async (t) => {
	const queue = queueOf({ running: 1 });
	const { begun, work, endFirst } = heldWork();
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
	t.deepEqual(begun, ['a', 'd']);
	await last;
});

test('a budget bounds each client and all together, and what is given back can be taken again', (t) => {
	const budget = new Budget({ total: 10, perClient: 6 }, 'Too much.');
	const giveBack = budget.take('a', 6);
	t.true(
		isFailure(
			t.throws(() => budget.take('a', 1)),
			'rateLimited',
		),
	);
	t.true(
		isFailure(
			t.throws(() => budget.take('b', 5)),
			'unavailable',
		),
	);
	budget.take('b', 4);
	giveBack();
	giveBack();
	t.notThrows(() => budget.take('c', 6));
	t.throws(() => budget.take('d', 1));
});
