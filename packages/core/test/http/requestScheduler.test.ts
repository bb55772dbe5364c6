import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import test from 'ava';
import { RequestScheduler } from '../../src/http/connections/RequestScheduler.js';
import { RunningRequests } from '../../src/http/connections/RunningRequests.js';
import { waitsForClient } from '../../src/http/connections/unreadBody.js';
import { until } from '../until.js';

/** A scheduler whose processor is never used up, however busy that of the test's machine is. */
const onQuietProcessor = () => new RequestScheduler(new RunningRequests({ now: () => 0, busyShare: () => 0 }));

test('requests to an idle server start at once', (t) => {
	const scheduler = onQuietProcessor();
	const started: number[] = [];
	for (let n = 0; n < 8; n++) scheduler.add('a', () => started.push(n));
	t.deepEqual(started, [0, 1, 2, 3, 4, 5, 6, 7]);
});

test('requests start round robin by client, and those of one client in order', async (t) => {
	const scheduler = onQuietProcessor();
	const started: string[] = [];
	const add = (client: string, name: string) => {
		const ended = scheduler.add(client, () => {
			started.push(name);
			setImmediate(() => ended());
		});
	};
	for (let n = 0; n < 100; n++) add('many', `many ${n}`);
	add('one', 'one');
	await nextRound();
	t.is(started.length, 16, 'eight start in each round');
	t.is(started.indexOf('one'), 9);
	for (let round = 0; round < 20; round++) await nextRound();
	t.deepEqual(
		started.filter((name) => name !== 'one'),
		Array.from({ length: 100 }, (_, n) => `many ${n}`),
	);
});

test('after a round with several requests those of the next one start together at its end', async (t) => {
	const scheduler = onQuietProcessor();
	const started: string[] = [];
	const add = (client: string) => scheduler.add(client, () => started.push(client));
	add('a');
	add('a');
	await nextRound();
	add('b');
	t.deepEqual(started, ['a', 'a'], 'it waits for others of its round');
	await nextRound();
	t.deepEqual(started, ['a', 'a', 'b']);
	add('c');
	t.is(started.at(-1), 'c', 'the last round had one, so this one starts at once');
});

test('while connections arrive, accepting them has priority over starting requests, but some start', async (t) => {
	const scheduler = onQuietProcessor();
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

/** A scheduler whose event loop works for this share of the time, and whose clock the test moves. */
function underLoad(share: number) {
	const clock = { now: 0, share };
	const running = new RunningRequests({ now: () => clock.now, busyShare: () => clock.share });
	const scheduler = new RequestScheduler(running);
	const started: string[] = [];
	const ends: (() => void)[] = [];
	const add = (client: string, isWaiting?: () => boolean) =>
		ends.push(scheduler.add(client, () => started.push(client), isWaiting));
	/** As long as it takes until the load is measured so often. */
	const measured = async (times: number) => {
		for (let n = 0; n < times; n++) {
			clock.now += 50;
			running.mayStart('nobody');
			await nextRound();
		}
	};
	const countOf = (client: string) => started.filter((each) => each === client).length;
	return { clock, add, ends, started, measured, countOf };
}

test('while the processor is used up, a client with many requests has two under way, and others go before the rest', async (t) => {
	const { add, ends, measured, countOf, started } = underLoad(1);
	for (const client of ['eve', 'ada', 'eve', 'ada']) add(client);
	await measured(10);
	for (let n = 0; n < 30; n++) add('eve');
	for (let round = 0; round < 10; round++) await nextRound();
	t.is(countOf('eve'), 2);
	for (let n = 0; n < 30; n++) add('mallory');
	for (let round = 0; round < 10; round++) await nextRound();
	t.deepEqual([countOf('eve'), countOf('ada'), countOf('mallory')], [2, 2, 2]);
	ends[1]?.();
	ends[3]?.();
	add('ada');
	await nextRound();
	t.is(countOf('ada'), 3, 'a place is free');
	ends[0]?.();
	ends[2]?.();
	for (let round = 0; round < 10; round++) await nextRound();
	t.is(countOf('eve'), 4);
	// Nobody is forgotten.
	for (let at = 0; at < ends.length; at++) {
		ends[at]?.();
		await nextRound();
	}
	await until('all have started', () => started.length === ends.length);
});

test('a client that calls alone, or a process that waits for its disk, has no such limit', async (t) => {
	const alone = underLoad(1);
	await alone.measured(10);
	for (let n = 0; n < 40; n++) alone.add('ada');
	for (let round = 0; round < 10; round++) await nextRound();
	t.is(alone.countOf('ada'), 40);

	const waiting = underLoad(1);
	for (const client of ['eve', 'ada']) waiting.add(client);
	await waiting.measured(10);
	for (let n = 0; n < 40; n++) waiting.add('eve');
	for (let round = 0; round < 10; round++) await nextRound();
	t.is(waiting.countOf('eve'), 2);
	waiting.clock.share = 0.5;
	await waiting.measured(10);
	t.true(waiting.countOf('eve') <= 13, `${waiting.countOf('eve')} have begun: it becomes more step by step`);
	waiting.add('ada');
	waiting.clock.share = 1;
	// A request for which nobody else calls any more.
	waiting.clock.now += 1001;
	waiting.add('ada');
	await until('all have started', () => waiting.countOf('eve') === 41);
});

test('what a client began while it called alone keeps no other one from beginning', async (t) => {
	const { add, measured, countOf } = underLoad(1);
	for (let n = 0; n < 2; n++) add('eve');
	await measured(10);
	for (let n = 0; n < 38; n++) add('eve');
	for (let round = 0; round < 10; round++) await nextRound();
	t.is(countOf('eve'), 40);
	for (let n = 0; n < 2; n++) add('ada');
	await nextRound();
	t.is(countOf('ada'), 1);
});

test('while the processor is not used up, many clients have all of theirs worked on', async (t) => {
	const { add, started } = underLoad(0.5);
	for (let n = 0; n < 60; n++) for (const client of ['ada', 'bob', 'carol', 'dan', 'eve']) add(client);
	for (let round = 0; round < 60; round++) await nextRound();
	t.is(started.length, 300);
});

test('a request waits for its client while a body is read that has not arrived, and while its answer is sent, but not for a body that nobody reads', async (t) => {
	const states: Record<string, boolean> = {};
	let sendRest = () => {};
	const answered = new Promise<void>((resolve) => {
		const server = createServer(async (request, response) => {
			states.unread = waitsForClient(request, response);
			request.on('readable', () => request.read());
			states.read = waitsForClient(request, response);
			await once(request, 'end');
			states.whole = waitsForClient(request, response);
			response.flushHeaders();
			states.answered = waitsForClient(request, response);
			response.end();
		});
		t.teardown(() => void server.close());
		server.listen(0, '127.0.0.1', () => {
			const sent = sendRequest({ port: (server.address() as AddressInfo).port, method: 'POST' }, (answer) => {
				answer.resume().once('end', resolve);
			});
			sent.setHeader('content-length', 2);
			sent.write('a');
			sendRest = () => sent.end('b');
		});
	});
	await until('it is read', () => states.read !== undefined);
	sendRest();
	await answered;
	t.deepEqual(states, { unread: false, read: true, whole: false, answered: true });
});

test('a request that waits for its client, or takes long, leaves its place', async (t) => {
	const { add, measured, countOf } = underLoad(1);
	for (const client of ['ada', 'eve']) add(client);
	await measured(10);
	let isSending = false;
	add('eve', () => isSending);
	add('eve');
	await nextRound();
	t.is(countOf('eve'), 2);
	isSending = true;
	await until('its place is free', () => countOf('eve') === 3);
	const begun = performance.now();
	add('eve');
	await nextRound();
	t.is(countOf('eve'), 3);
	await until('the longest have left theirs', () => countOf('eve') === 4);
	t.true(performance.now() - begun > 500);
});
