import test, { type ExecutionContext } from 'ava';
import { codeAt } from '../authenticator.js';
import { Client, json, type TestApp, testApp } from '../testApp.js';

const credentials = { username: 'ada', password: 'correct horse' };
const stepMs = 30_000;

/** Ada, and whoever knows her password and is signed in to her account as well. */
async function scene(t: ExecutionContext) {
	let time = Date.now();
	const app = await testApp(t, {}, { now: () => time });
	const provider = app.server.providers.auth.get('password');
	let hashes = 0;
	// Each hash is another one, as a real one is.
	provider.hash = async (password) => `${++hashes}:${password}`;
	provider.verify = async (secret, password) => secret?.replace(/^\d+:/, '') === password;
	const ada = await new Client(app).register('ada');
	const other = new Client(app);
	t.is((await other.post('/api/login', credentials)).statusCode, 200);
	const begin = async (client: Client) => json(await client.post('/api/totp', {}));
	const confirm = (client: Client, { secret }: { secret: string }) => {
		time += 2 * stepMs;
		return client.post('/api/totp/confirm', { code: codeAt(secret, time) });
	};
	const turnOn = async (): Promise<{ recoveryCodes: string[] }> => {
		const factor = await begin(ada);
		t.is((await confirm(ada, factor)).statusCode, 200);
		return factor;
	};
	const isOn = async () => json(await ada.get('/api/totp')).isEnabled as boolean;
	const isSignedIn = async (client: Client) => json(await client.get('/api/checkLoginStatus')).isLoggedIn as boolean;
	return { app, provider, ada, other, begin, confirm, turnOn, isOn, isSignedIn };
}

/** Runs `meanwhile` at the first call of a method: with what the call has found before it, or before the call. */
function atFirstCall<Name extends string>(
	of: { [name in Name]: (...args: never[]) => unknown },
	name: Name,
	at: 'after' | 'before',
	meanwhile: () => Promise<unknown>,
): void {
	const method = of[name].bind(of) as (...args: unknown[]) => Promise<unknown>;
	let isDone = false;
	const once = async () => {
		if (isDone) return;
		isDone = true;
		await meanwhile();
	};
	Object.assign(of, {
		async [name](...args: unknown[]) {
			if (at === 'before') await once();
			const result = await method(...args);
			await once();
			return result;
		},
	});
}

const factorsOf = (app: TestApp) => app.services.database.secondFactors;

test('a second factor that is turned on while another session discards it stays on, and the code is asked for', async (t) => {
	const { app, ada, other, begin, confirm, isOn, isSignedIn } = await scene(t);
	const factor = await begin(ada);
	atFirstCall(factorsOf(app), 'find', 'after', async () => t.is((await confirm(ada, factor)).statusCode, 200));
	const answer = await other.call('DELETE', '/api/totp', {});
	t.is(answer.statusCode, 401, answer.payload);
	t.is(json(answer).code, 'SECOND_FACTOR');
	t.true(await isOn());
	t.false(await isSignedIn(other));
});

test('what is being set up is discarded also where it is begun anew meanwhile', async (t) => {
	const { app, ada, other, begin, confirm } = await scene(t);
	await begin(ada);
	let next = { secret: '' };
	atFirstCall(factorsOf(app), 'find', 'after', async () => {
		next = await begin(ada);
	});
	t.is((await other.call('DELETE', '/api/totp', {})).statusCode, 200);
	t.is((await confirm(ada, next)).statusCode, 409);
});

test('a session that is ended while it turns the second factor on turns on none and gets no new session', async (t) => {
	const { app, ada, other, begin, confirm, isOn, isSignedIn } = await scene(t);
	const factor = await begin(other);
	atFirstCall(factorsOf(app), 'find', 'after', () => ada.call('DELETE', '/api/sessions'));
	const answer = await confirm(other, factor);
	t.is(answer.statusCode, 409, answer.payload);
	t.is(answer.headers['set-cookie'], undefined);
	t.false(await isSignedIn(other));
	t.true(await isSignedIn(ada));
	t.false(await isOn());
});

test('a change of the password that waits while a second factor is turned on is refused and gives no session', async (t) => {
	const { app, ada, other, turnOn, isSignedIn } = await scene(t);
	atFirstCall(app.services.accounts.queue, 'run', 'before', turnOn);
	const answer = await other.post('/api/password', {
		currentPassword: credentials.password,
		newPassword: 'another horse',
		newPasswordConfirm: 'another horse',
	});
	t.is(answer.statusCode, 409, answer.payload);
	t.is(answer.headers['set-cookie'], undefined);
	t.false(await isSignedIn(other));
	t.true(await isSignedIn(ada));
	const signIn = await new Client(app).post('/api/login', credentials);
	t.is(json(signIn).code, 'SECOND_FACTOR', 'the password is the same');
});

test('a sign-in whose password is rehashed by another one while a second factor is turned on needs the code', async (t) => {
	const { app, provider, turnOn } = await scene(t);
	provider.needsRehash = () => true;
	atFirstCall(provider, 'hash', 'after', async () => {
		const [code] = (await turnOn()).recoveryCodes;
		t.is((await new Client(app).post('/api/login', { ...credentials, code })).statusCode, 200);
	});
	const answer = await new Client(app).post('/api/login', credentials);
	t.is(answer.statusCode, 401, answer.payload);
	t.is(json(answer).code, 'SECOND_FACTOR');
});

test('a sign-in with a code of a second factor that is replaced by another one meanwhile needs a code of that', async (t) => {
	const { app, turnOn } = await scene(t);
	const [code] = (await turnOn()).recoveryCodes;
	atFirstCall(factorsOf(app), 'useRecoveryCode', 'after', async () => {
		const { accounts, secondFactors } = app.services;
		await secondFactors.remove(await accounts.find('ada'));
		await turnOn();
	});
	const answer = await new Client(app).post('/api/login', { ...credentials, code });
	t.is(answer.statusCode, 401, answer.payload);
	t.is(json(answer).code, 'SECOND_FACTOR');
});
