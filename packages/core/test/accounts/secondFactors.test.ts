import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { URI } from 'otpauth';
import { limitCodes } from '../../src/accounts/loginLimits.js';
import { codeAt } from '../authenticator.js';
import { serversOfRun } from '../severalApps.js';
import { type Answer, auditText, Client, json, type TestApp, testApp } from '../testApp.js';

const password = 'correct horse';
const proxied = { '--trusted-proxies': '127.0.0.1' };
const stepMs = 30_000;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** A time of day that only the test advances, in the middle of a time step. */
function steeredClock() {
	let time = Math.floor(Date.now() / stepMs) * stepMs + stepMs / 2;
	return {
		now: () => time,
		advance: (ms: number) => {
			time += ms;
		},
	};
}

type Clock = ReturnType<typeof steeredClock>;

/** The code that an app shows, `steps` time steps from now. */
function codeOf(secret: string, clock: Clock, steps = 0): string {
	return codeAt(secret, clock.now() + steps * stepMs);
}

/** Six digits that no app shows within a few minutes. */
function wrongCode(secret: string, clock: Clock): string {
	const near = new Set([-3, -2, -1, 0, 1, 2, 3].map((steps) => codeOf(secret, clock, steps)));
	for (let n = 0; ; n++) {
		const code = String(n).padStart(6, '0');
		if (!near.has(code)) return code;
	}
}

interface Factor {
	secret: string;
	recoveryCodes: string[];
}

/** Turns it on, and waits until the first code is past. */
async function turnOn(t: ExecutionContext, client: Client, clock: Clock): Promise<Factor> {
	const begun = await client.post('/api/totp', {});
	t.is(begun.statusCode, 200, begun.payload);
	const { secret, recoveryCodes } = json(begun);
	const confirmed = await client.post('/api/totp/confirm', { code: codeOf(secret, clock) });
	t.is(confirmed.statusCode, 200, confirmed.payload);
	clock.advance(2 * stepMs);
	return { secret, recoveryCodes };
}

function signIn(app: TestApp, code?: string, client = new Client(app), headers: Record<string, string> = {}) {
	return client.post('/api/login', { username: 'ada', password, ...(code === undefined ? {} : { code }) }, headers);
}

function refused(t: ExecutionContext, answer: Answer, status: number, code: string, sentence?: RegExp): void {
	t.is(answer.statusCode, status, answer.payload);
	t.is(json(answer).code, code);
	if (sentence !== undefined) t.regex(json(answer).message, sentence);
}

/** Compares passwords without a hash, for guesses by the hundred. */
function withoutHashes(app: TestApp): void {
	app.server.providers.auth.get('password').verify = async (secret, given) =>
		secret !== undefined && given === password;
}

test('two-factor sign-in is off until a code confirms it', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	t.deepEqual(json(await ada.get('/api/totp')), { isEnabled: false, recoveryCodesLeft: 0 });
	refused(t, await ada.post('/api/totp/confirm', { code: '123456' }), 409, 'CONFLICT');
	const begun = await ada.call('POST', '/api/totp');
	t.is(begun.statusCode, 200, 'the body is optional');
	const { secret, uri, recoveryCodes } = json(begun);
	t.regex(secret, /^[A-Z2-7]{32}$/);
	t.is(new Set(recoveryCodes).size, 10);
	for (const code of recoveryCodes) t.regex(code, /^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
	t.regex(uri, /^otpauth:\/\/totp\/Stowage:ada\?/);
	const parsed = URI.parse(uri);
	t.like(parsed, { issuer: 'Stowage', label: 'ada', algorithm: 'SHA1', digits: 6, period: 30 });
	t.is(parsed.secret.base32, secret);

	t.deepEqual(json(await ada.get('/api/totp')), { isEnabled: false, recoveryCodesLeft: 0 });
	t.is((await signIn(app)).statusCode, 200);
	refused(
		t,
		await ada.post('/api/totp/confirm', { code: wrongCode(secret, clock) }),
		401,
		'SECOND_FACTOR',
		/latest QR code or key, and that the clocks of your phone and of the server/,
	);
	t.is((await signIn(app)).statusCode, 200);
	t.is((await ada.post('/api/totp/confirm', { code: codeOf(secret, clock) })).statusCode, 200);
	t.deepEqual(json(await ada.get('/api/totp')), { isEnabled: true, recoveryCodesLeft: 10 });
	refused(t, await signIn(app), 401, 'SECOND_FACTOR');
	refused(t, await ada.post('/api/totp', {}), 409, 'CONFLICT');
	refused(t, await ada.post('/api/totp/confirm', { code: codeOf(secret, clock, 1) }), 409, 'CONFLICT');
});

test('a sign-in needs the password and a code, and the code confirms only once', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const { secret } = json(await ada.post('/api/totp', {}));
	await ada.post('/api/totp/confirm', { code: codeOf(secret, clock) });
	refused(t, await signIn(app, codeOf(secret, clock)), 401, 'SECOND_FACTOR', /wrong or was used already/);
	clock.advance(stepMs);
	const code = codeOf(secret, clock);
	const body = { username: 'ada', password: 'wrong horse', code };
	refused(t, await new Client(app).post('/api/login', body), 401, 'BAD_CREDENTIALS', /^Invalid username or password$/);
	const stranger = new Client(app);
	const missing = await signIn(app, undefined, stranger);
	refused(t, missing, 401, 'SECOND_FACTOR', /enter the code/);
	t.is(missing.headers['set-cookie'], undefined);
	refused(t, await signIn(app, wrongCode(secret, clock), stranger), 401, 'SECOND_FACTOR', /wrong or was used already/);
	t.is((await stranger.get('/api/totp')).statusCode, 401);
	t.is((await signIn(app, ` ${code.slice(0, 3)} ${code.slice(3)} `, stranger)).statusCode, 200, 'with white space');
	t.is((await stranger.get('/api/totp')).statusCode, 200);
	refused(t, await signIn(app, code), 401, 'SECOND_FACTOR');
});

test('a code is accepted for one time step of drift each way, and never after a later one', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const { secret } = await turnOn(t, await new Client(app).register('ada'), clock);
	for (const [steps, status] of [
		[-2, 401],
		[2, 401],
		[-1, 200],
		[-1, 401],
		[1, 200],
		[0, 401],
	] as const)
		t.is((await signIn(app, codeOf(secret, clock, steps))).statusCode, status, `${steps} steps`);
});

test('of twenty concurrent sign-ins at two processes with one code exactly one succeeds', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, proxied, clock);
	const other = await testApp(t, { ...proxied, '--data-dir': app.dataDir }, clock);
	const ada = await new Client(app).register('ada');
	const { secret, recoveryCodes } = await turnOn(t, ada, clock);
	for (const code of [codeOf(secret, clock), recoveryCodes[0] ?? '']) {
		const answers = await Promise.all(
			Array.from({ length: 20 }, (_, n) =>
				signIn(n % 2 === 0 ? app : other, code, new Client(n % 2 === 0 ? app : other), {
					'x-forwarded-for': `203.0.113.${n}`,
				}),
			),
		);
		t.is(answers.filter(({ statusCode }) => statusCode === 200).length, 1);
		for (const { statusCode } of answers) t.true([200, 401, 429].includes(statusCode), `${statusCode}`);
		clock.advance(dayMs);
	}
});

test('a recovery code signs in once, however it is written', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const { recoveryCodes } = await turnOn(t, ada, clock);
	const [first = '', second = ''] = recoveryCodes;
	const phone = new Client(app);
	t.is((await signIn(app, first, phone)).statusCode, 200);
	t.deepEqual(json(await phone.get('/api/totp')), { isEnabled: true, recoveryCodesLeft: 9 });
	refused(t, await signIn(app, first), 401, 'SECOND_FACTOR');
	t.is((await signIn(app, ` ${second.toLowerCase().replaceAll('-', ' ')}`)).statusCode, 200);
	t.is(json(await phone.get('/api/totp')).recoveryCodesLeft, 8);
});

test('a second factor that was begun replaces one that was begun before', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const first: Factor = json(await ada.post('/api/totp', {}));
	const second: Factor = json(await ada.post('/api/totp', {}));
	refused(t, await ada.post('/api/totp/confirm', { code: codeOf(first.secret, clock) }), 401, 'SECOND_FACTOR');
	t.is((await ada.post('/api/totp/confirm', { code: codeOf(second.secret, clock) })).statusCode, 200);
	refused(t, await signIn(app, first.recoveryCodes[0]), 401, 'SECOND_FACTOR');
	t.is((await signIn(app, second.recoveryCodes[0])).statusCode, 200);
});

test('only one of ten concurrent confirmations turns it on', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const { secret } = json(await ada.post('/api/totp', {}));
	const code = codeOf(secret, clock);
	const answers = await Promise.all(Array.from({ length: 10 }, () => ada.post('/api/totp/confirm', { code })));
	const statuses = answers.map(({ statusCode }) => statusCode).sort();
	t.is(statuses[0], 200);
	// A request that comes once the second factor is on has a session that has ended by that.
	for (const status of statuses.slice(1)) t.true([401, 409, 429].includes(status), `${status}`);
	t.like(json(await ada.get('/api/totp')), { isEnabled: true });
});

test('removing a second factor turns it off, discards one that was begun, and may be repeated', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const { secret } = json(await ada.post('/api/totp', {}));
	t.is((await ada.call('DELETE', '/api/totp')).statusCode, 200);
	refused(t, await ada.post('/api/totp/confirm', { code: codeOf(secret, clock) }), 409, 'CONFLICT');
	const { recoveryCodes } = await turnOn(t, ada, clock);
	const laptop = new Client(app);
	t.is((await signIn(app, recoveryCodes[0], laptop)).statusCode, 200);
	t.is((await laptop.call('DELETE', '/api/totp', { code: recoveryCodes[1] })).statusCode, 200);
	t.is((await laptop.call('DELETE', '/api/totp', {})).statusCode, 200);
	t.deepEqual(json(await ada.get('/api/totp')), { isEnabled: false, recoveryCodesLeft: 0 });
	t.is((await signIn(app)).statusCode, 200);
	const again = await turnOn(t, ada, clock);
	refused(t, await signIn(app, recoveryCodes[2]), 401, 'SECOND_FACTOR');
	t.is((await signIn(app, again.recoveryCodes[1])).statusCode, 200);
});

test('a session that is older than ten minutes changes the second factor with the password only', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	clock.advance(10 * minuteMs);
	t.is((await ada.post('/api/totp', {})).statusCode, 200);
	clock.advance(1);
	const begin = (currentPassword?: string) => ada.post('/api/totp', { currentPassword });
	refused(t, await begin(), 401, 'PASSWORD_REQUIRED');
	refused(t, await begin('wrong horse'), 401, 'BAD_CREDENTIALS');
	const { secret } = json(await begin(password));
	refused(t, await ada.call('DELETE', '/api/totp', {}), 401, 'PASSWORD_REQUIRED');
	t.is((await ada.post('/api/totp/confirm', { code: codeOf(secret, clock) })).statusCode, 200);
	clock.advance(10 * minuteMs + 1);
	const remove = (currentPassword?: string) =>
		ada.call('DELETE', '/api/totp', { currentPassword, code: codeOf(secret, clock) });
	refused(t, await remove(), 401, 'PASSWORD_REQUIRED');
	refused(t, await remove('wrong horse'), 401, 'BAD_CREDENTIALS');
	t.like(json(await ada.get('/api/totp')), { isEnabled: true });
	t.is((await remove(password)).statusCode, 200, 'the code was not used up before');
	t.like(json(await ada.get('/api/totp')), { isEnabled: false });

	const passwords = { currentPassword: password, newPassword: 'another horse', newPasswordConfirm: 'another horse' };
	t.is((await ada.post('/api/password', passwords)).statusCode, 200);
	t.is((await begin()).statusCode, 200, 'a new password is a confirmation as well');
	clock.advance(-60 * minuteMs);
	refused(t, await begin(), 401, 'PASSWORD_REQUIRED');
});

test('wrong passwords for the second factor are limited like those of sign-ins', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	for (let n = 0; n < 10; n++) {
		const answer = await ada.call(n % 2 === 0 ? 'DELETE' : 'POST', '/api/totp', { currentPassword: 'wrong horse' });
		refused(t, answer, 401, 'BAD_CREDENTIALS');
	}
	refused(t, await ada.call('DELETE', '/api/totp', { currentPassword: password }), 429, 'RATE_LIMITED');
	t.is((await signIn(app)).statusCode, 429);
});

test('a second factor stays through a new name, a new password and a disabled account, and ends with the account', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const { accounts } = app.services;
	const { secret } = await turnOn(t, await new Client(app).register('ada'), clock);
	await accounts.setPassword('ada', 'another horse');
	await accounts.setDisabled('ada', true);
	const signInAs = (username: string, code?: string) =>
		new Client(app).post('/api/login', {
			username,
			password: 'another horse',
			...(code === undefined ? {} : { code }),
		});
	refused(t, await signInAs('ada', codeOf(secret, clock)), 401, 'BAD_CREDENTIALS');
	await accounts.setDisabled('ada', false);
	await accounts.rename('ada', 'lovelace');
	refused(t, await signInAs('lovelace'), 401, 'SECOND_FACTOR');
	t.is((await signInAs('lovelace', codeOf(secret, clock))).statusCode, 200);
	await accounts.remove('lovelace', { kind: 'delete' });
	await accounts.create('lovelace', 'another horse');
	t.is((await signInAs('lovelace')).statusCode, 200);
});

test('a hash that is renewed at a sign-in keeps the second factor', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const { secret } = await turnOn(t, await new Client(app).register('ada'), clock);
	withoutHashes(app);
	app.server.providers.auth.get('password').needsRehash = () => true;
	const before = (await app.services.accounts.find('ada')).secret;
	app.server.providers.auth.get('password').hash = async () => `${before} `;
	t.is((await signIn(app, codeOf(secret, clock))).statusCode, 200);
	t.is((await app.services.accounts.find('ada')).secret, `${before} `);
	refused(t, await signIn(app), 401, 'SECOND_FACTOR');
});

test('turning two-factor sign-in on ends every other session and replaces the cookie of this one, and turning it off ends none', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const [phone, former] = [new Client(app), new Client(app)];
	await signIn(app, undefined, phone);
	const { secret } = json(await ada.post('/api/totp', {}));
	refused(t, await ada.post('/api/totp/confirm', { code: wrongCode(secret, clock) }), 401, 'SECOND_FACTOR');
	t.is((await phone.get('/api/totp')).statusCode, 200, 'a wrong code ends none');
	former.cookie = ada.cookie;
	t.is((await ada.post('/api/totp/confirm', { code: codeOf(secret, clock) })).statusCode, 200);
	t.like(json(await ada.get('/api/totp')), { isEnabled: true });
	refused(t, await phone.get('/api/totp'), 401, 'NOT_SIGNED_IN');
	refused(t, await former.get('/api/totp'), 401, 'NOT_SIGNED_IN');
	t.is(json(await ada.get('/api/sessions')).length, 1);
	clock.advance(2 * stepMs);
	await signIn(app, codeOf(secret, clock), phone);
	t.is((await ada.call('DELETE', '/api/totp', { code: codeOf(secret, clock, 1) })).statusCode, 200);
	t.like(json(await phone.get('/api/totp')), { isEnabled: false });
});

test('a second factor is turned off with a code only, which is used up and limited as at a sign-in', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, proxied, clock);
	const ada = await new Client(app).register('ada');
	const { secret, recoveryCodes } = await turnOn(t, ada, clock);
	const remove = (code?: string) => ada.call('DELETE', '/api/totp', { currentPassword: password, code });
	for (const missing of [undefined, '', ' \t'])
		refused(t, await remove(missing), 401, 'SECOND_FACTOR', /enter the code/);
	refused(t, await ada.call('DELETE', '/api/totp'), 401, 'SECOND_FACTOR', /enter the code/);
	const code = codeOf(secret, clock);
	t.is((await signIn(app, code)).statusCode, 200);
	refused(t, await remove(code), 401, 'SECOND_FACTOR', /wrong or was used already/);
	refused(t, await remove('1'.repeat(65)), 400, 'INVALID', /^code: /);
	// A client that is known to the account has five a day besides.
	for (let n = 0; n < 9; n++) refused(t, await remove(wrongCode(secret, clock)), 401, 'SECOND_FACTOR');
	refused(t, await remove(codeOf(secret, clock, 1)), 429, 'RATE_LIMITED', /Too many wrong codes/);
	refused(t, await signIn(app, codeOf(secret, clock, 1)), 429, 'RATE_LIMITED');
	t.like(json(await ada.get('/api/totp')), { isEnabled: true });
	clock.advance(dayMs);
	const again = new Client(app);
	t.is((await signIn(app, recoveryCodes[0], again)).statusCode, 200);
	t.is((await again.call('DELETE', '/api/totp', { code: recoveryCodes[1] })).statusCode, 200);
	t.like(json(await again.get('/api/totp')), { isEnabled: false });
});

test('a second factor that was begun in one session can’t be confirmed in another one', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const phone = new Client(app);
	await signIn(app, undefined, phone);
	const { secret } = json(await phone.post('/api/totp', {}));
	const confirm = (client: Client) => client.post('/api/totp/confirm', { code: codeOf(secret, clock) });
	refused(t, await confirm(ada), 409, 'CONFLICT', /elsewhere/);
	const passwords = { currentPassword: password, newPassword: 'another horse', newPasswordConfirm: 'another horse' };
	t.is((await phone.post('/api/password', passwords)).statusCode, 200);
	refused(t, await confirm(phone), 409, 'CONFLICT', /elsewhere/);
	t.like(json(await phone.get('/api/totp')), { isEnabled: false });
});

test('a sign-in without a code that overlaps with turning the second factor on is refused', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const { begin } = app.services.sessions;
	const late = new Client(app);
	let isFirst = true;
	// The password has been verified by then, and no code was needed.
	app.services.sessions.begin = async (request, user) => {
		if (isFirst) {
			isFirst = false;
			await turnOn(t, ada, clock);
		}
		return begin(request, user);
	};
	refused(t, await signIn(app, undefined, late), 401, 'SECOND_FACTOR', /enter the code/);
	refused(t, await late.get('/api/totp'), 401, 'NOT_SIGNED_IN');
});

test('a sign-in with a code, during which all sessions of the user are ended, succeeds', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const { secret, recoveryCodes } = await turnOn(t, ada, clock);
	const { database, accounts, sessions } = app.services;
	const { id } = await accounts.find('ada');
	const { begin } = sessions;
	for (const code of [codeOf(secret, clock), recoveryCodes[0]]) {
		let isFirst = true;
		sessions.begin = async (request, user) => {
			if (isFirst) await database.sessions.removeOf(id);
			isFirst = false;
			return begin(request, user);
		};
		const late = new Client(app);
		const answer = await signIn(app, code, late);
		t.is(answer.statusCode, 200, answer.payload);
		t.is(json(await late.get('/api/checkLoginStatus')).username, 'ada');
	}
	t.is(json(await ada.get('/api/checkLoginStatus')).username, null);
});

test('a malformed code is a wrong one or refused as too long, whatever it contains', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, proxied, clock);
	const ada = await new Client(app).register('ada');
	const { secret } = await turnOn(t, ada, clock);
	const code = codeOf(secret, clock);
	const fullWidth = [...code].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('');
	const codes = [
		'abcdef',
		'--',
		`${code}0`,
		code.slice(1),
		fullWidth,
		'٠١٢٣٤٥',
		'\0',
		'😀😀😀',
		'-1e5',
		code.replace('', '+'),
	];
	for (const [n, each] of codes.entries()) {
		const answer = await signIn(app, each, new Client(app), { 'x-forwarded-for': `203.0.113.${n}` });
		refused(t, answer, 401, 'SECOND_FACTOR');
		clock.advance(dayMs);
	}
	refused(t, await signIn(app, '1'.repeat(65)), 400, 'INVALID', /^code: /);
	refused(t, await signIn(app, '1'.repeat(1024 * 1024)), 413, 'TOO_LARGE');
	for (const value of [123456, null, ['123456'], { length: 6 }]) {
		const body = { username: 'ada', password, code: value };
		refused(t, await new Client(app).post('/api/login', body), 400, 'INVALID', /^code: /);
	}
	const bob = await new Client(app).register('bob');
	await bob.post('/api/totp', {});
	refused(t, await bob.post('/api/totp/confirm', { code: fullWidth }), 401, 'SECOND_FACTOR');
	refused(t, await bob.post('/api/totp/confirm', {}), 400, 'INVALID');
	refused(t, await bob.post('/api/totp/confirm', { code: '' }), 400, 'INVALID', /The code is empty/);
	refused(t, await bob.post('/api/totp', { currentPassword: 1 }), 400, 'INVALID');
});

test('a code of a user without a second factor is ignored', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	for (const code of ['123456', '', 'x']) t.is((await signIn(app, code)).statusCode, 200);
});

test('visitors, other users and other sites can’t use or change a second factor', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	const { secret, recoveryCodes } = await turnOn(t, ada, clock);
	const visitor = new Client(app);
	for (const [method, url] of [
		['GET', '/api/totp'],
		['POST', '/api/totp'],
		['POST', '/api/totp/confirm'],
		['DELETE', '/api/totp'],
	] as const) {
		refused(t, await visitor.call(method, url), 401, 'NOT_SIGNED_IN');
		if (method !== 'GET')
			refused(t, await ada.call(method, url, { code: '1' }, { 'sec-fetch-site': 'cross-site' }), 403, 'CROSS_SITE');
	}
	t.deepEqual(json(await bob.get('/api/totp')), { isEnabled: false, recoveryCodesLeft: 0 });
	t.is((await bob.call('DELETE', '/api/totp', {})).statusCode, 200);
	await turnOn(t, bob, clock);
	const asBob = (code: string) => new Client(app).post('/api/login', { username: 'bob', password, code });
	refused(t, await asBob(recoveryCodes[0] ?? ''), 401, 'SECOND_FACTOR');
	refused(t, await asBob(codeOf(secret, clock)), 401, 'SECOND_FACTOR');
	t.deepEqual(json(await ada.get('/api/totp')), { isEnabled: true, recoveryCodesLeft: 10 });
});

test('answers about the second factor are not stored by caches', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	for (const answer of [await ada.post('/api/totp', {}), await ada.get('/api/totp')])
		t.is(answer.headers['cache-control'], 'private, no-store');
});

test('wrong codes are failed attempts, missing and empty ones are not', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const { secret } = await turnOn(t, await new Client(app).register('ada'), clock);
	withoutHashes(app);
	for (let n = 0; n < 40; n++) refused(t, await signIn(app), 401, 'SECOND_FACTOR');
	for (const empty of ['', ' \t']) refused(t, await signIn(app, empty), 401, 'SECOND_FACTOR', /Please enter the code/);
	const code = wrongCode(secret, clock);
	for (let n = 0; n < 5; n++) refused(t, await signIn(app, code), 401, 'SECOND_FACTOR');
	const limited = await signIn(app, codeOf(secret, clock));
	refused(t, limited, 429, 'RATE_LIMITED', /try again in 1 minute\./);
	t.is(limited.headers['retry-after'], '60');
	refused(t, await signIn(app), 401, 'SECOND_FACTOR');
	t.is((await new Client(app).post('/api/login', { username: 'ada', password: 'wrong horse' })).statusCode, 401);
	clock.advance(minuteMs);
	t.is((await signIn(app, codeOf(secret, clock))).statusCode, 200);
});

test('an attacker with the password guesses a code in a year with a chance below 1 %, and known clients can still sign in', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, proxied, clock);
	const laptop = await new Client(app).register('ada');
	const { secret } = await turnOn(t, laptop, clock);
	withoutHashes(app);
	const client = (n: number) => ({
		address: `198.51.${n >> 8}.${n & 255}`,
		signal: new AbortController().signal,
		knownClientId: () => undefined,
	});
	const waits: number[] = [];
	const began = clock.now();
	let guesses = 0;
	while (clock.now() - began < 60 * dayMs && guesses < 1000) {
		const error = await app.services.accounts
			.signIn('ada', password, client(guesses), wrongCode(secret, clock))
			.catch((error: unknown) => error);
		if (isFailure(error, 'secondFactor')) guesses++;
		else if (isFailure(error, 'rateLimited') && error.retryAfter !== undefined) {
			waits.push(error.retryAfter);
			if (error.retryAfter === 86_400) t.regex(error.message, /try again in 24 hours\./);
			clock.advance(error.retryAfter * 1000);
		} else throw error;
	}
	t.deepEqual(waits.slice(0, 12), [60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 30_720, 61_440, 86_400]);
	t.is(Math.max(...waits), 86_400);
	const validAtOnce = 3;
	t.is(guesses, 400);
	t.true(((guesses / 60) * 365 * validAtOnce) / 1e6 < 0.01, `${guesses} guesses in 60 days`);
	const headers = { 'x-forwarded-for': '203.0.113.5' };
	for (let n = 0; n < 5; n++) await signIn(app, wrongCode(secret, clock), new Client(app), headers);
	refused(t, await signIn(app, codeOf(secret, clock), new Client(app), headers), 429, 'RATE_LIMITED');
	t.is((await signIn(app, codeOf(secret, clock), laptop, headers)).statusCode, 200);

	for (let n = 0; n < 5; n++) refused(t, await signIn(app, wrongCode(secret, clock), laptop), 401, 'SECOND_FACTOR');
	refused(t, await signIn(app, wrongCode(secret, clock), laptop), 429, 'RATE_LIMITED');
	clock.advance(dayMs);
	t.is((await signIn(app, codeOf(secret, clock), laptop)).statusCode, 200);
});

test('clients that became known before two-factor sign-in was on, or by new passwords, give few guesses at a code in all', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, proxied, clock);
	const ada = await new Client(app).register('ada');
	withoutHashes(app);
	const devices: Client[] = [];
	for (let n = 0; n < 8; n++) {
		const device = new Client(app);
		t.is((await signIn(app, undefined, device)).statusCode, 200);
		devices.push(device);
	}
	const { secret } = await turnOn(t, ada, clock);
	let guesses = 0;
	const guess = async (answer: Promise<Answer>) => {
		if ((await answer).statusCode === 401) guesses++;
	};
	for (const device of devices)
		for (let n = 0; n < 6; n++) {
			await guess(signIn(app, wrongCode(secret, clock), device, { 'x-forwarded-for': `198.51.100.${guesses}` }));
		}
	t.is(guesses, 30);
	for (let n = 0; n < 4; n++) {
		// Any is right without hashes; the client is known under the new one.
		const change = { currentPassword: password, newPassword: password, newPasswordConfirm: password };
		t.is((await ada.post('/api/password', change)).statusCode, 200);
		for (let tries = 0; tries < 5; tries++)
			await guess(ada.call('DELETE', '/api/totp', { code: wrongCode(secret, clock) }));
	}
	t.is(guesses, 30, 'a new password is no new client');
});

test('a hundred concurrent guesses at a code get no more attempts than guesses in sequence', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const guess = async () => {
		const attempt = limitCodes(
			app.services.database.limits,
			{ userId: 'ada', knownClientId: undefined },
			clock.now(),
			async () => {
				made++;
				return undefined;
			},
		);
		await attempt.catch((error: unknown) => {
			if (!isFailure(error, 'rateLimited')) throw error;
		});
	};
	let made = 0;
	for (let burst = 0; burst < 4; burst++) await Promise.all(Array.from({ length: 25 }, guess));
	t.is(made, 5);
});

test('the audit log records that it is turned on and off and that a recovery code is used, without any secret', async (t) => {
	const clock = steeredClock();
	const app = await testApp(t, {}, clock);
	const ada = await new Client(app).register('ada');
	const { secret, recoveryCodes } = await turnOn(t, ada, clock);
	await signIn(app);
	await signIn(app, wrongCode(secret, clock));
	await signIn(app, recoveryCodes[0]);
	const code = codeOf(secret, clock);
	t.is((await signIn(app, code)).statusCode, 200);
	await ada.call('DELETE', '/api/totp', { currentPassword: 'wrong horse' });
	await ada.call('DELETE', '/api/totp', { code: wrongCode(secret, clock) });
	await ada.call('DELETE', '/api/totp', { code: recoveryCodes[1] });
	// Nothing is turned off by these.
	await ada.call('DELETE', '/api/totp', {});
	await ada.post('/api/totp', {});
	await ada.call('DELETE', '/api/totp', {});
	await app.services.audit.close();
	const [attempts, security] = await Promise.all([auditText(app, 'attempts'), auditText(app, 'security')]);
	// Each of several servers writes its lines some time after what they say.
	const inOrder = (lines: string[]) => (serversOfRun === 1 ? lines : lines.sort());
	const linesOf = (text: string) =>
		text
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line))
			.map(({ action, outcome, reason, user, account }) =>
				[action, outcome, reason, user, account].filter(Boolean).join(' '),
			);
	const changes = [
		'signUp ok ada',
		'enableTotp ok ada ada',
		'signIn refused secondFactor ada',
		'recoveryCode ok ada',
		'signIn ok ada',
		'signIn ok ada',
		'disableTotp refused secondFactor ada ada',
		'disableTotp ok ada ada',
	];
	t.deepEqual(inOrder(linesOf(security)), inOrder(changes));
	const failures = ['signInFailed refused secondFactor ada', 'signInFailed refused badCredentials ada ada'];
	t.deepEqual(inOrder(linesOf(attempts)), inOrder(failures));
	const text = attempts + security;
	for (const each of [secret, code, ...recoveryCodes, 'wrong horse']) t.false(text.includes(each));
});
