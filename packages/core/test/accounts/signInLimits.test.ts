import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { createAccounts } from '../../src/accounts/accounts.js';
import { type Answer, Client, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const proxied = { '--trusted-proxies': '127.0.0.1' };
const password = 'correct horse';

function signIn(client: Client, username: string, from: string, given = password): Promise<Answer> {
	return client.post('/api/login', { username, password: given }, { 'x-forwarded-for': from });
}

const guess = (app: TestApp, username: string, from: string) => signIn(new Client(app), username, from, 'wrong guess');

/** Has passwords checked when the test says so, the first of them first. */
function heldHashes(app: TestApp) {
	const ends: (() => void)[] = [];
	app.server.providers.auth.get('password').verify = async (secret, given) => {
		await new Promise<void>((resolve) => ends.push(resolve));
		return secret !== undefined && given === password;
	};
	return {
		begun: () => ends.length,
		end() {
			for (const end of ends.splice(0)) end();
		},
	};
}

test('a thousand sign-ins of ten addresses keep neither a new one from signing in, nor a client that has signed in before', async (t) => {
	const app = await testApp(t, proxied);
	const laptop = await new Client(app).register('ada');
	const hashes = heldHashes(app);
	const { accounts } = app.services;
	const leaving: AbortController[] = [];
	const flood = (address: string) => {
		const controller = new AbortController();
		leaving.push(controller);
		return accounts
			.signIn('nobody', password, { address, signal: controller.signal, knownClientId: () => undefined })
			.catch((error: unknown) => error);
	};
	const others = Array.from({ length: 1_020 }, (_, n) => flood(`198.51.100.${n % 10}`));
	await until('all wait', () => accounts.queue.waiting === 900);
	// Of three places one is left, however many strangers wait.
	const known = signIn(laptop, 'ada', '203.0.113.5');
	await until('the known one has a place', () => hashes.begun() === 3);
	const stranger = signIn(new Client(app), 'ada', '203.0.113.6');
	let waits = true;
	void Promise.all([known, stranger]).finally(() => {
		waits = false;
	});
	await until('both have an answer', () => {
		hashes.end();
		return !waits;
	});
	t.deepEqual([(await known).statusCode, (await stranger).statusCode], [200, 200]);
	for (const each of leaving) each.abort();
	hashes.end();
	await Promise.all(others);
});

test('a way of signing in that hangs is given up as unavailable, and its places are free again', async (t) => {
	let hangs = true;
	const hash = async () => (hangs ? await new Promise<string>(() => {}) : 'secret');
	const parts = { config: { workers: 1 }, auth: () => ({ hash }), authMs: 20 };
	const accounts = createAccounts(parts as unknown as Parameters<typeof createAccounts>[0]);
	const client = () => ({ address: '203.0.113.5', signal: new AbortController().signal });
	for (const each of Array.from({ length: 3 }, () => accounts.hash(password, client())))
		t.true(isFailure(await t.throwsAsync(each), 'unavailable'));
	t.deepEqual([accounts.queue.running, accounts.queue.waiting], [0, 0]);
	hangs = false;
	t.is(await accounts.hash(password, client()), 'secret');
});

/** Compares passwords without a hash, for tests of how attempts are counted rather than of their cost. */
function withoutHashes(app: TestApp): void {
	app.server.providers.auth.get('password').verify = async (secret, given) =>
		secret !== undefined && given === password;
}

/** A time of day that only the test advances: all guesses must fall into one minute, however slow the machine is. */
function frozenClock() {
	let time = Date.now();
	return {
		now: () => time,
		advance: (seconds: number) => {
			time += seconds * 1000;
		},
	};
}

/**
 * Counts the sign-ins and registrations that have arrived, and the hashes that end before that of `name`, who signs in
 * last. No hash ends before that sign-in has arrived, so that it is queued behind all others, however long a hash
 * takes.
 */
function watchHashes(app: TestApp, name: string): { arrived(): number; endedBefore(): number } {
	const provider = app.server.providers.auth.get('password');
	const { accounts } = app.services;
	const { signIn, signUp } = accounts;
	const { verify, hash } = provider;
	let arrived = 0;
	let ended = 0;
	let endedBefore = Number.NaN;
	let begin = () => {};
	const begun = new Promise<void>((resolve) => {
		begin = resolve;
	});
	accounts.signIn = (username, ...given) => {
		arrived++;
		if (username === name) begin();
		return signIn(username, ...given);
	};
	accounts.signUp = (...given) => {
		arrived++;
		return signUp(...given);
	};
	provider.verify = async (secret, given) => {
		await begun;
		const isValid = await verify(secret, given);
		if (given === `${password} of ${name}`) endedBefore = ended;
		ended++;
		return isValid;
	};
	provider.hash = async (given) => {
		await begun;
		const secret = await hash(given);
		ended++;
		return secret;
	};
	return { arrived: () => arrived, endedBefore: () => endedBefore };
}

test('forty concurrent sign-ins from one address all succeed, and one from another address is served before most of them', async (t) => {
	const app = await testApp(t, proxied);
	await new Client(app).register('bob', `${password} of bob`);
	const secret = await app.server.providers.auth.get('password').hash(password);
	for (let n = 0; n < 40; n++) await app.services.database.users.add({ username: `user${n}`, secret });
	const hashes = watchHashes(app, 'bob');
	const many = Array.from({ length: 40 }, (_, n) => signIn(new Client(app), `user${n}`, '203.0.113.5'));
	await until('all requests have arrived', () => hashes.arrived() === 40);
	const bob = await signIn(new Client(app), 'bob', '203.0.113.6', `${password} of bob`);
	const statuses = (await Promise.all(many)).map(({ statusCode }) => statusCode);
	t.is(bob.statusCode, 200);
	t.true(hashes.endedBefore() < 12, `${hashes.endedBefore()} others were served first`);
	t.deepEqual(statuses, Array(40).fill(200));
});

test('a sign-in from another address is served before most of forty concurrent registrations from one address', async (t) => {
	const app = await testApp(t, proxied);
	await new Client(app).register('bob', `${password} of bob`);
	const hashes = watchHashes(app, 'bob');
	const many = Array.from({ length: 40 }, (_, n) => {
		const body = { username: `user${n}`, password, passwordConfirm: password };
		return new Client(app).post('/api/register', body, { 'x-forwarded-for': '203.0.113.5' });
	});
	await until('all requests have arrived', () => hashes.arrived() === 40);
	const bob = await signIn(new Client(app), 'bob', '203.0.113.6', `${password} of bob`);
	await Promise.all(many);
	t.is(bob.statusCode, 200);
	t.true(hashes.endedBefore() < 12, `${hashes.endedBefore()} others were served first`);
});

test('an address has 30 wrong passwords a minute and 300 a day over all names, with waits that double', async (t) => {
	const clock = frozenClock();
	const app = await testApp(t, proxied, clock);
	await new Client(app).register('ada');
	withoutHashes(app);
	const waits: number[] = [];
	let guesses = 0;
	let seconds = 0;
	for (let n = 0; seconds < 24 * 60 * 60; n++) {
		const answer = await guess(app, `name${n}`, '203.0.113.5');
		if (answer.statusCode === 401) {
			guesses++;
			continue;
		}
		t.is(answer.statusCode, 429);
		const wait = Number(answer.headers['retry-after']);
		waits.push(wait);
		if (waits.length === 1) {
			t.is(guesses, 30);
			t.is((await signIn(new Client(app), 'ada', '203.0.113.6')).statusCode, 200, 'another address can sign in');
			t.is(
				(await signIn(new Client(app), 'ada', '203.0.113.5')).statusCode,
				429,
				'the right password is refused as well',
			);
		}
		seconds += wait;
		clock.advance(wait);
	}
	t.is(guesses, 300);
	t.deepEqual(waits.slice(0, -1), [60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360]);
	t.true((waits.at(-1) ?? 0) > 15_360);
	t.is((await signIn(new Client(app), 'ada', '203.0.113.5')).statusCode, 200, 'after a day');
});

let addresses = 0;

/** Seconds to wait if a guess was refused, nothing if it was wrong. */
type Guess = (app: TestApp, username: string, from: string) => Promise<number | undefined>;

const guessByHttp: Guess = async (app, username, from) => {
	const { statusCode, headers } = await guess(app, username, from);
	return statusCode === 429 ? Number(headers['retry-after']) : undefined;
};

/** As the route does, without a request: for guesses by the thousand. */
const guessByService: Guess = async (app, username, from) => {
	const client = { address: from, signal: new AbortController().signal, knownClientId: () => undefined };
	const error = await app.services.accounts.signIn(username, 'wrong guess', client).catch((error: unknown) => error);
	if (isFailure(error, 'rateLimited')) return error.retryAfter;
	if (isFailure(error, 'badCredentials')) return undefined;
	throw error;
};

/** Guesses from many addresses that were not used before, until unknown clients are refused. */
async function guessFromManyAddresses(
	app: TestApp,
	username: string,
	guess: Guess = guessByService,
): Promise<{ guesses: number; wait: number }> {
	let address = 0;
	for (let guesses = 0; guesses < 1000; guesses++) {
		// More than an address has beyond the limit.
		if (guesses % 8 === 0) address = addresses++;
		const wait = await guess(app, username, `198.51.${address >> 8}.${address & 255}`);
		if (wait !== undefined) return { guesses, wait };
	}
	throw new Error('Unknown clients are not limited.');
}

/** Makes the guesses that an address has beyond the limit, as long as nobody has failed from there. */
async function guessFirst(t: ExecutionContext, app: TestApp, username: string, from: string): Promise<void> {
	for (let count = 0; count < 3; count++) t.is((await guess(app, username, from)).statusCode, 401);
}

test('beyond the guesses at one account each site has three a day, all together three hundred', async (t) => {
	const app = await testApp(t, proxied, frozenClock());
	await new Client(app).register('ada');
	withoutHashes(app);
	t.is((await guessFromManyAddresses(app, 'ada')).guesses, 100);
	t.is((await signIn(new Client(app), 'ada', '203.0.113.5')).statusCode, 200);
	await guessFirst(t, app, 'ada', '203.0.113.5');
	t.is((await signIn(new Client(app), 'ada', '203.0.113.5')).statusCode, 429);
	await guessFirst(t, app, 'ada', '2001:db8:1:1::1');
	t.is((await guess(app, 'ada', '2001:db8:1:2::1')).statusCode, 429, 'another network of the same site');
	let more = 0;
	for (let n = 0; n < 400; n++) if ((await guessByService(app, 'ada', `192.0.2.${n >> 1}`)) === undefined) more++;
	t.is(more, 300 - 6);
	t.is((await signIn(new Client(app), 'ada', '203.0.113.6')).statusCode, 429);
});

test('guesses at one account from many addresses are limited, and a client that signed in to it before still can', async (t) => {
	const clock = frozenClock();
	const app = await testApp(t, proxied, clock);
	const laptop = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	withoutHashes(app);
	t.is((await guessFromManyAddresses(app, 'ada', guessByHttp)).guesses, 100);
	t.is((await guessFromManyAddresses(app, 'nobody', guessByHttp)).guesses, 100, 'an unknown name has the same limit');
	await guessFirst(t, app, 'ada', '203.0.113.5');
	t.is((await signIn(new Client(app), 'ada', '203.0.113.5')).statusCode, 429);
	t.is((await signIn(bob, 'ada', '203.0.113.5')).statusCode, 429, 'a client that is known to another account only');
	await laptop.get('/api/logout');
	t.is((await signIn(laptop, 'ada', '203.0.113.5')).statusCode, 200);
	t.is((await signIn(laptop, 'bob', '203.0.113.5')).statusCode, 200);
	t.is((await signIn(laptop, 'ada', '203.0.113.5')).statusCode, 200, 'the client is known to both accounts');

	let wrong = 0;
	while ((await signIn(laptop, 'ada', `203.0.113.${10 + Math.floor(wrong / 8)}`, 'wrong guess')).statusCode === 401)
		wrong++;
	t.is(wrong, 30, 'a known client is limited as well');
	t.is((await signIn(laptop, 'ada', '203.0.113.5')).statusCode, 429);
});

test('the waits after guesses at one account from many addresses double, up to two hours', async (t) => {
	const clock = frozenClock();
	const app = await testApp(t, proxied, clock);
	await new Client(app).register('ada');
	withoutHashes(app);
	const waits: number[] = [];
	let guesses = 0;
	for (let seconds = 0; seconds < 24 * 60 * 60; seconds += waits.at(-1) ?? 0) {
		const { guesses: more, wait } = await guessFromManyAddresses(app, 'ada');
		guesses += more;
		waits.push(wait);
		clock.advance(wait);
	}
	t.deepEqual(waits.slice(0, 9), [60, 120, 240, 480, 960, 1920, 3840, 7200, 7200]);
	t.is(Math.max(...waits), 7200);
	t.is(guesses, waits.length * 100);
	t.is(
		(await signIn(new Client(app), 'ada', '203.0.113.5')).statusCode,
		200,
		'the owner can sign in after the last wait',
	);
});

test('a client is known to an account until its password changes, for half a year at most', async (t) => {
	const clock = frozenClock();
	const app = await testApp(t, proxied, clock);
	const laptop = await new Client(app).register('ada');
	withoutHashes(app);
	await guessFromManyAddresses(app, 'ada');
	const thief = new Client(app);
	thief.device = laptop.device;
	t.is((await signIn(laptop, 'ada', '203.0.113.5')).statusCode, 200);
	await app.services.accounts.setPassword('ada', 'another horse');
	await guessFirst(t, app, 'ada', '203.0.113.5');
	t.is((await signIn(laptop, 'ada', '203.0.113.5')).statusCode, 429);
	t.is((await signIn(thief, 'ada', '203.0.113.5')).statusCode, 429);

	clock.advance(60 * 60);
	t.is((await signIn(laptop, 'ada', '203.0.113.5')).statusCode, 200);
	clock.advance(180 * 24 * 60 * 60);
	await guessFromManyAddresses(app, 'ada');
	await guessFirst(t, app, 'ada', '203.0.113.5');
	t.is((await signIn(laptop, 'ada', '203.0.113.5')).statusCode, 429);

	const year = 365 * 24 * 60 * 60;
	clock.advance(year);
	t.is((await signIn(laptop, 'ada', '203.0.113.5')).statusCode, 200);
	clock.advance(-year);
	await guessFromManyAddresses(app, 'ada');
	await guessFirst(t, app, 'ada', '203.0.113.5');
	t.is((await signIn(laptop, 'ada', '203.0.113.5')).statusCode, 429, 'it became known while the clock was ahead');
});

test('the device cookie opens no session, is not set by a failed sign-in, and is HttpOnly, SameSite=Lax and, over https, Secure', async (t) => {
	const app = await testApp(t);
	const username = 'ada';
	const answer = await new Client(app).post('/api/register', { username, password, passwordConfirm: password });
	const [, cookie = ''] = answer.headers['set-cookie'] ?? [];
	t.regex(cookie, /^device=[\w.-]+; Max-Age=15552000; Expires=[^;]+; HttpOnly; SameSite=Lax; Path=\/$/);
	const [pair = ''] = cookie.split(';');
	t.false(json(await new Client(app).get('/api/checkLoginStatus', { cookie: pair })).isLoggedIn);
	const refused = await new Client(app).post('/api/login', { username, password: 'wrong guess' });
	t.is(refused.headers['set-cookie'], undefined);

	const secure = await testApp(t, { '--public-url': 'https://files.example.org' });
	const overHttps = await new Client(secure).post('/api/register', { username, password, passwordConfirm: password });
	t.regex(overHttps.headers['set-cookie']?.[1] ?? '', /^__Host-device=.*; Secure; HttpOnly; SameSite=Lax; Path=\/$/);
});

test('an invalid device cookie does not prevent a sign-in', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	for (const value of [
		'x',
		`${'a'.repeat(22)}.0.${'a'.repeat(43)}`,
		'~~~',
		'"',
		`${ada.device?.slice('device='.length)}~x`,
	]) {
		const client = new Client(app);
		client.device = `device=${value}`;
		t.is((await client.post('/api/login', { username: 'ada', password })).statusCode, 200, value);
	}
});

test('failed sign-ins count at another process over the same database as well', async (t) => {
	const clock = frozenClock();
	const app = await testApp(t, proxied, clock);
	await new Client(app).register('ada');
	for (let n = 0; n < 10; n++) t.is((await guess(app, 'ada', '203.0.113.5')).statusCode, 401);
	const other = await testApp(t, { ...proxied, '--data-dir': app.dataDir }, clock);
	t.is((await guess(other, 'ada', '203.0.113.5')).statusCode, 429);
	t.is((await guess(other, 'ada', '203.0.113.6')).statusCode, 401);
});
