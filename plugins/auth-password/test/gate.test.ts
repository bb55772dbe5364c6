import { setImmediate as turn } from 'node:timers/promises';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { createGate } from '../src/gate.js';

test('never more than the allowed number run, and all that were let in finish in order', async (t) => {
	const gate = createGate({ running: 2, waiting: 64 });
	const finished: number[] = [];
	let running = 0;
	let most = 0;
	await Promise.all(
		Array.from({ length: 60 }, (_, number) =>
			gate.run(async () => {
				most = Math.max(most, ++running);
				for (let turns = 0; turns < 3; turns++) await turn();
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

test('who finds the queue full is told at once when to come back', async (t) => {
	const gate = createGate({ running: 1, waiting: 2 });
	let open = () => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	const inside = [1, 2, 3].map(() => gate.run(() => opened));
	const error = await t.throwsAsync(() => gate.run(async () => t.fail()));
	t.true(isFailure(error, 'unavailable') && error.retryAfter === 2, String(error));
	open();
	await Promise.all(inside);
	t.is(await gate.run(async () => 'in'), 'in');
});

test('work that fails frees its place, and the error is its own', async (t) => {
	const gate = createGate({ running: 1, waiting: 4 });
	const work = [1, 2, 3].map((number) =>
		gate.run(async () => {
			throw new Error(`work ${number}`);
		}),
	);
	const reasons = (await Promise.allSettled(work)).map(
		(result) => result.status === 'rejected' && result.reason.message,
	);
	t.deepEqual(reasons, ['work 1', 'work 2', 'work 3']);
	t.is(await gate.run(async () => 'in'), 'in');
});
