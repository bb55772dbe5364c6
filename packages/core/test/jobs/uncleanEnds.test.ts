import type { JobKind, JobOwner } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { until } from '../until.js';
import { heldKind, jobBench } from './testJobs.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Server processes one after another over one database, each of which may end without giving back its jobs. */
async function crashes(t: ExecutionContext, more: Parameters<typeof heldKind>[0] = {}) {
	const bench = await jobBench(t);
	const [ada, bob] = [await bench.addUser('ada'), await bench.addUser('bob')];
	let count = 0;
	const serve = () => {
		const index = count++;
		const { jobs, ended } = bench.process();
		const { kind, runs } = heldKind({ concurrency: 4, perUser: 100, ...more });
		const starter = jobs.define(kind);
		const other = heldKind({ name: 'other', concurrency: 1 });
		const others = jobs.define(other.kind);
		return {
			jobs,
			runs,
			ended,
			others: { ...others, runs: other.runs },
			queue: (owner: JobOwner, title: string, options?: Parameters<typeof starter.start>[3]) => {
				bench.advance(1);
				return starter.start(owner, title, title, options);
			},
			begun: () => runs.map(({ context }) => context.input),
			poll: jobs.poll,
			/** As `kill -9` does. */
			kill: () => bench.markGone(index),
		};
	};
	return { ...bench, ada, bob, serve };
}

test('after the first unclean end of a process its jobs run again at once, one after the other, and others begin beside them', async (t) => {
	const { ada, bob, serve } = await crashes(t);
	const one = serve();
	for (const title of ['a1', 'a2']) await one.queue(ada, title);
	await one.queue(bob, 'b1');
	await one.poll();
	t.is(one.runs.length, 3);
	one.kill();
	const two = serve();
	await two.queue(bob, 'b2');
	await two.others.start(bob, 'other', 'other');
	await two.poll();
	await two.poll();
	t.is(two.runs.length, 1);
	// Another kind is not suspected.
	t.is(two.others.runs.length, 1);
	two.others.runs[0]?.finish();
	await two.others.start(bob, 'other', 'other');
	await until('the place is free', async () => {
		await two.poll();
		return two.others.runs.length === 2;
	});
	t.is(two.runs.length, 1);
	await until('all have ended', async () => {
		for (const { finish } of two.runs) finish();
		await two.poll();
		return two.runs.length === 4;
	});
	for (const { finish } of two.runs) finish();
	t.deepEqual(two.begun().sort(), ['a1', 'a2', 'b1', 'b2']);
	// All that were interrupted have ended well.
	for (const title of ['a3', 'a4', 'a5']) await two.queue(ada, title);
	await until('these begin together', async () => {
		await two.poll();
		return two.runs.length === 7;
	});
});

test('a job that has run for a minute is no longer on trial, and the next one begins beside it', async (t) => {
	const { ada, bob, serve, advance, database } = await crashes(t);
	const one = serve();
	await one.queue(ada, 'a');
	await one.queue(bob, 'b');
	await one.poll();
	one.kill();
	const two = serve();
	await two.poll();
	const pass = async (ms: number) => {
		for (let passed = 0; passed < ms; passed += 5 * second) {
			advance(5 * second);
			await two.poll();
		}
	};
	await pass(55 * second);
	t.is(two.runs.length, 1);
	await pass(10 * second);
	t.is(two.runs.length, 2);
	t.false(two.runs[0]?.context.signal.aborted);
	two.kill();
	await serve().poll();
	const { interruptions } = await database.jobs.listInterruptions();
	// The first one is innocent of the second end: the other was on trial.
	t.deepEqual(
		interruptions.map(({ holder, userId }) => [holder, userId]),
		[['process 1', bob.id], ...interruptions.slice(1).map(({ userId }) => ['process 0', userId])],
	);
	t.is(interruptions.length, 3);
});

test('from the second unclean end on interrupted jobs wait: 30 s, 2, 10 and at most 30 minutes, and say so', async (t) => {
	const { serve, advance, addUser } = await crashes(t, { concurrency: 10 });
	const first = serve();
	for (let n = 0; n < 7; n++) await first.queue(await addUser(`user${n}`), `job ${n}`);
	let now = serve();
	// Each process ends by the first job of another user.
	const waits: number[] = [];
	await now.poll();
	now.kill();
	for (let n = 0; n < 5; n++) {
		now = serve();
		let waited = 0;
		await now.poll();
		for (; now.runs.length === 0; waited += 10 * second) {
			const holds = (await now.jobs.listOf()).map(({ hold }) => hold?.reason);
			t.regex(holds[0] ?? '', /ended unexpectedly.*continues after a pause/);
			advance(10 * second);
			await now.poll();
		}
		t.is(now.runs.length, 1);
		waits.push(waited);
		now.kill();
	}
	t.deepEqual(waits, [0, 30 * second, 2 * minute, 10 * minute, 30 * minute]);
});

test('after three unclean ends the killing job fails, the others of its user wait for a day, those of other users end', async (t) => {
	const { ada, bob, serve, advance, database } = await crashes(t, { concurrency: 1 });
	const first = serve();
	for (let n = 0; n < 5; n++) await first.queue(ada, `deadly ${n}`);
	const honest = await first.queue(bob, 'honest');
	let ends = 0;
	let now = first;
	await until('the deadly jobs wait', async () => {
		await now.poll();
		for (const { context, finish } of now.runs) {
			if (context.input === 'honest') finish();
			else if (!context.signal.aborted) {
				now.kill();
				now = serve();
				ends++;
				return false;
			}
		}
		advance(5 * second);
		const [held] = await now.jobs.listOf(ada.id);
		return ends > 2 && held?.hold?.reason.includes('administrator') === true;
	});
	t.is(ends, 3);
	t.like(await now.jobs.find(bob, honest.id), { status: 'completed' });
	const listed = await now.jobs.list(ada);
	const failed = listed.filter(({ status }) => status === 'failed');
	t.deepEqual(
		failed.map(({ title, error, canRetry }) => [title, error, canRetry]),
		[['deadly 0', 'The server ended 3 times while this was under way, so it is not tried again by itself.', true]],
	);
	const waiting = listed.filter(({ status }) => status === 'queued');
	t.is(waiting.length, 4);
	for (const { hold } of waiting) {
		t.is(
			hold?.reason,
			'The server ended unexpectedly 3 times while such jobs of yours ran. They wait for the administrator.',
		);
		t.is(typeof hold?.until, 'number');
	}
	// Other work of the user, and this work of others, goes on.
	await now.others.start(ada, 'other', 'other');
	await now.queue(bob, 'more');
	await now.poll();
	t.is(now.others.runs.length, 1);
	t.is(now.begun().at(-1), 'more');
	now.runs.at(-1)?.finish();
	await now.jobs.waitForEnd(bob, (await now.jobs.list(bob))[0]?.id ?? '', minute);
	// A user's retry does not get around it.
	await now.jobs.retry(ada, failed[0]?.id ?? '');
	const begun = now.runs.length;
	await now.poll();
	t.is(now.runs.length, begun);
	advance(day);
	await now.poll();
	t.is(now.runs.length, begun + 1, 'one of them is tried after a day');
	now.kill();
	now = serve();
	await now.poll();
	t.true((await now.jobs.list(ada)).every(({ hold, status }) => status !== 'queued' || hold !== null));
	advance(2 * day);
	await now.poll();
	t.is(now.runs.length, 0, 'longer after a further end');
	t.is(await now.jobs.release({ userId: ada.id, kind: 'test' }), 4);
	await now.poll();
	t.is(now.runs.length, 1);
	t.deepEqual((await database.jobs.listInterruptions()).interruptions, []);
});

test('jobs of one kind whose users are many wait after six unclean ends in a day, also new ones', async (t) => {
	const { serve, advance, addUser } = await crashes(t, { concurrency: 1 });
	const first = serve();
	for (let n = 0; n < 8; n++) await first.queue(await addUser(`user${n}`), `deadly ${n}`);
	let now = first;
	let ends = 0;
	for (let polls = 0; polls < 2000; polls++) {
		await now.poll();
		if (now.runs.length > 0) {
			now.kill();
			now = serve();
			ends++;
		}
		advance(30 * second);
	}
	t.is(ends, 6);
	const carol = await addUser('carol');
	await now.queue(carol, 'new');
	await now.poll();
	t.regex((await now.jobs.list(carol))[0]?.hold?.reason ?? '', /6 times while such jobs ran/);
	t.is(now.runs.length, 0);
});

test('a process that stops, is suspended or loses the database for a while counts for nothing', async (t) => {
	const { ada, serve, advance, database } = await crashes(t);
	const one = serve();
	for (const title of ['a', 'b']) await one.queue(ada, title);
	await one.poll();
	await one.jobs.close();
	const two = serve();
	await two.poll();
	t.is(two.runs.length, 2, 'both at once');
	t.deepEqual((await database.jobs.listInterruptions()).interruptions, []);
	// Its leases expire, and another process takes its jobs over.
	advance(11 * second);
	const three = serve();
	await three.poll();
	t.is(three.runs.length, 1);
	t.is((await database.jobs.listInterruptions()).interruptions.length, 2);
	await two.poll();
	t.deepEqual((await database.jobs.listInterruptions()).interruptions, []);
	// Its own leases expire.
	advance(11 * second);
	await three.poll();
	t.deepEqual((await database.jobs.listInterruptions()).interruptions, []);
});

test('of two processes only the jobs of the one that was killed are suspected', async (t) => {
	const { ada, bob, serve, database } = await crashes(t, { concurrency: 2, runningPerUser: 1 });
	const [one, two] = [serve(), serve()];
	await one.queue(ada, 'a');
	await one.poll();
	await two.queue(bob, 'b');
	await two.poll();
	one.kill();
	await two.poll();
	const { interruptions } = await database.jobs.listInterruptions();
	t.deepEqual(
		interruptions.map(({ holder, userId, wasTrial }) => [holder, userId, wasTrial]),
		[['process 0', ada.id, false]],
	);
	t.deepEqual(two.begun(), ['b', 'a']);
});

test('all processes that end together, as by a power cut, are one unclean end for users and kinds', async (t) => {
	const { ada, bob, serve, advance, addUser } = await crashes(t, { concurrency: 8 });
	const users = [ada, bob, await addUser('cid')];
	const all = Array.from({ length: 7 }, serve);
	for (const [index, each] of all.entries()) {
		// Four of ada, in as many processes.
		await each.queue(users[Math.max(0, index - 3) % 3] ?? ada, `job ${index}`);
		await each.poll();
		t.is(each.runs.length, 1);
	}
	for (const each of all) each.kill();
	const next = serve();
	await next.poll();
	t.is(next.runs.length, 1, 'at once');
	const reasons = async () => (await next.jobs.listOf()).map(({ hold }) => hold?.reason).filter(Boolean);
	t.regex((await reasons())[0] ?? '', /run one after another/);
	next.kill();
	// The one that had a job on trial is another end, however soon.
	const last = serve();
	await last.poll();
	t.is(last.runs.length, 0);
	advance(20 * second);
	await last.poll();
	t.is(last.runs.length, 0);
	advance(10 * second);
	await last.poll();
	t.is(last.runs.length, 1);
});

test('a run of an hour is not suspected, however its process ends', async (t) => {
	const { ada, serve, advance, database } = await crashes(t);
	const one = serve();
	await one.queue(ada, 'film');
	await one.poll();
	const [held] = await database.jobs.listHeld(10 * second);
	if (held === undefined) return t.fail('it runs');
	advance(hour);
	await database.jobs.renew(held, 10 * second);
	one.kill();
	const two = serve();
	await two.poll();
	t.deepEqual((await database.jobs.listInterruptions()).interruptions, []);
	t.is(two.runs.length, 1);
});

test('a suspected job that waits is cancelled without another run, and a kept-back server begins none', async (t) => {
	const { ada, serve, setPaused } = await crashes(t);
	const one = serve();
	const { id } = await one.queue(ada, 'a');
	await one.poll();
	await one.runs[0]?.context.checkpoint('half');
	one.kill();
	setPaused(true);
	const two = serve();
	await two.queue(ada, 'b');
	await two.poll();
	t.is(two.runs.length, 0);
	t.is((await two.jobs.find(ada, id)).hold?.reason, 'The administrator has paused all jobs.');
	await two.jobs.cancelAny(id);
	t.like(await two.jobs.find(ada, id), { status: 'cancelled', hold: null });
	setPaused(false);
	await two.poll();
	t.deepEqual(two.begun(), ['b']);
});

test('what a suspected job has left is removed as it is cancelled, also where that fails', async (t) => {
	const discarded: unknown[] = [];
	const discard: JobKind<string>['discard'] = async (saved, owner) => {
		discarded.push([saved, owner]);
		if (saved === 'stuck') throw new Error('It can’t be removed.');
	};
	const { ada, serve } = await crashes(t, { discard });
	const one = serve();
	const ids: string[] = [];
	for (const title of ['a', 'b', 'c']) ids.push((await one.queue(ada, title)).id);
	await one.poll();
	await one.runs[0]?.context.checkpoint('half');
	await one.runs[1]?.context.checkpoint('stuck');
	one.kill();
	const two = serve();
	await two.poll();
	t.deepEqual(two.begun(), ['a']);
	for (const id of ids.slice(1)) {
		await two.jobs.cancelAny(id);
		await two.jobs.cancelAny(id);
		t.like(await two.jobs.find(ada, id), { status: 'cancelled', error: null });
	}
	t.deepEqual(discarded, [['stuck', ada]], 'of the job that has saved something, once');
	t.deepEqual(two.begun(), ['a']);
});

test('what a job has left that was cancelled before its process ended is removed when it is cancelled again', async (t) => {
	const discarded: unknown[] = [];
	const { ada, serve, setPaused } = await crashes(t, {
		ignoresSignal: true,
		discard: async (saved) => void discarded.push(saved),
	});
	const one = serve();
	const { id } = await one.queue(ada, 'a');
	await one.poll();
	await one.runs[0]?.context.checkpoint('half');
	await one.jobs.cancelAny(id);
	t.deepEqual(discarded, [], 'its run does that');
	one.kill();
	setPaused(true);
	const two = serve();
	await two.poll();
	t.like(await two.jobs.find(ada, id), { status: 'queued' });
	await two.jobs.cancelAny(id);
	t.like(await two.jobs.find(ada, id), { status: 'cancelled' });
	t.deepEqual(discarded, ['half']);
	one.runs[0]?.finish();
});

test('what a cancelled job has left is removed also if the processes that ran it or its cleanup have ended three times', async (t) => {
	const discarded: unknown[] = [];
	const { ada, serve, advance, setPaused } = await crashes(t, {
		ignoresSignal: true,
		discard: async (saved, owner) => void discarded.push([saved, owner]),
	});
	let now = serve();
	const { id } = await now.queue(ada, 'a');
	const all = [now];
	await now.poll();
	await now.runs[0]?.context.checkpoint('half');
	for (let end = 1; end < 3; end++) {
		now.kill();
		now = serve();
		all.push(now);
		await until('it runs again', async () => {
			advance(10 * second);
			await now.poll();
			return now.runs.length > 0;
		});
	}
	await now.jobs.cancelAny(id);
	t.deepEqual(discarded, []);
	now.kill();
	setPaused(true);
	now = serve();
	await now.poll();
	t.like(await now.jobs.find(ada, id), { status: 'cancelled', error: null });
	await until('it is removed', async () => discarded.length > 0);
	t.deepEqual(discarded, [['half', ada]]);
	for (const { runs } of all) runs[0]?.finish();
});

test('a cancelled job makes those of its user wait for each other for a day, and not at all if it had passed its trial', async (t) => {
	const { ada, serve, advance, database } = await crashes(t);
	const one = serve();
	const { id } = await one.queue(ada, 'a');
	await one.poll();
	one.kill();
	const two = serve();
	await two.poll();
	t.is(two.runs.length, 1);
	// It may have ended the process a moment later.
	await two.jobs.cancel(ada, id);
	two.runs[0]?.finish();
	await until('it is cancelled', async () => {
		await two.poll();
		return (await two.jobs.find(ada, id)).status === 'cancelled';
	});
	const waiting = new Map<string, string>();
	for (const title of ['b', 'c', 'd']) waiting.set(title, (await two.queue(ada, title)).id);
	await two.poll();
	t.deepEqual(two.begun(), ['a', 'b']);
	t.truthy((await two.jobs.list(ada))[0]?.hold);
	for (const title of ['c', 'd']) await two.jobs.cancelAny(waiting.get(title) ?? '');
	two.runs[1]?.finish();
	await until('b has ended', async () => (await two.jobs.find(ada, waiting.get('b') ?? '')).status === 'completed');
	advance(day);
	for (const title of ['c', 'd']) await two.queue(ada, title);
	await two.poll();
	t.deepEqual(two.begun(), ['a', 'b', 'c', 'd'], 'together');

	two.kill();
	const three = serve();
	await three.poll();
	t.is(three.runs.length, 1);
	const tried = three.runs[0]?.context.input;
	for (let passed = 0; passed < minute + 5 * second; passed += 5 * second) {
		advance(5 * second);
		await three.poll();
	}
	const interrupted = (await three.jobs.list(ada)).find(({ title }) => title === tried);
	if (interrupted === undefined) return t.fail('it runs');
	const { interruptions } = await database.jobs.listInterruptions();
	t.like(
		interruptions.find(({ jobId }) => jobId === interrupted.id),
		{ hasPassed: true },
	);
	await three.jobs.cancel(ada, interrupted.id);
	three.runs[0]?.finish();
	await until('it is cancelled', async () => {
		await three.poll();
		return (await three.jobs.find(ada, interrupted.id)).status === 'cancelled';
	});
});

test('jobs that are cancelled after each of three ends keep those of their user waiting longer than a day', async (t) => {
	const { ada, serve, advance } = await crashes(t);
	let now = serve();
	for (let n = 0; n < 3; n++) {
		const { id } = await now.queue(ada, `deadly ${n}`);
		await until('it begins', async () => {
			await now.poll();
			advance(second);
			return now.runs.length > 0;
		});
		now.kill();
		now = serve();
		await now.poll();
		await now.jobs.cancelAny(id);
		for (const { finish } of now.runs) finish();
		now.kill();
		now = serve();
	}
	await now.queue(ada, 'next');
	advance(day - minute);
	await now.poll();
	t.is(now.runs.length, 0);
});

test('a process serves for two seconds before it runs an interrupted job, and runs others at once', async (t) => {
	const { ada, bob, serve, advance } = await crashes(t);
	const one = serve();
	await one.queue(ada, 'a');
	await one.poll();
	one.kill();
	const two = serve();
	await two.queue(bob, 'b');
	two.jobs.begin();
	await two.poll();
	t.deepEqual(two.begun(), ['b']);
	advance(2 * second);
	await two.poll();
	t.deepEqual(two.begun(), ['b', 'a']);
});

test('after an unclean end new jobs of others begin at once, however long those that were interrupted are tried', async (t) => {
	const { ada, bob, serve, advance, addUser } = await crashes(t);
	const one = serve();
	await one.queue(ada, 'film');
	await one.queue(bob, 'film of bob');
	await one.poll();
	one.kill();
	const two = serve();
	const carol = await addUser('carol');
	for (let n = 0; n < 3; n++) await two.queue(ada, `clip ${n}`);
	for (let passed = 0; passed < 150 * second; passed += 5 * second) {
		await two.others.start(carol, 'small', 'small');
		await two.poll();
		const [run, ...more] = two.others.runs.splice(0);
		t.truthy(run, `after ${passed} ms`);
		t.is(more.length, 0);
		run?.finish();
		await until('it has ended', async () => (await two.jobs.list(carol))[0]?.status === 'completed');
		advance(5 * second);
	}
	// Both have passed, so of neither user anything is tried alone.
	t.deepEqual(two.begun().sort(), ['clip 0', 'clip 1', 'film', 'film of bob']);
	t.true((await two.jobs.listOf()).every(({ hold }) => hold === null));
});

test('a user with suspected jobs without end does not keep those of others from being tried', async (t) => {
	const { ada, bob, serve, advance } = await crashes(t);
	const zero = serve();
	await zero.queue(bob, 'film of bob');
	await zero.poll();
	zero.kill();
	const one = serve();
	for (let passed = 0; passed < 65 * second; passed += 5 * second) {
		await one.poll();
		advance(5 * second);
	}
	const { id } = await one.queue(ada, 'film');
	await one.poll();
	t.deepEqual(one.begun(), ['film of bob', 'film']);
	one.kill();
	// By their ends ada's come first.
	const two = serve();
	for (let n = 0; n < 9; n++) await two.queue(ada, `more ${n}`);
	advance(minute);
	two.jobs.begin();
	await two.jobs.cancel(ada, id);
	for (let passed = 0; passed < 5 * minute; passed += 5 * second) {
		await two.poll();
		advance(5 * second);
		for (const { context, finish } of two.runs) if (context.input.startsWith('more') && passed % minute === 0) finish();
	}
	t.true(two.begun().slice(0, 3).includes('film of bob'), `${two.begun()}`);
});

test('a user whose jobs are tried alone for a day has the only place in turns with others', async (t) => {
	const { ada, bob, serve } = await crashes(t, { concurrency: 1 });
	const one = serve();
	const { id } = await one.queue(ada, 'film');
	await one.poll();
	one.kill();
	const two = serve();
	await two.jobs.cancel(ada, id);
	for (let n = 1; n <= 4; n++) await two.queue(ada, `clip ${n}`);
	for (let n = 1; n <= 3; n++) await two.queue(bob, `clip ${n} of bob`);
	for (let ended = 0; ended < 7; ended++) {
		await until('the place is taken again', async () => {
			await two.poll();
			return two.runs.length > ended;
		});
		two.runs[ended]?.finish();
	}
	t.deepEqual(
		two.begun().filter((title) => title !== 'film'),
		['clip 1', 'clip 1 of bob', 'clip 2', 'clip 2 of bob', 'clip 3', 'clip 3 of bob', 'clip 4'],
	);
});

test('no run gives back its place for a job that waits for the administrator', async (t) => {
	const { ada, bob, serve, advance } = await crashes(t, { concurrency: 1, short: { places: 1, seconds: 60 } });
	let now = serve();
	await now.queue(ada, 'deadly');
	for (let end = 1; end <= 3; end++) {
		await until('it begins', async () => {
			await now.poll();
			advance(10 * second);
			return now.runs.length > 0;
		});
		now.kill();
		now = serve();
	}
	await now.queue(ada, 'held');
	await now.queue(bob, 'film', { expectedSeconds: 7200 });
	await now.queue(bob, 'slow');
	for (let passed = 0; passed < 5 * minute; passed += 5 * second) {
		await now.poll();
		advance(5 * second);
	}
	t.deepEqual(now.begun(), ['film', 'slow']);
	t.true(now.runs.every(({ context }) => !context.signal.aborted));
});

test('a run gives back its place for a suspected job once that may begin, not while another one is tried', async (t) => {
	const { ada, bob, serve, advance } = await crashes(t, { concurrency: 1, short: { places: 1, seconds: 10 } });
	const one = serve();
	await one.queue(ada, 'film', { expectedSeconds: 7200 });
	await one.poll();
	one.kill();
	const two = serve();
	await two.queue(bob, 'slow');
	await two.queue(ada, 'clip');
	await two.poll();
	t.deepEqual(two.begun().sort(), ['film', 'slow']);
	const slow = two.runs.find(({ context }) => context.input === 'slow');
	const pass = async (ms: number) => {
		for (let passed = 0; passed < ms; passed += 5 * second) {
			advance(5 * second);
			await two.poll();
		}
	};
	await pass(50 * second);
	t.false(slow?.context.signal.aborted);
	await pass(20 * second);
	t.true(slow?.context.signal.aborted);
	await until('the clip has its place', async () => {
		await two.poll();
		return two.begun().includes('clip');
	});
});

test('an interrupted job that fails by itself counts on: the third end fails it, and keeps the others of its user waiting', async (t) => {
	const { ada, serve, advance } = await crashes(t);
	let now = serve();
	const { id } = await now.queue(ada, 'deadly');
	const waits: number[] = [];
	const begin = async () => {
		let waited = 0;
		await until('it begins, or waits for long', async () => {
			await now.poll();
			if (now.runs.length > 0 || waited > hour) return true;
			advance(10 * second);
			waited += 10 * second;
			return false;
		});
		waits.push(waited);
	};
	await begin();
	for (let end = 1; end <= 2; end++) {
		now.kill();
		now = serve();
		await begin();
		// Its file has another name for the moment.
		now.runs[0]?.fail(new Failure('notFound', 'There is no such file.'));
		await until('it has failed', async () => (await now.jobs.find(ada, id)).status === 'failed');
		await now.jobs.retry(ada, id);
		now.runs.splice(0);
		await begin();
	}
	now.kill();
	now = serve();
	await now.poll();
	t.like(await now.jobs.find(ada, id), { status: 'failed' });
	t.regex((await now.jobs.find(ada, id)).error ?? '', /ended 3 times/);
	await now.jobs.retry(ada, id);
	await begin();
	t.is(now.runs.length, 0);
	t.regex((await now.jobs.find(ada, id)).hold?.reason ?? '', /They wait for the administrator/);
	t.deepEqual(waits.slice(0, 5), [0, 0, 0, 30 * second, 0]);
});

test('jobs that end processes, and whose files are harmless while they are tried, wait longer each time, and then for a day', async (t) => {
	const { ada, serve, advance } = await crashes(t);
	let now = serve();
	let ends = 0;
	const waits: number[] = [];
	const begins = async () => {
		let waited = 0;
		for (; waited < 2 * hour; waited += 10 * second) {
			await now.poll();
			if (now.runs.length > 0) break;
			advance(10 * second);
		}
		return waited;
	};
	for (; ends < 12; ends++) {
		const { id } = await now.queue(ada, `deadly ${ends}`);
		t.is(await begins(), 0);
		now.kill();
		now = serve();
		waits.push(await begins());
		if (now.runs.length === 0) break;
		now.runs[0]?.finish();
		await until('it is completed', async () => (await now.jobs.find(ada, id)).status === 'completed');
		now.runs.splice(0);
		advance(20 * second);
	}
	// Four that have passed count half.
	t.is(ends, 4);
	t.deepEqual(waits.slice(0, 4), [0, 30 * second, 2 * minute, 10 * minute]);
	t.regex((await now.jobs.list(ada))[0]?.hold?.reason ?? '', /5 times while such jobs of yours ran/);
	await now.others.start(ada, 'other', 'other');
	await now.poll();
	t.is(now.others.runs.length, 1, 'other work goes on');
	advance(day);
	await now.poll();
	t.is(now.runs.length, 1);
});

test('a job that ends processes after it has passed its trial fails at the third end, and the others of its user wait', async (t) => {
	const { ada, serve, advance } = await crashes(t);
	let now = serve();
	const { id } = await now.queue(ada, 'slow poison');
	await now.poll();
	for (let end = 1; end <= 3; end++) {
		now.kill();
		now = serve();
		for (let passed = 0; passed < 5 * minute; passed += 5 * second) {
			await now.poll();
			advance(5 * second);
		}
		if (end < 3) t.is(now.runs.length, 1);
	}
	t.is(now.runs.length, 0);
	t.like(await now.jobs.find(ada, id), { status: 'failed' });
	await now.queue(ada, 'next');
	await now.poll();
	t.regex((await now.jobs.list(ada))[0]?.hold?.reason ?? '', /3 times while such jobs of yours ran/);
});

test('the administrator’s job is tried alone, without a pause, and fails after the third end', async (t) => {
	const { ada, serve } = await crashes(t);
	const first = serve();
	const { id } = await first.queue(ada, 'move', { orderedBy: 'administrator' });
	for (let n = 0; n < 3; n++) {
		const now = serve();
		await now.poll();
		t.is(now.runs.length, 1);
		// Checkpoints don't hide that it ends processes.
		await now.runs[0]?.context.checkpoint(n);
		now.kill();
	}
	const last = serve();
	await last.poll();
	t.is(last.runs.length, 0);
	t.like(await last.jobs.find(ada, id), { status: 'failed' });
	await until('its end is said', async () => last.ended.length > 0);
	t.deepEqual(last.ended, ['move failed ada'], 'as the audit log names it');
	await last.jobs.retryAny(id);
	await last.poll();
	t.is(last.runs.length, 1);
});

test('the end of a job that is cancelled while its process ends is said once, by who takes it over', async (t) => {
	const { ada, serve } = await crashes(t);
	const one = serve();
	const { id } = await one.queue(ada, 'copy');
	await one.poll();
	one.kill();
	const two = serve();
	await two.jobs.cancelAny(id);
	await until('it is cancelled', async () => {
		await two.poll();
		return (await two.jobs.find(ada, id)).status === 'cancelled';
	});
	await until('its end is said', async () => two.ended.length > 0);
	await two.poll();
	t.deepEqual(two.ended, ['copy cancelled ada']);
});
