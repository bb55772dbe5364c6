import test from 'ava';
import { Client, json, type TestApp, testApp } from '../testApp.js';

const credentials = { username: 'ada', password: 'correct horse' };

/** Runs `meanwhile` once, right after a password has been verified. */
function afterVerification(app: TestApp, meanwhile: () => Promise<void>): void {
	const provider = app.server.providers.auth.get('password');
	const { verify } = provider;
	let isDone = false;
	provider.verify = async (secret, password) => {
		const isValid = await verify(secret, password);
		if (!isDone) {
			isDone = true;
			await meanwhile();
		}
		return isValid;
	};
}

test('a sign-in during which the password changes is refused', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	afterVerification(app, () => app.services.accounts.setPassword('ada', 'another horse'));
	const answer = await new Client(app).post('/api/login', credentials);
	t.is(answer.statusCode, 401);
	t.is(answer.headers['set-cookie'], undefined);
});

test('a sign-in during which all sessions are ended succeeds, and one during which the account is disabled is refused', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const { accounts, database } = app.services;
	const { id } = await accounts.find('ada');
	afterVerification(app, async () => void (await database.sessions.removeOf(id)));
	const ada = new Client(app);
	const answer = await ada.post('/api/login', credentials);
	t.is(answer.statusCode, 200, answer.payload);
	t.is(json(await ada.get('/api/checkLoginStatus')).username, 'ada');
	await database.sessions.removeOf(id);
	t.is(json(await ada.get('/api/checkLoginStatus')).username, null);
	afterVerification(app, async () => {
		await accounts.setDisabled('ada', true);
	});
	t.is((await new Client(app).post('/api/login', credentials)).statusCode, 401);
});

test('rehashing a password at sign-in does not overwrite one that was changed meanwhile', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const provider = app.server.providers.auth.get('password');
	provider.needsRehash = () => true;
	afterVerification(app, () => app.services.accounts.setPassword('ada', 'another horse'));
	t.is((await new Client(app).post('/api/login', credentials)).statusCode, 401);
	const now = await new Client(app).post('/api/login', { username: 'ada', password: 'another horse' });
	t.is(now.statusCode, 200, now.payload);
});

test('concurrent sign-ins of a user from several addresses all succeed while the password is rehashed', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': '127.0.0.1' });
	await new Client(app).register('ada');
	app.server.providers.auth.get('password').needsRehash = () => true;
	const answers = await Promise.all(
		['203.0.113.1', '203.0.113.2', '203.0.113.3'].map((from) =>
			new Client(app).post('/api/login', credentials, { 'x-forwarded-for': from }),
		),
	);
	for (const answer of answers) t.is(answer.statusCode, 200, json(answer).message);
});
