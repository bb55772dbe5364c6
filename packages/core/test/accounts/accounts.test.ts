import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { Client, json, type TestApp, testApp } from '../testApp.js';

test('signing up starts a session and creates a home with a public tree', async (t) => {
	const app = await testApp(t);
	const visitor = new Client(app);
	t.deepEqual(json(await visitor.get('/api/checkLoginStatus')), {
		isLoggedIn: false,
		username: null,
		settings: null,
		quota: null,
	});
	const answer = await visitor.post('/api/register', {
		username: 'Ada',
		password: 'correct horse',
		passwordConfirm: 'correct horse',
	});
	t.is(answer.statusCode, 200);
	t.deepEqual(json(answer), { username: 'Ada', settings: { promptBeforeDownload: false, enablePreview: true } });
	t.deepEqual(json(await visitor.get('/api/checkLoginStatus')), {
		isLoggedIn: true,
		quota: null,
		username: 'Ada',
		settings: { promptBeforeDownload: false, enablePreview: true },
	});
	t.deepEqual(await readdir(path.join(app.filesDir, 'users', 'Ada')), ['Public']);
});

test('the session cookie is sealed, HttpOnly and SameSite=Lax, and not Secure over plain HTTP', async (t) => {
	const app = await testApp(t);
	const answer = await new Client(app).post('/api/register', {
		username: 'ada',
		password: 'correct horse',
		passwordConfirm: 'correct horse',
	});
	const [cookie = ''] = [answer.headers['set-cookie'] ?? []].flat();
	t.regex(cookie, /^sid=Fe26\.2\*/);
	t.regex(cookie, /HttpOnly/);
	t.regex(cookie, /SameSite=Lax/);
	t.regex(cookie, /Path=\//);
	t.notRegex(cookie, /Secure/);
});

test('with an https public URL the session cookie is Secure, and its name and path bind it to the host or to the base path', async (t) => {
	const body = { username: 'ada', password: 'correct horse', passwordConfirm: 'correct horse' };
	const plain = await testApp(t, { '--public-url': 'https://files.example.org' });
	const [atRoot = ''] = [(await new Client(plain).post('/api/register', body)).headers['set-cookie'] ?? []].flat();
	t.regex(atRoot, /^__Host-sid=/);
	t.regex(atRoot, /Secure/);
	t.regex(atRoot, /Path=\/(;|$)/);
	const below = await testApp(t, { '--public-url': 'https://example.org/files', '--base-path': '/files' });
	const [atBase = ''] = [
		(await new Client(below).post('/files/api/register', body)).headers['set-cookie'] ?? [],
	].flat();
	t.regex(atBase, /^__Secure-sid=/);
	t.regex(atBase, /Path=\/files(;|$)/);
});

test('signing in ignores the case of the user name and replaces the former session', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('Ada');
	const before = ada.cookie;
	const answer = await ada.post('/api/login', { username: 'aDA', password: 'correct horse' });
	t.is(json(answer).username, 'Ada');
	t.not(ada.cookie, before);
	const replay = new Client(app);
	replay.cookie = before;
	t.false(json(await replay.get('/api/checkLoginStatus')).isLoggedIn);
});

test('signing out ends the session of that client and no other', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const other = new Client(app);
	await other.post('/api/login', { username: 'ada', password: 'correct horse' });
	const stolen = new Client(app);
	stolen.cookie = ada.cookie;
	t.is((await ada.get('/api/logout')).statusCode, 200);
	t.is((await stolen.get('/api/browse?type=private')).statusCode, 401);
	t.is((await other.get('/api/browse?type=private')).statusCode, 200, 'the session on another device is still valid');
});

test('setting a user’s password, disabling the user and removing the user each end the sessions of that user', async (t) => {
	const app = await testApp(t);
	const { accounts } = app.services;
	for (const end of [
		() => accounts.setPassword('ada', 'another horse'),
		() => accounts.setDisabled('ada', true),
		() => accounts.remove('ada', { kind: 'keep' }),
	]) {
		if ((await accounts.list()).length === 0) await accounts.create('ada', 'correct horse');
		await accounts.setDisabled('ada', false);
		await accounts.setPassword('ada', 'correct horse');
		const ada = new Client(app);
		t.is((await ada.post('/api/login', { username: 'ada', password: 'correct horse' })).statusCode, 200);
		await end();
		t.is((await ada.get('/api/browse?type=private')).statusCode, 401);
	}
});

test('a wrong password, an unknown user name and an invalid one get the same answer', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const wrong = await new Client(app).post('/api/login', { username: 'ada', password: 'not the one' });
	const unknown = await new Client(app).post('/api/login', { username: 'nobody', password: 'not the one' });
	t.is(wrong.statusCode, 401);
	t.is(json(wrong).error, 'Invalid username or password');
	t.is(wrong.payload, unknown.payload);
	for (const username of ['anonymous', '../ada', 'ada\0', '\ud800', ' ', 'x'.repeat(256)]) {
		const answer = await new Client(app).post('/api/login', { username, password: 'not the one' });
		t.is(answer.payload, unknown.payload, JSON.stringify(username));
	}
});

test('an address has ten wrong passwords a minute for an account, in any case of its name, and another address can still sign in', async (t) => {
	// The clock is frozen: all guesses must fall into one minute, however slow the machine is.
	const now = Date.now();
	const app = await testApp(t, { '--trusted-proxies': '127.0.0.1' }, { now: () => now });
	await new Client(app).register('ada');
	const guess = (username: string, from: string) =>
		new Client(app).post('/api/login', { username, password: 'wrong guess' }, { 'x-forwarded-for': from });
	const answers = await Promise.all(
		Array.from({ length: 30 }, (_, n) => guess(n % 2 === 0 ? 'ada' : 'ADA', '203.0.113.5')),
	);
	t.is(answers.filter(({ statusCode }) => statusCode === 401).length, 10);
	const refused = answers.find(({ statusCode }) => statusCode === 429);
	t.is(json(refused as never).code, 'RATE_LIMITED');
	t.true(Number(refused?.headers['retry-after']) >= 1);
	const elsewhere = await new Client(app).post(
		'/api/login',
		{ username: 'ada', password: 'correct horse' },
		{ 'x-forwarded-for': '203.0.113.9' },
	);
	t.is(elsewhere.statusCode, 200);
});

test('successful sign-ins do not count towards the limit of wrong passwords', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	for (let n = 0; n < 15; n++) {
		t.is((await new Client(app).post('/api/login', { username: 'ada', password: 'correct horse' })).statusCode, 200);
	}
});

const refused = async (
	t: import('ava').ExecutionContext,
	body: Record<string, unknown>,
	status: number,
	message: RegExp,
) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	await mkdir(path.join(app.filesDir, 'users', 'Grace'), { recursive: true });
	const answer = await new Client(app).post('/api/register', body);
	t.is(answer.statusCode, status);
	t.regex(json(answer).error, message);
	t.is(json(answer).error, json(answer).message);
	t.is((await app.services.accounts.list()).length, 1);
};
const withConfirmation = (password: string) => ({ password, passwordConfirm: password });
test(
	'two different passwords are refused',
	refused,
	{ username: 'bob', password: 'correct horse', passwordConfirm: 'correct house' },
	400,
	/^Passwords do not match$/,
);
test('a short password is refused', refused, { username: 'bob', ...withConfirmation('short') }, 400, /8 to 256/);
test(
	'a password of 257 characters is refused',
	refused,
	{ username: 'bob', ...withConfirmation('x'.repeat(257)) },
	400,
	/8 to 256/,
);
test(
	'a user name with a slash is refused',
	refused,
	{ username: '../bob', ...withConfirmation('correct horse') },
	400,
	/user name/,
);
test(
	'the user name anonymous is refused',
	refused,
	{ username: 'Anonymous', ...withConfirmation('correct horse') },
	400,
	/user name/,
);
test(
	'a user name that differs from another one only in case is refused as taken',
	refused,
	{ username: 'ADA', ...withConfirmation('correct horse') },
	409,
	/taken/,
);
test(
	'a user name whose home exists on the disk without a user is refused as taken',
	refused,
	{ username: 'grace', ...withConfirmation('correct horse') },
	409,
	/taken/,
);
test(
	'an unknown field is refused with its name',
	refused,
	{ username: 'bob', ...withConfirmation('correct horse'), isAdmin: true },
	400,
	/isAdmin/,
);
test(
	'a field of the wrong type is refused with its name',
	refused,
	{ username: { a: 1 }, ...withConfirmation('correct horse') },
	400,
	/username/,
);
test(
	'a field named __proto__ is refused with its name',
	refused,
	JSON.parse('{"username":"bob","password":"correct horse","passwordConfirm":"correct horse","__proto__":{"a":1}}'),
	400,
	/__proto__/,
);

/** Registers behind a proxy, as from an address. */
const registering = (app: TestApp) => (username: string, from: string) =>
	new Client(app).post(
		'/api/register',
		{ username, ...withConfirmation('correct horse') },
		{ 'x-forwarded-for': from },
	);

test('registrations an hour are limited by address, failed ones included, and users created by the administrator do not count', async (t) => {
	const app = await testApp(t, { '--registrations-per-hour': '2', '--trusted-proxies': '127.0.0.1' });
	const register = registering(app);
	t.is((await register('ada', '203.0.113.5')).statusCode, 200);
	t.is((await register('ada', '203.0.113.5')).statusCode, 409, 'a failed attempt counts as well');
	const refused = await register('bob', '203.0.113.5');
	t.is(refused.statusCode, 429);
	t.is(json(refused).code, 'RATE_LIMITED');
	t.true(Number(refused.headers['retry-after']) > 3000);
	t.is((await register('bob', '203.0.113.6')).statusCode, 200);
	await app.services.accounts.create('carol', 'correct horse');
});

test('from the largest IPv6 network that one customer has four times as many may register as from one address', async (t) => {
	const app = await testApp(t, { '--registrations-per-hour': '2', '--trusted-proxies': '127.0.0.1' });
	const register = registering(app);
	const codes = [];
	for (let n = 0; n < 12; n++) codes.push((await register(`ada${n}`, '2001:db8:1:a::1')).statusCode);
	t.deepEqual(codes, [200, 200, ...Array(10).fill(429)], 'one address');
	for (let n = 0; n < 6; n++) t.is((await register(`bob${n}`, `2001:db8:1:${n}::1`)).statusCode, 200);
	const refused = await register('carol', '2001:db8:1:ffff::1');
	t.is(refused.statusCode, 429);
	t.true(Number(refused.headers['retry-after']) > 3000);
	t.is((await register('carol', '2001:db8:2:ffff::1')).statusCode, 200);
	t.is((await register('dave', '203.0.113.6')).statusCode, 200);
});

test('with closed registration a registration is refused, and users created by the administrator can sign in', async (t) => {
	const app = await testApp(t, { '--registration': 'closed' });
	const answer = await new Client(app).post('/api/register', { username: 'ada', ...withConfirmation('correct horse') });
	t.is(answer.statusCode, 403);
	t.is(json(await new Client(app).get('/api/capabilities')).registration, 'closed');
	await app.services.accounts.create('ada', 'correct horse');
	t.is((await new Client(app).post('/api/login', { username: 'ada', password: 'correct horse' })).statusCode, 200);
});

test('changing settings stores the given ones, keeps the others, and refuses visitors and unknown settings', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const answer = await ada.call('PUT', '/api/settings', { settings: { promptBeforeDownload: true } });
	t.deepEqual(json(answer), { settings: { promptBeforeDownload: true, enablePreview: true } });
	t.true(json(await ada.get('/api/checkLoginStatus')).settings.promptBeforeDownload);
	t.is((await new Client(app).call('PUT', '/api/settings', { settings: {} })).statusCode, 401);
	t.is((await ada.call('PUT', '/api/settings', { settings: { theme: 'light' } })).statusCode, 400);
});

test('25 concurrent sign-ins with the right password all succeed', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const answers = await Promise.all(
		Array.from({ length: 25 }, () =>
			new Client(app).post('/api/login', { username: 'ada', password: 'correct horse' }),
		),
	);
	t.deepEqual(
		answers.map(({ statusCode }) => statusCode),
		Array(25).fill(200),
	);
});
