import { readFile, stat } from 'node:fs/promises';
import { Failure } from '@stowage/rules';
import test from 'ava';
import { inTime } from '../../src/limits/inTime.js';

const late = new Failure('unavailable', 'Too late.');

test('work that hangs is waited for as long as it may take, and what it does later is nobody’s', async (t) => {
	t.is(await t.throwsAsync(inTime(new Promise(() => {}), 20, late)), late);
	t.is(await inTime(Promise.resolve('done'), 20, late), 'done');
});

test('work that is answered while this process is busy is not late', async (t) => {
	const work = inTime(readFile('package.json', 'utf8'), 50, late);
	for (const end = performance.now() + 200; performance.now() < end; );
	t.regex(await work, /stowage/);
});

test('work in many steps is not late where this process is busy before it sees the answer of each', async (t) => {
	const steps = async () => {
		for (let step = 0; step < 15; step++) {
			await stat('package.json');
			for (const end = performance.now() + 120; performance.now() < end; );
		}
		return 'done';
	};
	t.is(await inTime(steps(), 1000, late), 'done');
});
