import { setImmediate } from 'node:timers/promises';
import type { Turn } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { isVisitorKey, queueClient, siteKey } from '../../src/http/requests/proxy.js';
import { Budget } from '../../src/limits/Budget.js';
import { byTurns } from '../../src/limits/byTurns.js';
import { createWalkQueue } from '../../src/limits/createWalkQueue.js';
import { FairQueue } from '../../src/limits/FairQueue.js';
import { RecentNetworks } from '../../src/limits/RecentNetworks.js';
import { createChangeQueue } from '../../src/limits/turnQueues.js';

const queueOf = (limits: Partial<FairQueue['limits']> = {}) =>
	new FairQueue({ running: 2, runningPerClient: 2, waiting: 100, waitingPerClient: 50, ...limits }, 'Too busy.');

/** Turns of 10 ms by the clock, of which `paused` may wait; the network that has had least comes first. */
function queueOfTurns(clock: { now: number }, paused: number, limits: Partial<FairQueue['limits']> = {}): FairQueue {
	const spent = new Map<string, number>();
	return queueOf({
		runningPerClient: 1,
		spentOfNetwork: (network) => spent.get(network) ?? 0,
		turns: {
			...{ ms: 10, paused, now: () => clock.now },
			onEnd: (_client, ms, network) => void spent.set(network, (spent.get(network) ?? 0) + ms),
		},
		...limits,
	});
}

const accounts = (count: number) => Array.from({ length: count }, (_, n) => `user ${n}`);

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

test('a client over its limit of waiting tasks is refused as rateLimited, above the total who waits with most as unavailable', async (t) => {
	const queue = queueOf({ running: 1, waiting: 3, waitingPerClient: 2 });
	const { work } = heldWork();
	void queue.run('a', work('a'));
	void queue.run('a', work('a'));
	const displaced = t.throwsAsync(queue.run('a', work('a')));
	t.true(isFailure(await t.throwsAsync(queue.run('a', work('a'))), 'rateLimited'));
	void queue.run('b', work('b'));
	void queue.run('c', work('c'));
	t.true(isFailure(await displaced, 'unavailable'));
	t.true(isFailure(await t.throwsAsync(queue.run('d', work('d'))), 'unavailable'));
	t.is(queue.waiting, 3);
});

test('the networks of one IPv6 site wait, and are served, as one', async (t) => {
	const queue = queueOf({ running: 1, waiting: 12, waitingPerClient: 4 });
	const { started, work, endFirst } = heldWork();
	const refused: string[] = [];
	const ask = (client: string) => void queue.run(client, work(client)).catch(() => refused.push(client));
	ask('first');
	for (let network = 1; network <= 10; network++) ask(`2001:db8:1:${network}::/64`);
	ask('10.0.0.1');
	ask('10.0.0.1');
	await setImmediate();
	t.deepEqual([queue.waiting, refused], [12, []]);
	// It has one, as each of the networks has.
	ask('2001:db8:2:1::/64');
	await setImmediate();
	t.deepEqual(refused, ['2001:db8:1:10::/64']);
	ask('2001:db8:1:99::/64');
	await setImmediate();
	t.deepEqual(refused, ['2001:db8:1:10::/64', '2001:db8:1:99::/64']);
	for (let count = 0; count < 4; count++) await endFirst();
	t.deepEqual(started, ['first', '2001:db8:1:1::/64', '10.0.0.1', '2001:db8:2:1::/64', '2001:db8:1:2::/64']);
});

/** A queue whose one place is taken, and in which all others wait until they are refused. */
function fullQueue(limits: Partial<FairQueue['limits']>) {
	const queue = queueOf({ running: 1, ...limits });
	const { work } = heldWork();
	const refused: string[] = [];
	const ask = (client: string, network: string) => {
		void queue.run({ client, network }, work(client)).catch((error: unknown) => {
			refused.push(isFailure(error, 'unavailable') ? client : `${client}: ${error}`);
		});
	};
	ask('user first', '192.0.2.9');
	return {
		queue,
		ask,
		/** Who was refused since the last call. */
		async refused() {
			await setImmediate();
			return refused.splice(0);
		},
	};
}

test('what the accounts of one network have waiting makes way for other networks, and evicts nothing of them, whoever has had more', async (t) => {
	const group = { running: 1, waiting: 6, includes: isVisitorKey };
	const spent = (client: string) => (client === 'user ada' || isVisitorKey(client) ? 10 : 0);
	const { queue, ask, refused } = fullQueue({ waiting: 12, group, spent });
	for (const client of accounts(4)) for (let count = 0; count < 3; count++) ask(client, 'a');
	t.deepEqual([await refused(), queue.waiting], [[], 12]);
	for (let count = 0; count < 3; count++) ask('user ada', 'b');
	ask('198.51.100.1', '198.51.100.1');
	// Every account has one place more to wait in.
	t.deepEqual([await refused(), queue.waiting], [['user 3', 'user 2', 'user 1'], 13]);
	for (const client of accounts(8).slice(4)) ask(client, 'a');
	for (const client of accounts(8)) ask(client, 'a');
	const others = new Set(await refused());
	t.false(others.has('user ada') || others.has('198.51.100.1'), `${[...others]}`);
	// A network that has as many waiting as another one evicts nothing of it.
	for (let count = 0; count < 12; count++) ask('user ada', 'b');
	const evicted = await refused();
	t.true(evicted.includes('user ada') && evicted.some((client) => client !== 'user ada'), `${evicted}`);
});

test('visitors of one network make way for other visitors, and evict none of them, whoever has had more', async (t) => {
	const group = { running: 1, waiting: 6, includes: isVisitorKey };
	const { ask, refused } = fullQueue({ waiting: 12, group, spent: (client) => (client === '198.51.100.1' ? 10 : 0) });
	const strangers = Array.from({ length: 12 }, (_, n) => `2001:db8:1:${n + 1}::/64`);
	for (const client of strangers.slice(0, 6)) ask(client, siteKey(client));
	t.deepEqual(await refused(), []);
	// That they have accounts at home, too, is no matter of visitors.
	for (const client of accounts(6)) ask(client, '198.51.100.1');
	for (let count = 0; count < 3; count++) ask('198.51.100.1', '198.51.100.1');
	t.deepEqual(await refused(), strangers.slice(3, 6).reverse());
	for (const client of strangers.slice(6)) ask(client, siteKey(client));
	t.deepEqual(await refused(), strangers.slice(6));
});

test('however many accounts of one network wait with one call each, a visitor and an account of other networks find a place', async (t) => {
	const group = { running: 1, waiting: 9, includes: isVisitorKey };
	const { queue, ask, refused } = fullQueue({ waiting: 10, group });
	for (const client of accounts(12)) ask(client, 'a');
	t.deepEqual([await refused(), queue.waiting], [[], 12]);
	ask('198.51.100.1', '198.51.100.1');
	ask('user ada', 'b');
	t.deepEqual(await refused(), ['user 11']);
	// Those who wait in that network are no more, and a visitor of it has nothing that somebody else should give way for.
	ask('user 11', 'a');
	ask('192.0.2.7', 'a');
	t.deepEqual(await refused(), ['192.0.2.7']);
});

test('who waits with one account in many networks waits in the first of them', async (t) => {
	const { ask, refused } = fullQueue({ waiting: 6 });
	for (let count = 0; count < 5; count++) ask('user eve', 'a');
	ask('user eve', 'elsewhere');
	ask('user ada', 'b');
	t.deepEqual(await refused(), ['user eve']);
	ask('user eve', 'yet another');
	t.deepEqual(await refused(), ['user eve']);
});

test('what is asked from a network comes after those that have had less, also where its client waits first in one that has had nothing', async (t) => {
	const had = new Map(Object.entries({ a: 20, b: 10 }));
	const queue = queueOf({ running: 1, spentOfNetwork: (network) => had.get(network) ?? 0 });
	const { started, work, endFirst } = heldWork();
	const ask = (client: string, network: string) => void queue.run({ client, network }, work(`${client} of ${network}`));
	ask('user first', 'b');
	ask('user eve', 'fresh');
	ask('user eve', 'a');
	ask('user ada', 'b');
	for (let count = 0; count < 3; count++) await endFirst();
	t.deepEqual(started, ['user first of b', 'user eve of fresh', 'user ada of b', 'user eve of a']);
});

test('where all ask from one network, who has had more, or else waits with more, makes way', async (t) => {
	const spent = (client: string) => (client === 'user 2' ? 10 : 0);
	const { ask, refused } = fullQueue({ waiting: 6, spent });
	for (const client of accounts(3)) for (let count = 0; count < 2; count++) ask(client, 'proxy');
	ask('user ada', 'proxy');
	ask('user ada', 'proxy');
	t.deepEqual(await refused(), ['user 2', 'user 2']);
	ask('user 2', 'proxy');
	ask('user bob', 'proxy');
	ask('user ada', 'proxy');
	t.deepEqual(await refused(), ['user 2', 'user ada', 'user ada']);
});

test('networks are served in turns, however many clients each has, and the clients of each are, too', async (t) => {
	const queue = queueOf({ running: 1 });
	const { started, work, endFirst } = heldWork();
	const ask = (client: string, network: string) => void queue.run({ client, network }, work(client));
	for (const client of ['eve1', 'eve1', 'eve2', 'eve3', 'eve4']) ask(client, 'a');
	for (const client of ['ada', 'ada', 'bob']) ask(client, 'b');
	for (let count = 0; count < 7; count++) await endFirst();
	t.deepEqual(started, ['eve1', 'eve1', 'ada', 'eve2', 'bob', 'eve3', 'ada', 'eve4']);
});

test('accounts that ask from the networks of one IPv6 site are one network in queues, as those at one IPv4 address', (t) => {
	const from = (id: string, address: string) => queueClient({ kind: 'user', id, username: id }, address);
	t.deepEqual(from('1', '2001:db8:1:2::3'), { client: 'user 1', network: '2001:db8:1::/48' });
	t.deepEqual(from('2', '2001:db8:1:ffff::9'), { client: 'user 2', network: '2001:db8:1::/48' });
	t.deepEqual(from('3', '192.0.2.1'), { client: 'user 3', network: '192.0.2.1' });
});

test('many accounts of one network leave a part of what may be paused to networks of which nothing has begun', async (t) => {
	const spent = new Map<string, number>();
	const clock = { now: 0 };
	const queue = queueOf({
		running: 1,
		spent: (client) => spent.get(client) ?? 0,
		turns: {
			...{ ms: 10, paused: 4, now: () => clock.now },
			onEnd: (client, ms) => void spent.set(client, (spent.get(client) ?? 0) + ms),
		},
		spentOfNetwork: (network) => (network === 'a' ? clock.now : 0),
	});
	const steps: string[] = [];
	const work = (name: string, count: number) => async (turn: Turn) => {
		for (let step = 0; step < count; step++) {
			if (turn.isOver) await turn.next();
			steps.push(name);
			clock.now += 5;
			await setImmediate();
		}
	};
	const eves = Array.from({ length: 12 }, (_, n) => `eve${n}`);
	const all = eves.map((client) => queue.run({ client, network: 'a' }, work(client, 12)));
	while (steps.length < 30) await setImmediate();
	const begun = new Set(steps).size;
	t.true(begun < 12);
	const before = steps.length;
	const honest = queue.run({ client: 'ada', network: 'b' }, work('ada', 2));
	await honest;
	t.true(steps.indexOf('ada') - before <= 3, `${steps}`);
	await Promise.all(all);
	t.deepEqual([queue.running, queue.waiting], [0, 0]);
	// What has ended is not counted any longer.
	await queue.run({ client: 'eve', network: 'a' }, work('eve', 1));
});

test('a network of which little has begun begins more beside the long work of another, and leaves the rest to those of which nothing has', async (t) => {
	const clock = { now: 0 };
	const queue = queueOfTurns(clock, 16);
	const begun: string[] = [];
	let isOver = false;
	// Also where this fails: work that goes on would keep the process.
	t.teardown(() => {
		isOver = true;
	});
	const ask = (client: string, network: string) =>
		queue.run({ client, network }, async (turn) => {
			begun.push(client);
			while (!isOver) {
				if (turn.isOver) await turn.next();
				clock.now += 5;
				await setImmediate();
			}
		});
	const rounds = async (count: number) => {
		for (let round = 0; round < count; round++) await setImmediate();
		return begun.splice(0);
	};
	const all = accounts(40).map((client) => ask(client, 'stranger'));
	const strangers = (await rounds(400)).length;
	t.true(strangers > 10 && strangers < 16, `${strangers}`);
	all.push(ask('ada', 'home'));
	t.deepEqual(await rounds(100), ['ada']);
	all.push(ask('bob', 'home'));
	t.deepEqual(await rounds(400), ['bob'], "ada's has not ended");
	for (const client of ['carol', 'dave', 'erin']) all.push(ask(client, 'home'));
	t.deepEqual(await rounds(400), [], 'they have their part');
	all.push(ask('frank', 'elsewhere'));
	t.deepEqual(await rounds(100), ['frank']);
	isOver = true;
	await Promise.all(all);
	t.deepEqual([queue.running, queue.waiting], [0, 0]);
});

test('visitors of any number of networks leave a part of what may be paused to accounts', async (t) => {
	const clock = { now: 0 };
	const queue = queueOfTurns(clock, 4, { group: { running: 1, waiting: 50, includes: isVisitorKey } });
	const begun: string[] = [];
	let isOver = false;
	const ask = (client: string, network = client) =>
		queue.run({ client, network }, async (turn) => {
			begun.push(client);
			while (!isOver) {
				if (turn.isOver) await turn.next();
				clock.now += 5;
				await setImmediate();
			}
		});
	const all = [ask('user eve', 'a')];
	for (let n = 1; n <= 12; n++) all.push(ask(`198.51.100.${n}`));
	for (let round = 0; round < 200; round++) await setImmediate();
	const visitors = begun.length - 1;
	t.true(visitors >= 2 && visitors < 12, `${begun}`);
	all.push(ask('user ada', 'b'));
	for (let round = 0; round < 30; round++) await setImmediate();
	t.is(begun.at(-1), 'user ada', `${begun}`);
	isOver = true;
	await Promise.all(all);
	t.deepEqual([queue.running, queue.waiting], [0, 0]);
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

/** A queue of turns of 10 ms by a clock of the test, and how long each client has had a place. */
function turnQueue(limits: Partial<FairQueue['limits']> = {}, paused = 10) {
	const spent = new Map<string, number>();
	const clock = { now: 0 };
	const onEnd = (client: string, ms: number) => spent.set(client, (spent.get(client) ?? 0) + ms);
	const queue = queueOf({
		running: 1,
		spent: (client) => spent.get(client) ?? 0,
		turns: { ms: 10, paused, onEnd, now: () => clock.now },
		...limits,
	});
	const steps: string[] = [];
	/** Work in steps of 5 ms. */
	const work = (name: string, count: number) => async (turn: Turn) => {
		for (let step = 0; step < count; step++) {
			if (turn.isOver) await turn.next();
			steps.push(name);
			clock.now += 5;
			await setImmediate();
		}
	};
	return { queue, spent, steps, work };
}

test('work that takes long is paused for those who have had less, and goes on before the rest of its client', async (t) => {
	const { queue, spent, steps, work } = turnQueue();
	await Promise.all([
		queue.run('a', work('a', 6)),
		queue.run('a', work('later', 1)),
		queue.run('b', work('b', 1)),
		queue.run('c', work('c', 3)),
	]);
	t.is(steps.join(' '), 'a a b c c a a c a a later');
	t.deepEqual([spent.get('a'), spent.get('b'), spent.get('c')], [35, 5, 15]);
	t.deepEqual([queue.running, queue.waiting], [0, 0]);
});

test('work keeps its place while nobody waits', async (t) => {
	const { queue, steps, work } = turnQueue();
	await queue.run('a', async (turn) => {
		await work('a', 5)(turn);
		t.false(turn.isOver);
	});
	t.is(steps.length, 5);
});

test('work that fails while part of it waits for its next turn keeps no place', async (t) => {
	const { queue, work } = turnQueue();
	const failing = queue.run('a', async (turn) => {
		await work('a', 2)(turn);
		// Not awaited: another part of the work fails meanwhile.
		void turn.next();
		throw new Error('failed');
	});
	const other = queue.run('b', work('b', 1));
	await t.throwsAsync(failing, { message: 'failed' });
	await other;
	await setImmediate();
	t.deepEqual([queue.running, queue.waiting], [0, 0]);
});

test('no more work is begun than may be paused, since each keeps its memory', async (t) => {
	const { queue, steps, work } = turnQueue({}, 1);
	await Promise.all(['a', 'b', 'c', 'd'].map((name) => queue.run(name, work(name, 4))));
	t.is(steps.join(' '), 'a a b b a a c c b b d d c c d d');
});

test('paused work that is aborted leaves the queue without a place, and is never refused for others', async (t) => {
	const { queue, work } = turnQueue({ group: { running: 1, waiting: 1, includes: () => true } });
	const leaving = new AbortController();
	let place: Turn | undefined;
	const held = queue.run(
		'a',
		async (turn) => {
			place = turn;
			await work('a', 3)(turn);
			await turn.next();
		},
		leaving.signal,
	);
	const { work: wait, endFirst } = heldWork();
	const other = queue.run('b', wait('b'));
	for (let round = 0; round < 10; round++) await setImmediate();
	t.deepEqual([queue.running, queue.waiting], [1, 1]);
	t.true(isFailure(await t.throwsAsync(queue.run('c', wait('c'))), 'unavailable'));
	leaving.abort(new Error('gone'));
	await t.throwsAsync(held, { message: 'gone' });
	t.false(place?.isOver);
	await endFirst();
	await other;
	t.deepEqual([queue.running, queue.waiting], [0, 0]);
});

test('walks of many visitors leave half of the places, and room to wait, to people with an account', async (t) => {
	const queue = createWalkQueue();
	const { started, work } = heldWork();
	const refused: unknown[] = [];
	for (let address = 1; address <= 10; address++) {
		for (let count = 0; count < 66; count++)
			queue.run(`10.0.0.${address}`, work('visitor')).catch((error: unknown) => refused.push(error));
	}
	await setImmediate();
	t.deepEqual([started.length, queue.waiting], [4, 200]);
	void queue.run('user 1', work('user'));
	await setImmediate();
	t.deepEqual(started.slice(4), ['user']);
	// A new visitor evicts one of a site with more.
	const { work: other } = heldWork();
	const waiting = queue.run('10.0.1.1', other('new'));
	t.is(await Promise.race([waiting.then(String, String), setImmediate('waits')]), 'waits');
	t.true(refused.every((error) => isFailure(error)));
});

test('somebody who searches has a turn before the walks of many accounts of another network', async (t) => {
	const queue = createWalkQueue();
	const { started, work, endFirst } = heldWork();
	for (let account = 0; account < 40; account++)
		void queue.run({ client: `user ${account}`, network: '198.51.100.1' }, work('stranger'));
	await setImmediate();
	t.is(started.length, 8);
	for (let count = 0; count < 2; count++) void queue.run({ client: 'user ada', network: '203.0.113.1' }, work('ada'));
	await endFirst();
	await endFirst();
	t.deepEqual(started.slice(8), ['ada', 'ada']);
});

test('the changes of one network, with any number of accounts, leave places to others that have asked within a day', async (t) => {
	const queue = createChangeQueue();
	const { started, work, endFirst } = heldWork();
	const ask = (client: string, network: string, count = 1) => {
		for (; count > 0; count--) void queue.run({ client, network }, work(network));
	};
	const begun = async () => {
		await setImmediate();
		return started.splice(0).join(' ');
	};
	for (const client of accounts(3)) ask(client, 'a', 5);
	t.is(await begun(), 'a a a a a a a a a a a a', 'no other network has asked');
	ask('user ada', 'b');
	for (let count = 0; count < 3; count++) await endFirst();
	t.is(await begun(), 'b', 'what it has beyond its part ends first');
	ask('user ada', 'b', 2);
	t.is(await begun(), 'b b');
	for (let count = 0; count < 12; count++) await endFirst();
	t.is(await begun(), 'a a a');
	// Visitors have half of the places, and one network has not all of these.
	for (let each = 1; each <= 3; each++) ask(`2001:db8:1:${each}::/64`, '2001:db8:1::/48', 2);
	ask('203.0.113.1', '203.0.113.1', 2);
	t.is(await begun(), `${'2001:db8:1::/48 '.repeat(4)}203.0.113.1 203.0.113.1`);
});

test('a network has at least one place, also of few, and all of them where no other has asked within a day', async (t) => {
	for (const [running, alone] of [
		[1, 1],
		[2, 1],
		[3, 2],
		[4, 3],
	] as const) {
		const clock = { now: 0 };
		const day = 24 * 3_600_000;
		const limits = { running, runningPerClient: 1, waiting: 100, waitingPerClient: 50, leavesPlaces: true };
		const queue = new FairQueue(limits, 'Too busy.', new RecentNetworks(day, () => clock.now));
		const { started, work, endFirst } = heldWork();
		await queue.run({ client: 'user ada', network: 'b' }, async () => {});
		for (const client of accounts(12)) void queue.run({ client, network: 'a' }, work(client));
		await setImmediate();
		t.is(queue.running, alone, `of ${running}`);
		for (let count = 0; count < 4; count++) await endFirst();
		t.deepEqual([queue.running, started.length], [alone, alone + 4]);
		clock.now = day;
		await endFirst();
		t.is(queue.running, running);
		for (let count = 0; count < 8; count++) await endFirst();
		t.deepEqual([queue.running, queue.waiting, started.length], [0, 0, 12]);
	}
});

test('what a network has had is held against all who ask from it up to a quarter of an hour', (t) => {
	const { spentOfNetwork, turns } = byTurns('Later.', 1);
	const hourMs = 3_600_000;
	for (let hour = 0; hour < 10; hour++) turns.onEnd(`user ${hour}`, hourMs, 'office');
	turns.onEnd('user b', 1000, 'elsewhere');
	t.true(spentOfNetwork('office') <= hourMs / 4, `${spentOfNetwork('office')} ms`);
	t.true(spentOfNetwork('office') > spentOfNetwork('elsewhere'));
});

test('who takes long shares the place for that with a group in turns, however many of either have had nothing', async (t) => {
	const spent = new Map([['slow', 20]]);
	let lead = 0;
	const includes = (client: string) => client.startsWith('visitor');
	const queue = queueOf({
		runningPerClient: 1,
		group: { running: 1, waiting: 50, includes },
		isSlow: (client) => includes(client) || client === 'slow' || client.startsWith('fresh'),
		groupLead: () => lead,
		spent: (client) => spent.get(client) ?? 0,
	});
	const { started, work, endFirst } = heldWork();
	for (const name of ['visitor 1', 'visitor 2', 'slow', 'slow', 'visitor 3', 'visitor 4'])
		void queue.run(name, work(name));
	await setImmediate();
	// Those of the group take two units, and those of others three.
	while (started.length < 6) {
		lead += includes(started.at(-1) ?? '') ? 2 : -3;
		await endFirst();
	}
	t.deepEqual(started, ['visitor 1', 'slow', 'visitor 2', 'slow', 'visitor 3', 'visitor 4']);
	// Clients of the group that have had much come before others all the same.
	for (const [index, name] of ['fresh 1', 'fresh 2', 'visitor 5', 'visitor 6'].entries()) {
		spent.set(name, index);
		void queue.run(name, work(name));
	}
	lead = -4;
	await endFirst();
	t.is(started.at(-1), 'visitor 5');
	lead = 1;
	await endFirst();
	t.is(started.at(-1), 'fresh 1');
});

test('a budget limits each client and the total, and a released amount can be taken again, once', (t) => {
	const budget = new Budget({ total: 20, perClient: 6 }, 'Too much.');
	const release = budget.reserve('a', 6);
	t.true(
		isFailure(
			t.throws(() => budget.reserve('a', 1)),
			'rateLimited',
		),
	);
	budget.reserve('b', 6);
	t.true(
		isFailure(
			t.throws(() => budget.reserve('c', 5)),
			'unavailable',
		),
	);
	budget.reserve('c', 4);
	release();
	release();
	t.notThrows(() => budget.reserve('d', 5));
	t.throws(() => budget.reserve('e', 4));
});

test('however much a few clients hold of a budget, something is left for the next one', (t) => {
	const budget = new Budget({ total: 400, perClient: 256 }, 'Too much.');
	const takeAll = (client: string) => {
		let taken = 0;
		const takeOne = () => {
			budget.reserve(client, 1);
			return ++taken;
		};
		t.throws(() => {
			while (takeOne() < 1000);
		});
		return taken;
	};
	t.deepEqual(['a', 'b', 'c', 'd'].map(takeAll), [200, 100, 50, 25]);
	t.notThrows(() => budget.reserve('honest', 1));
});

test('of a budget a part is kept for those who hold nothing, and the networks of one IPv6 site hold together', (t) => {
	const budget = new Budget({ total: 400, perClient: 200, reservedPerSite: 1 }, 'Too much.');
	const takeAll = (client: string, most = 1000) => {
		let taken = 0;
		try {
			for (; taken < most; taken++) budget.reserve(client, 1);
		} catch (error) {
			if (!isFailure(error)) throw error;
		}
		return taken;
	};
	t.deepEqual(
		['2001:db8:1:1::/64', '2001:db8:1:2::/64', '10.0.0.1'].map((each) => takeAll(each)),
		[200, 0, 100],
	);
	const others = Array.from({ length: 101 }, (_, number) => takeAll(`10.0.1.${number}`));
	t.deepEqual(others, [...Array(100).fill(1), 0]);
});

/** A budget by networks, the time of which is set by the test. */
function budgetByNetwork(limits: Budget['limits']) {
	const clock = { now: 0 };
	const networks = new RecentNetworks(1000, () => clock.now);
	const budget = new Budget(limits, 'Too much.', networks);
	const home = '203.0.113.1';
	return {
		clock,
		/** How much of `most` a client gets, one by one. */
		take(client: string, most: number, network = '198.51.100.1') {
			let taken = 0;
			try {
				for (; taken < most; taken++) budget.reserve({ client, network }, 1);
			} catch (error) {
				if (!isFailure(error, 'unavailable')) throw error;
			}
			return taken;
		},
		home,
		/** Somebody of another network asks. */
		ask: () => budget.reserve({ client: 'user bob', network: home }, 1)(),
	};
}

test('however many accounts one network has, it gets no more of a budget than it leaves, but a little for those with nothing', (t) => {
	const { take, home, ask } = budgetByNetwork({ total: 400, perClient: 200, reservedPerSite: 1 });
	ask();
	t.deepEqual(
		accounts(3).map((each) => take(each, 100)),
		[100, 100, 1],
	);
	const others = accounts(103)
		.slice(3)
		.map((each) => take(each, 1));
	t.is(others.filter((taken) => taken === 1).length, 39);
	t.is(take('user ada', 200, home), 60, 'somebody in another network');
	t.is(take('user ada', 1, '192.0.2.1'), 0, 'the last quarter is not for who has something');
	t.is(take('user mia', 2, '192.0.2.1'), 1, 'who has nothing in a network that has nothing gets one');
	t.is(take('user joe', 1, '192.0.2.1'), 0, 'a network has one of the last quarter, however many accounts it has');
	t.is(take('192.0.2.1', 1, '192.0.2.1'), 1, 'a visitor is their address');
});

test('where all ask from one network, as behind a proxy that is not trusted, a budget is shared by accounts', (t) => {
	const { clock, take, ask } = budgetByNetwork({ total: 400, perClient: 200, reservedPerSite: 1 });
	ask();
	clock.now = 1000;
	t.deepEqual(
		accounts(3).map((each) => take(each, 100)),
		[100, 100, 100],
	);
	const others = accounts(104)
		.slice(3)
		.map((each) => take(each, 2));
	t.deepEqual(others, [...Array(100).fill(1), 0]);
});

test('a group of clients leaves the rest of a budget to others, however many they are', (t) => {
	const group = { total: 10, includes: (client: string) => client.startsWith('visitor') };
	const budget = new Budget({ total: 20, perClient: 20, group }, 'Too much.');
	const releases = [...Array(10).keys()].flatMap((number) => {
		try {
			return [budget.reserve(`visitor ${number}`, 1)];
		} catch {
			return [];
		}
	});
	t.is(releases.length, 9);
	t.notThrows(() => budget.reserve('user', 5));
	releases[0]?.();
	t.notThrows(() => budget.reserve('visitor', 1));
});
