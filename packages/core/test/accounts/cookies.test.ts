import test, { type ExecutionContext } from 'ava';
import { Client, json, type TestApp, testApp } from '../testApp.js';

async function isLoggedIn(app: TestApp, cookie: string): Promise<boolean> {
	return json(await new Client(app).get('/api/checkLoginStatus', { cookie })).isLoggedIn;
}

const beside = async (t: ExecutionContext, around: (own: string) => string) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const answer = await new Client(app).get('/api/checkLoginStatus', { cookie: around(ada.cookie ?? '') });
	t.true(json(answer).isLoggedIn);
	t.is(answer.headers['set-cookie'], undefined);
};
test('a session is found behind another program’s cookie of the same name', beside, (own) => `sid=abc; ${own}`);
test('a session is found before another program’s cookie of the same name', beside, (own) => `${own}; sid=abc`);
test('a session is found beside a cookie that breaks the rules', beside, (own) => `sid="a,b"; ${own}; x; y="; =z`);
test(
	'a session is found beside a cookie with a name of JavaScript',
	beside,
	(own) => `__proto__=1; constructor=2; ${own}`,
);
test(
	'a session is found behind one that was sealed by another key',
	beside,
	(own) => `${own.slice(0, -8)}AAAAAAAA; ${own}`,
);

test('a session is found behind one that has ended, and neither cookie is cleared', async (t) => {
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

test('a cookie that opens nothing is left alone: it may be another program’s', async (t) => {
	const app = await testApp(t);
	const answer = await new Client(app).get('/api/checkLoginStatus', { cookie: 'sid=abc' });
	t.false(json(answer).isLoggedIn);
	t.is(answer.headers['set-cookie'], undefined);
});

test('signing out ends every session that the browser shows', async (t) => {
	const app = await testApp(t);
	const first = await new Client(app).register('ada');
	const second = new Client(app);
	await second.post('/api/login', { username: 'ada', password: 'correct horse' });
	const both = `${first.cookie}; ${second.cookie}`;
	t.is((await new Client(app).get('/api/logout', { cookie: both })).statusCode, 200);
	t.false(await isLoggedIn(app, first.cookie ?? ''));
	t.false(await isLoggedIn(app, second.cookie ?? ''));
});
