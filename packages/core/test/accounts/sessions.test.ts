import test from 'ava';
import { Client, json, type TestApp, testApp } from '../testApp.js';

const password = 'correct horse';

/** Another signed-in client of an existing user. */
async function signedIn(app: TestApp, username: string, headers: Record<string, string> = {}): Promise<Client> {
	const client = new Client(app);
	const answer = await client.post('/api/login', { username, password }, headers);
	if (answer.statusCode !== 200) throw new Error(answer.payload);
	return client;
}

const isSignedIn = async (client: Client) => json(await client.get('/api/checkLoginStatus')).isLoggedIn as boolean;

test('users can list their own sessions, end one of them, and end all others', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const phone = await signedIn(app, 'ada', { 'user-agent': 'Phone\ttest' });
	const tablet = await signedIn(app, 'ada', { 'user-agent': 'Tablet' });
	const bob = await new Client(app).register('bob');

	const listed = json(await ada.get('/api/sessions')) as Record<string, unknown>[];
	t.is(listed.length, 3);
	t.deepEqual(listed.map(({ current }) => current).sort(), [false, false, true]);
	const ofPhone = listed.find(({ userAgent }) => userAgent === 'Phone\ttest');
	t.like(ofPhone, { address: '127.0.0.1', current: false });
	t.notRegex(JSON.stringify(listed), /[0-9a-f]{64}/, 'no hash of a secret');
	t.false(listed.some(({ id }) => ada.cookie?.includes(String(id))));

	t.is((await bob.call('DELETE', `/api/sessions/${ofPhone?.id}`)).statusCode, 404, 'another user’s session');
	t.is((await ada.call('DELETE', '/api/sessions/0123456789abcdef')).statusCode, 404);
	t.true(await isSignedIn(phone));
	t.is((await ada.call('DELETE', `/api/sessions/${ofPhone?.id}`)).statusCode, 200);
	t.false(await isSignedIn(phone));
	t.true(await isSignedIn(tablet));

	t.is((await ada.call('DELETE', '/api/sessions')).statusCode, 200);
	t.deepEqual(await Promise.all([ada, tablet, bob].map(isSignedIn)), [true, false, true]);
	t.is(json(await ada.get('/api/sessions')).length, 1);
	for (const [method, url] of [
		['GET', '/api/sessions'],
		['DELETE', '/api/sessions'],
		['DELETE', `/api/sessions/${listed[0]?.id}`],
	] as const)
		t.is((await new Client(app).call(method, url)).statusCode, 401, `${method} ${url}`);
});

test('changing the password ends every other session and replaces the cookie of this one', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const phone = await signedIn(app, 'ada');
	const change = (client: Client, currentPassword: string, newPassword: string, newPasswordConfirm = newPassword) =>
		client.post('/api/password', { currentPassword, newPassword, newPasswordConfirm });

	t.is((await change(ada, 'wrong horse', 'another horse')).statusCode, 401);
	t.is((await change(ada, password, 'another horse', 'another house')).statusCode, 400);
	t.is((await change(ada, password, 'short')).statusCode, 400);
	t.is((await change(new Client(app), password, 'another horse')).statusCode, 401);
	t.true(await isSignedIn(phone), 'a refused change ends no session');

	const old = ada.cookie;
	t.is((await change(ada, password, 'another horse')).statusCode, 200);
	t.not(ada.cookie, old);
	t.true(await isSignedIn(ada));
	t.false(await isSignedIn(phone));
	const replayed = new Client(app);
	replayed.cookie = old;
	t.false(await isSignedIn(replayed));
	t.is((await new Client(app).post('/api/login', { username: 'ada', password })).statusCode, 401);
	t.is((await new Client(app).post('/api/login', { username: 'ada', password: 'another horse' })).statusCode, 200);
});

test('wrong current passwords are limited as failed sign-ins are', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const statuses = new Set<number>();
	for (let tries = 0; tries < 12; tries++) {
		const answer = await ada.post('/api/password', {
			currentPassword: `guess ${tries}`,
			newPassword: 'another horse',
			newPasswordConfirm: 'another horse',
		});
		statuses.add(answer.statusCode);
	}
	t.deepEqual([...statuses], [401, 429]);
});
