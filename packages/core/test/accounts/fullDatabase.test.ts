import { mock } from 'node:test';
import type { LimitStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { createEndedSessions } from '../../src/accounts/sessions.js';
import { withMemoryFallback } from '../../src/accounts/withMemoryFallback.js';
import { SiblingEvents } from '../../src/events/SiblingEvents.js';
import { noSiblings } from '../../src/events/siblings.js';
import { createSiblings } from '../severalApps.js';
import { Client, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const credentials = { username: 'ada', password: 'correct horse' };

const full = () => Promise.reject(new Failure('storageFull', 'The disk of the database is full.'));

/** Makes methods of a store fail as on a full disk, until the returned function is called. */
function failAsFull<Store extends object>(store: Store, ...methods: (keyof Store)[]): () => void {
	const original = { ...store };
	for (const method of methods) store[method] = full as Store[keyof Store];
	return () => void Object.assign(store, original);
}

async function isLoggedIn(app: TestApp, cookie: string | undefined): Promise<boolean> {
	return json(await new Client(app).get('/api/checkLoginStatus', { cookie: cookie ?? '' })).isLoggedIn;
}

test('signing out on a full disk ends the session at once, and its row is deleted once there is room', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { cookie } = ada;
	const other = new Client(app);
	await other.post('/api/login', credentials);
	const { sessions } = app.services.database;
	const restore = failAsFull(sessions, 'remove');
	const answer = await ada.get('/api/logout');
	t.is(answer.statusCode, 200);
	t.regex(answer.headers['set-cookie']?.[0] ?? '', /Max-Age=0/);
	t.false(await isLoggedIn(app, cookie));
	t.true(await isLoggedIn(app, other.cookie));
	restore();
	t.false(await isLoggedIn(app, cookie), 'there is room again, and the row is not deleted yet');
	const removed: string[] = [];
	const { remove } = sessions;
	sessions.remove = async (idHash) => {
		await remove(idHash);
		removed.push(idHash);
	};
	await app.server.stop();
	t.is(removed.length, 1);
});

// It mocks the clock of the whole process, so no other test may run at the same time.
test.serial('an ended session stays invalid until a retry deletes its row, and errors are reported', async (t) => {
	const faults: unknown[] = [];
	let answer: Promise<void> = Promise.reject(new Failure('unavailable', 'The database is not available right now.'));
	const clock = mock.timers;
	clock.enable({ apis: ['setTimeout'] });
	t.teardown(() => clock.reset());
	const ended = createEndedSessions({ remove: () => answer }, new SiblingEvents(noSiblings), (fault) =>
		faults.push(fault),
	);
	const afterRetry = async () => {
		clock.tick(10_000);
		for (let n = 0; n < 10; n++) await Promise.resolve();
	};
	await ended.end('hash');
	const damage = new Error('database disk image is malformed');
	answer = Promise.reject(damage);
	answer.catch(() => {});
	await afterRetry();
	t.deepEqual(faults, [damage]);
	t.true(ended.has('hash'));
	answer = Promise.resolve();
	await afterRetry();
	t.false(ended.has('hash'));
});

test('workers tell each other of ended sessions and of guesses that a full disk keeps out of the database', async (t) => {
	const join = createSiblings();
	const fault = (error: unknown) => t.fail(String(error));
	const limits = { hit: full, hitEach: full, peekEach: full, releaseEach: full } satisfies LimitStore;
	const makeWorker = (name: string) => {
		const siblings = new SiblingEvents(join(name === 'one'));
		const ended = createEndedSessions({ remove: full }, siblings, fault);
		const counted = withMemoryFallback(limits, siblings);
		siblings.join(name);
		return {
			ended,
			hit: () => counted.hit('guesses', 60_000, 1000),
			release: () => counted.releaseEach([{ key: 'guesses', endsAt: 61_000 }]),
		};
	};
	const [one, two] = [makeWorker('one'), makeWorker('two')];
	await one.ended.end('hash');
	t.true(two.ended.has('hash'));
	const late = makeWorker('late');
	await until('a worker that began later is told', () => late.ended.has('hash'));

	await one.hit();
	await one.hit();
	await until('the other one has counted them', async () => (await two.hit()).count > 2);
	const { count } = await two.hit();
	await two.release();
	await until('what is released is so everywhere', async () => {
		const { count: now } = await one.hit();
		await one.release();
		return now === count;
	});
});

test('a signed-in user can browse while a full disk keeps the last use of the session from being stored', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { sessions } = app.services.database;
	const { find } = sessions;
	// As after ten minutes, when the time of the last use is due to be stored.
	sessions.find = async (idHash, now) => {
		const found = await find(idHash, now);
		return found && { ...found, session: { ...found.session, lastSeenAt: now - 10 * 60_000 } };
	};
	failAsFull(sessions, 'touch');
	t.is((await ada.get('/api/browse?type=private')).statusCode, 200);
});

const guesses = async (t: ExecutionContext, app: TestApp) => {
	const statuses: number[] = [];
	for (let n = 0; n < 12; n++) {
		const answer = await new Client(app).post('/api/login', { username: 'ada', password: 'wrong guess' });
		statuses.push(answer.statusCode);
	}
	t.deepEqual(statuses, [...Array(10).fill(401), 429, 429]);
};

test('on a full disk users can sign in, and wrong passwords are still limited', async (t) => {
	// The clock is frozen: all guesses must fall into one minute, however slow the machine is.
	const now = Date.now();
	const app = await testApp(t, {}, { now: () => now });
	await new Client(app).register('ada');
	failAsFull(app.services.database.limits, 'hit', 'hitEach', 'releaseEach');
	for (let n = 0; n < 12; n++) t.is((await new Client(app).post('/api/login', credentials)).statusCode, 200);
	await guesses(t, app);
});

test('a sign-in whose session can’t be stored on a full disk is answered 507', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	failAsFull(app.services.database.sessions, 'add');
	const answer = await new Client(app).post('/api/login', credentials);
	t.is(answer.statusCode, 507);
	t.is(json(answer).code, 'STORAGE_FULL');
});
