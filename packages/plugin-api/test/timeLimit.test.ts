import { mock } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { timeLimit } from '../src/limits/timeLimit.js';

test('a time limit that is longer than a timer can wait does not fire at once', async (t) => {
	const limits = [2 ** 31 - 1, 2 ** 31, 2 ** 32, 10 ** 12].map((ms) => timeLimit(ms));
	await wait(50);
	t.deepEqual(
		limits.map(({ aborted }) => aborted),
		[false, false, false, false],
	);
});

test('a time limit of several timers fires when all of its time is over', (t) => {
	const maxTimerMs = 2 ** 31 - 1;
	let passed = 0;
	mock.timers.enable({ apis: ['setTimeout'] });
	mock.method(performance, 'now', () => passed);
	t.teardown(() => mock.reset());
	const limit = timeLimit(2 * maxTimerMs + 1000);
	for (const ms of [maxTimerMs, maxTimerMs, 999]) {
		passed += ms;
		mock.timers.tick(ms);
		t.false(limit.aborted);
	}
	passed++;
	mock.timers.tick(1);
	t.is(limit.reason.name, 'TimeoutError');
});

test('a time limit that is known to another signal only fires, whatever is collected as garbage meanwhile', async (t) => {
	setFlagsFromString('--expose-gc');
	const collect: () => void = runInNewContext('gc');
	const either = AbortSignal.any([new AbortController().signal, timeLimit(200)]);
	let isFired = false;
	either.addEventListener('abort', () => {
		isFired = true;
	});
	for (let n = 0; n < 4; n++) {
		await wait(100);
		collect();
	}
	t.true(isFired);
	t.is(either.reason.name, 'TimeoutError');
});
