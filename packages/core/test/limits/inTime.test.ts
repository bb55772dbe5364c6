import { readFile } from 'node:fs/promises';
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
