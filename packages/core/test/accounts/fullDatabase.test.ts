import { mock } from 'node:test';
import { Failure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { createEndedSessions } from '../../src/accounts/endedSessions.js';
import { Client, json, type TestApp, testApp } from '../testApp.js';

const credentials = { username: 'ada', password: 'correct horse' };

const full = () => Promise.reject(new Failure('storageFull', 'The disk of the database is full.'));

/** Makes calls of a store fail as on a full disk, until the end of the test or until `mend`. */
function fill<Store extends object>(store: Store, ...calls: (keyof Store)[]): () => void {
	const before = { ...store };
	for (const call of calls) store[call] = full as Store[keyof Store];
	return () => void Object.assign(store, before);
}

async function isLoggedIn(app: TestApp, cookie: string | undefined): Promise<boolean> {
	return json(await new Client(app).get('/api/checkLoginStatus', { cookie: cookie ?? '' })).isLoggedIn;
}

test('signing out works on a full disk: the session opens nothing, and its row goes once there is room', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { cookie } = ada;
	const other = new Client(app);
	await other.post('/api/login', credentials);
	const { sessions } = app.services.database;
	const mend = fill(sessions, 'remove');
	const answer = await ada.get('/api/logout');
	t.is(answer.statusCode, 200);
	t.regex(answer.headers['set-cookie']?.[0] ?? '', /Max-Age=0/);
	t.false(await isLoggedIn(app, cookie));
	t.true(await isLoggedIn(app, other.cookie));
	mend();
	t.false(await isLoggedIn(app, cookie), 'there is room again, but nobody has deleted it yet');
	const removed: string[] = [];
	const { remove } = sessions;
	sessions.remove = async (idHash) => {
		await remove(idHash);
		removed.push(idHash);
	};
	await app.server.stop();
	t.is(removed.length, 1);
});

// Its clock is the process's, so nothing else may run meanwhile.
test.serial('a session that can’t be deleted, for whatever reason, is tried again and opens nothing', async (t) => {
	const faults: unknown[] = [];
	let answer: Promise<void> = Promise.reject(new Failure('unavailable', 'The database is not available right now.'));
	const clock = mock.timers;
	clock.enable({ apis: ['setTimeout'] });
	t.teardown(() => clock.reset());
	const ended = createEndedSessions({ remove: () => answer }, (fault) => faults.push(fault));
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

test('a signed-in person goes on reading on a full disk', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { sessions } = app.services.database;
	const { find } = sessions;
	// As after ten minutes, when a sign of life is due.
	sessions.find = async (idHash, now) => {
		const found = await find(idHash, now);
		return found && { ...found, session: { ...found.session, lastSeenAt: now - 10 * 60_000 } };
	};
	fill(sessions, 'touch');
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

test('without room for counting tries an honest person signs in, and guesses are counted all the same', async (t) => {
	// It stands: the guesses of a minute may take longer.
	const now = Date.now();
	const app = await testApp(t, {}, { now: () => now });
	await new Client(app).register('ada');
	fill(app.services.database.limits, 'hit', 'hitEach', 'release', 'releaseEach');
	for (let n = 0; n < 12; n++) t.is((await new Client(app).post('/api/login', credentials)).statusCode, 200);
	await guesses(t, app);
});

test('without room for a session signing in says that the disk is full', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	fill(app.services.database.sessions, 'add');
	const answer = await new Client(app).post('/api/login', credentials);
	t.is(answer.statusCode, 507);
	t.is(json(answer).code, 'STORAGE_FULL');
});
