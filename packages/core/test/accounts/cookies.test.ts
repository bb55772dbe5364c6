import { createHash } from 'node:crypto';
import { defaults, seal } from '@hapi/iron';
import test, { type ExecutionContext } from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { keepOwnCookies } from '../../src/accounts/ownCookies.js';
import { Client, file, json, recordsOf, type TestApp, testApp } from '../testApp.js';

async function isLoggedIn(app: TestApp, cookie: string): Promise<boolean> {
	return json(await new Client(app).get('/api/checkLoginStatus', { cookie })).isLoggedIn;
}

const findsSession = async (t: ExecutionContext, cookies: (own: string) => string) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const answer = await new Client(app).get('/api/checkLoginStatus', { cookie: cookies(ada.cookie ?? '') });
	t.true(json(answer).isLoggedIn);
	t.is(answer.headers['set-cookie'], undefined);
};
test('the session is found after another program’s cookie of the same name', findsSession, (own) => `sid=abc; ${own}`);
test('the session is found before another program’s cookie of the same name', findsSession, (own) => `${own}; sid=abc`);
test(
	'the session is found between cookies with invalid syntax',
	findsSession,
	(own) => `sid="a,b"; ${own}; x; y="; =z`,
);
test(
	'the session is found after cookies named __proto__ and constructor',
	findsSession,
	(own) => `__proto__=1; constructor=2; ${own}`,
);
test(
	'the session is found after a cookie that was sealed with another key',
	findsSession,
	(own) => `${own.slice(0, -8)}AAAAAAAA; ${own}`,
);

test('of thousands of values under the name of the session a few are tried', (t) => {
	const headers = { cookie: `${'sid=Fe26.2*a; '.repeat(2000)}device=b~c; ${'device=a~; '.repeat(100)}` };
	keepOwnCookies(headers, { session: 'sid', device: 'device', share: 'share', binding: undefined });
	const kept = headers.cookie.split('; ');
	t.is(kept.filter((pair) => pair === 'sid=Fe26.2*a').length, 16);
	t.is(kept.filter((pair) => pair.startsWith('device=')).length, 16);
	t.true(kept.includes('device=b~c'));
});

test('the session is found after the cookie of an ended one, and neither cookie is cleared', async (t) => {
	const app = await testApp(t);
	const old = await new Client(app).register('ada');
	const ended = old.cookie ?? '';
	await old.get('/api/logout');
	const now = new Client(app);
	await now.post('/api/login', { username: 'ada', password: 'correct horse' });
	const answer = await new Client(app).get('/api/checkLoginStatus', { cookie: `${ended}; ${now.cookie}` });
	t.true(json(answer).isLoggedIn);
	t.is(answer.headers['set-cookie'], undefined);
});

test('an invalid cookie with the session cookie’s name is not cleared, since it may be another program’s', async (t) => {
	const app = await testApp(t);
	const answer = await new Client(app).get('/api/checkLoginStatus', { cookie: 'sid=abc' });
	t.false(json(answer).isLoggedIn);
	t.is(answer.headers['set-cookie'], undefined);
});

test('signing out ends every session whose cookie the browser sends', async (t) => {
	const app = await testApp(t);
	const first = await new Client(app).register('ada');
	const second = new Client(app);
	await second.post('/api/login', { username: 'ada', password: 'correct horse' });
	const both = `${first.cookie}; ${second.cookie}`;
	t.is((await new Client(app).get('/api/logout', { cookie: both })).statusCode, 200);
	t.false(await isLoggedIn(app, first.cookie ?? ''));
	t.false(await isLoggedIn(app, second.cookie ?? ''));
});

const login = { username: 'ada', password: 'correct horse' };

/** Who a request with these cookies is. */
const userOf = async (app: TestApp, base: string, ...cookies: (string | undefined)[]) =>
	json(await new Client(app).get(`${base}/api/checkLoginStatus`, { cookie: cookies.filter(Boolean).join('; ') }))
		.username;

test('a session that another host of the domain has set beside the own one is nobody’s, both end, and a sign-in is enough', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const mallory = await new Client(app).register('mallory');
	const foreign = mallory.cookie ?? '';
	const sent = `${foreign}; ${ada.cookie}`;
	const upload = await new Client(app).upload('/api/upload', [file('secret.txt', 'hers')], { cookie: sent });
	t.is(upload.statusCode, 401, upload.payload);
	t.is(await userOf(app, '', sent), null);
	for (const each of [ada, mallory]) t.is(await userOf(app, '', each.cookie), null);
	// Lines are gathered for a moment before they are written.
	await app.services.audit.sweep({ byAge: false });
	const ended = (await recordsOf(app)).filter(({ action }) => action === 'endSessions');
	t.deepEqual(
		ended.map(({ account, entries, detail }) => ({ account, entries, detail })),
		['mallory', 'ada'].map((account) => ({ account, entries: 1, detail: 'several users' })),
	);
	// The foreign cookie is still sent first.
	const signedIn = await ada.post('/api/login', login, { cookie: sent });
	t.is(signedIn.statusCode, 200, signedIn.payload);
	t.is(await userOf(app, '', foreign, ada.cookie), 'ada');
});

test('two sessions of one user in a request are that user', async (t) => {
	const app = await testApp(t);
	const first = await new Client(app).register('ada');
	const second = new Client(app);
	await second.post('/api/login', login);
	for (let n = 0; n < 2; n++) t.is(await userOf(app, '', first.cookie, second.cookie), 'ada');
});

const below = { '--public-url': 'https://example.org/files', '--base-path': '/files' };

/** Somebody who has signed up there. */
async function newUser(app: TestApp, username: string, base = '/files') {
	const client = new Client(app);
	const { password } = login;
	const answer = await client.post(`${base}/api/register`, { username, password, passwordConfirm: password });
	return { client, setCookie: answer.headers['set-cookie'] ?? [] };
}

test('over https below a base path a session counts only with a cookie that no other host can set', async (t) => {
	const app = await testApp(t, below);
	const { client: ada, setCookie } = await newUser(app, 'ada');
	t.regex(
		setCookie.find((line) => line.startsWith('__Host-')) ?? '',
		/^__Host-sid-\w+=\w+; .*Secure; HttpOnly; SameSite=Lax; Path=\/$/,
	);
	const { client: mallory } = await newUser(app, 'mallory');
	t.is(await userOf(app, '/files', ada.cookie, ada.binding), 'ada');
	t.is(await userOf(app, '/files', mallory.cookie), null, 'to who is not signed in');
	t.is(await userOf(app, '/files', mallory.cookie, ada.binding), null);
	t.is(await userOf(app, '/files', mallory.cookie, ada.cookie, ada.binding), 'ada');
	t.is(await userOf(app, '/files', mallory.cookie, mallory.binding), 'mallory', 'it has ended none');
	await ada.get('/files/api/logout');
	t.deepEqual([ada.cookie, ada.binding], [undefined, undefined]);
});

test('a session that was begun over plain http is none over https', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': '127.0.0.1', '--base-path': '/files' });
	const { client: mallory } = await newUser(app, 'mallory');
	t.is(await userOf(app, '/files', mallory.cookie), 'mallory');
	const asSecure = `__Secure-${mallory.cookie}`;
	const headers = { cookie: asSecure, 'x-forwarded-proto': 'https' };
	t.is(json(await new Client(app).get('/files/api/checkLoginStatus', headers)).username, null);
});

test('a session of an earlier version, whose cookie has no name in it, goes on', async (t) => {
	const sessionKey = 'a key that is long enough for this';
	const app = await testApp(t, { ...below, '--session-key': sessionKey });
	await newUser(app, 'ada');
	const { accounts, database } = app.services;
	await database.sessions.add(createHash('sha256').update('an id').digest('hex'), await accounts.find('ada'));
	const key = createHash('sha256').update(`cookies ${sessionKey}`).digest();
	t.is(await userOf(app, '/files', `__Secure-sid=${await seal({ id: 'an id' }, key, defaults)}`), 'ada');
});

test('a client is known to an account also behind the proofs that another host of the domain has set', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { knownClients, accounts } = app.services;
	const user = await accounts.find('ada');
	const own = ada.device?.split('=')[1] ?? '';
	const foreign = Array.from({ length: 10 }, () => own.replace(/^.{22}/, 'x'.repeat(22))).join('~');
	const known = (...device: string[]) =>
		knownClients.idOf({ client: { isHttps: false }, state: { device } } as never, user);
	t.truthy(known(own));
	t.is(known(foreign, own), known(own));
});

const ownNames = {
	session: '__Secure-sid',
	binding: '__Host-sid-f4aa79e4',
	device: '__Host-device',
	share: '__Secure-share',
};

for (const [what, name] of Object.entries(ownNames))
	test(`a cookie whose name is that of the ${what} but for a byte that browsers don’t strip is another one`, (t) => {
		const value = what === 'session' ? 'Fe26.2*a' : 'a';
		const own = `${name}=${value}`;
		for (const byte of ['\u00A0', '\u0085', '\u00AD', '\v', '\f', ' \u00A0', '\t\u00A0 ']) {
			const headers = { cookie: `${byte}${own}; ${name}${byte}=${value};${byte}${own};\t${own} ;${own}${byte};` };
			keepOwnCookies(headers, { ...ownNames });
			t.is(headers.cookie, own, JSON.stringify(byte));
		}
	});

test('over https another host of the domain can’t set a session under a name that begins with a byte A0', async (t) => {
	for (const [base, flags] of [
		['', { '--public-url': 'https://example.org' }],
		['/files', below],
	] as const) {
		const app = await testApp(t, flags);
		const { client: ada } = await newUser(app, 'ada', base);
		const { client: mallory } = await newUser(app, 'mallory', base);
		const foreign = [mallory.cookie, mallory.binding].flatMap((each) => (each === undefined ? [] : `\u00A0${each}`));
		t.is(await userOf(app, base, ...foreign), null);
		t.is(await userOf(app, base, ...foreign, ada.cookie, ada.binding), 'ada');
		t.is(await userOf(app, base, ada.cookie, ada.binding), 'ada', 'nothing has ended it');
		t.is(await userOf(app, base, mallory.cookie, mallory.binding), 'mallory');
	}
});

test('the cost of a header of many blanks is linear', async (t) => {
	const headers = { cookie: `sid${' '.repeat(500_000)}=a;${' \t'.repeat(500_000)};`.repeat(2) };
	const ms = await usualMs(() => keepOwnCookies(headers, { ...ownNames }));
	t.is(headers.cookie, '');
	t.true(ms < 1000, `${ms} ms`);
});
