import { setImmediate as nextRound } from 'node:timers/promises';
import { Failure, isFailure } from '@stowage/rules';
import test from 'ava';
import { Semaphore } from '../src/limits/Semaphore.js';

test('at most the allowed number of calls run at once, and all finish in order', async (t) => {
	const semaphore = new Semaphore(2);
	const finished: number[] = [];
	let running = 0;
	let most = 0;
	await Promise.all(
		Array.from({ length: 60 }, (_, number) =>
			semaphore.run(async () => {
				most = Math.max(most, ++running);
				for (let rounds = 0; rounds < 3; rounds++) await nextRound();
				running--;
				finished.push(number);
			}),
		),
	);
	t.is(most, 2);
	t.deepEqual(
		finished,
		Array.from({ length: 60 }, (_, number) => number),
	);
});

test('a call to a full queue is refused at once', async (t) => {
	const semaphore = new Semaphore(1, (waiting) => {
		if (waiting === 2) throw new Failure('unavailable', 'Too many wait.');
	});
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	const admitted = [1, 2, 3].map(() => semaphore.run(() => released));
	const error = await t.throwsAsync(() => semaphore.run(async () => t.fail()));
	t.true(isFailure(error, 'unavailable'), String(error));
	release();
	await Promise.all(admitted);
	t.is(await semaphore.run(async () => 'done'), 'done');
});

test('a failed call frees its place and throws its own error', async (t) => {
	const semaphore = new Semaphore(1);
	const work = [1, 2, 3].map((number) =>
		semaphore.run(async () => {
			throw new Error(`work ${number}`);
		}),
	);
	const reasons = (await Promise.allSettled(work)).map(
		(result) => result.status === 'rejected' && result.reason.message,
	);
	t.deepEqual(reasons, ['work 1', 'work 2', 'work 3']);
	t.is(await semaphore.run(async () => 'done'), 'done');
});
