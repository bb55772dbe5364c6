import { setImmediate as nextRound } from 'node:timers/promises';
import test from 'ava';
import { RequestScheduler } from '../../src/http/connections/RequestScheduler.js';

test('requests to an idle server start at once', (t) => {
	const scheduler = new RequestScheduler();
	const started: number[] = [];
	for (let n = 0; n < 8; n++) scheduler.add('a', () => started.push(n));
	t.deepEqual(started, [0, 1, 2, 3, 4, 5, 6, 7]);
});

test('requests start round robin by client, and those of one client in order', async (t) => {
	const scheduler = new RequestScheduler();
	const started: string[] = [];
	for (let n = 0; n < 100; n++) scheduler.add('many', () => started.push(`many ${n}`));
	scheduler.add('one', () => started.push('one'));
	await nextRound();
	t.is(started.length, 16, 'eight start in each round');
	t.is(started.indexOf('one'), 9);
	for (let round = 0; round < 20; round++) await nextRound();
	t.deepEqual(
		started.filter((name) => name !== 'one'),
		Array.from({ length: 100 }, (_, n) => `many ${n}`),
	);
});

test('a request starts at once, after those that waited, if its round has room left', async (t) => {
	const scheduler = new RequestScheduler();
	const started: string[] = [];
	for (let n = 0; n < 9; n++) scheduler.add('a', () => started.push('a'));
	await nextRound();
	scheduler.add('b', () => started.push('b'));
	t.is(started.length, 10, 'the round has room left');
	t.is(started.at(-1), 'b');
});

test('while connections arrive, accepting them has priority over starting requests, but some start', async (t) => {
	const scheduler = new RequestScheduler();
	let started = 0;
	const rounds: number[] = [];
	for (let round = 0; round < 40; round++) {
		scheduler.onConnection();
		scheduler.add('many', () => started++);
		await nextRound();
		rounds.push(started);
	}
	t.is(rounds[7], 0, 'at first connections are only accepted');
	t.true(started > 0 && started <= 10, `${started} were started: not none, and not as many as arrived`);
	for (let round = 0; round < 20; round++) await nextRound();
	t.is(started, 40, 'then all are started');
});
