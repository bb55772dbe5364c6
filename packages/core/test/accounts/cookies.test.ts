import test, { type ExecutionContext } from 'ava';
import { keepOwnCookies } from '../../src/accounts/ownCookies.js';
import { Client, json, type TestApp, testApp } from '../testApp.js';

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
	keepOwnCookies(headers, { session: 'sid', device: 'device', share: 'share' });
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
