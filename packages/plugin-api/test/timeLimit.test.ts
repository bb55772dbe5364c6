import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
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

test('a time limit of several timers fires when all of its time is over', async (t) => {
	// Those of a limit keep no process running.
	const timer = setInterval(() => {}, 1000);
	t.teardown(() => clearInterval(timer));
	const begun = performance.now();
	for (const limit of [timeLimit(95, 20), timeLimit(95)]) {
		if (!limit.aborted) await once(limit, 'abort');
		t.true(performance.now() - begun >= 90);
		t.is(limit.reason.name, 'TimeoutError');
	}
});
