import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { LinkStore, StatsListingStorage } from '@stowage/plugin-api';
import { Failure, isFailure, parsePath, type StoragePath, type Viewer } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { linksWithin } from '../../../conformance/src/repositories/rules.js';
import { storedText } from '../../../database/test/sharedServers.js';
import type { Lease, Leases } from '../../src/leases/createLeases.js';
import { createLinks, type Links } from '../../src/links/createLinks.js';
import { assertReadable, listZip } from '../readZip.js';
import { type Answer, Client, field, file, json, type TestApp, testApp } from '../testApp.js';

const silent = pino({ level: 'silent' });
const hourMs = 60 * 60_000;
const text = 'The quick brown fox jumps over the lazy dog.';

interface Fixture {
	app: TestApp;
	ada: Client;
	visitor: Client;
	viewer: Viewer & { kind: 'user' };
	/** The absolute path of an item in ada's home. */
	home(name: string): string;
	/** Creates a link and resolves to its URL. */
	link(filePath: string, expiration?: string): Promise<string>;
	/** The status that a visitor gets. */
	status(url: string): Promise<number>;
}

async function setUp(t: ExecutionContext, flags: Record<string, string> = {}): Promise<Fixture> {
	const app = await testApp(t, flags);
	const ada = await new Client(app).register('ada');
	const visitor = new Client(app);
	const user = await app.services.database.users.find('ada');
	const home = (name: string) => path.join(app.filesDir, 'users/ada', name);
	await mkdir(home('docs/deep'), { recursive: true });
	await writeFile(home('docs/fox.txt'), text);
	await writeFile(home('docs/deep/naïve – 日本.txt'), 'deep');
	return {
		app,
		ada,
		visitor,
		viewer: { kind: 'user', id: user?.id ?? '', username: 'ada' },
		home,
		async link(filePath, expiration = '1h') {
			const answer = await ada.post('/api/generateTempLink', { filePath, expiration });
			t.is(answer.statusCode, 200, answer.payload);
			return `/api/temp/${json(answer).token}`;
		},
		status: async (url) => (await visitor.get(url)).statusCode,
	};
}

const change = (client: Client, call: string, payload: object) => client.post(`/api/${call}`, payload);
const changeName = (client: Client, oldPath: string, newName: string) =>
	change(client, 'renameItem', { oldPath, newName, type: 'private' });
const move = (client: Client, fromPath: string, toPath: string) =>
	change(client, 'moveItem', { fromPath, toPath, type: 'private' });

/** All of a response that a visitor could compare, except its date. */
const bytesOf = ({ statusCode, headers, payload }: Answer) => {
	const { date: _, ...rest } = headers;
	return { statusCode, headers: rest, payload };
};

test('a link has a token of 256 random bits, is stored as a hash only and returns when it expires', async (t) => {
	const { app, ada } = await setUp(t);
	const tokens = new Set<string>();
	for (const [expiration, hours] of [
		['1h', 1],
		['12h', 12],
		['1d', 24],
		['1w', 168],
	] as const) {
		const before = Date.now();
		const answer = await ada.post('/api/generateTempLink', { filePath: 'docs/fox.txt', expiration });
		t.is(answer.statusCode, 200);
		const { token, expiresAt } = json(answer);
		t.regex(token, /^[\w-]{43}$/);
		t.true(expiresAt >= before + hours * hourMs && expiresAt <= Date.now() + hours * hourMs);
		tokens.add(token);
	}
	t.is(tokens.size, 4);
	const kept = await storedText(app.services.config.databaseUrl);
	for (const token of tokens) {
		t.false(kept.includes(token));
		t.true(kept.includes(createHash('sha256').update(token).digest('hex')));
	}
});

const refused = async (t: ExecutionContext, payload: object, status: number) => {
	const { ada, home } = await setUp(t);
	await writeFile(home('Public/plain.txt'), 'plain');
	t.is((await ada.post('/api/generateTempLink', payload)).statusCode, status);
};
const hour = { expiration: '1h' };
test('a file below Public gets no temporary link', refused, { filePath: 'Public/plain.txt', ...hour }, 400);
test(
	'a missing file below Public is refused with the same status',
	refused,
	{ filePath: 'Public/none.txt', ...hour },
	400,
);
test('the Public folder itself gets no link', refused, { filePath: 'Public', ...hour }, 400);
test('the home itself gets no link', refused, { filePath: '', ...hour }, 400);
test('a missing file gets no link', refused, { filePath: 'docs/none.txt', ...hour }, 404);
test('a path out of the home gets no link', refused, { filePath: '../bob/canary', ...hour }, 400);
test(
	'an expiration other than the four allowed ones is refused',
	refused,
	{ filePath: 'docs/fox.txt', expiration: '2w' },
	400,
);
test(
	'an unknown field in the request for a link is refused',
	refused,
	{ filePath: 'docs/fox.txt', ...hour, owner: 'bob' },
	400,
);

test('a visitor can’t create, list or revoke links', async (t) => {
	const { visitor, link } = await setUp(t);
	await link('docs/fox.txt');
	t.is((await visitor.post('/api/generateTempLink', { filePath: 'docs/fox.txt', ...hour })).statusCode, 401);
	t.is((await visitor.get('/api/links')).statusCode, 401);
	t.is((await visitor.call('DELETE', '/api/links/x')).statusCode, 401);
});

test('a visitor with a link gets the file by GET, HEAD, ranges and conditional requests, and no cache may store it', async (t) => {
	const { visitor, link } = await setUp(t);
	const url = await link('docs/fox.txt');
	const whole = await visitor.get(url);
	t.is(whole.statusCode, 200);
	t.is(whole.payload, text);
	t.like(whole.headers, {
		'content-length': String(text.length),
		'content-disposition': `attachment; filename="fox.txt"; filename*=UTF-8''fox.txt`,
		'cache-control': 'private, no-store',
		'referrer-policy': 'no-referrer',
		'x-content-type-options': 'nosniff',
		'x-robots-tag': 'noindex',
		'accept-ranges': 'bytes',
	});
	t.regex(String(whole.headers['content-security-policy']), /^sandbox; default-src 'none'/);
	const part = await visitor.get(url, { range: 'bytes=4-8', 'if-range': String(whole.headers.etag) });
	t.is(part.statusCode, 206);
	t.is(part.payload, 'quick');
	t.is((await visitor.get(url, { range: 'bytes=4-8', 'if-range': '"another"' })).payload, text);
	t.is((await visitor.get(url, { range: 'bytes=4000-' })).statusCode, 416);
	t.is((await visitor.get(url, { 'if-none-match': String(whole.headers.etag) })).statusCode, 304);
	const head = await visitor.call('HEAD', url);
	t.is(head.statusCode, 200);
	t.is(head.headers['content-length'], String(text.length));
	t.is(head.bytes.length, 0);
	const shown = await visitor.get(`${url}?inline=1`);
	t.regex(String(shown.headers['content-disposition']), /^inline/);
});

test('a link to a folder serves its ZIP, which can be resumed and follows a rename of the folder', async (t) => {
	const { ada, visitor, link } = await setUp(t);
	const url = await link('docs');
	const whole = await visitor.get(url);
	t.is(whole.statusCode, 200);
	t.like(whole.headers, {
		'content-type': 'application/zip',
		'cache-control': 'private, no-store',
		'content-length': String(whole.bytes.length),
	});
	t.regex(String(whole.headers['content-disposition']), /filename="docs_\d{4}-\d\d-\d\d\.zip"/);
	const listed = await listZip(await assertReadable(t, whole.bytes));
	t.deepEqual(listed.map(([name]) => name).sort(), [
		'docs/',
		'docs/deep/',
		'docs/deep/naïve – 日本.txt',
		'docs/fox.txt',
	]);
	const rest = await visitor.get(url, { range: 'bytes=100-', 'if-range': String(whole.headers.etag) });
	t.is(rest.statusCode, 206);
	t.deepEqual(rest.bytes, whole.bytes.subarray(100));
	t.is((await visitor.call('HEAD', url)).headers['content-length'], String(whole.bytes.length));
	t.is(json(await ada.get('/api/links'))[0].downloads, 1);
	t.is((await changeName(ada, 'docs', 'papers')).statusCode, 200);
	t.regex(String((await visitor.get(url)).headers['content-disposition']), /filename="papers_/);
});

test('a link to a folder that is renamed before or while it is read serves that folder, and none that has its name by then', async (t) => {
	const { app, ada, visitor, home, link } = await setUp(t);
	const url = await link('docs');
	const exchange = async (name: string, to: string) => {
		await rename(home(name), home(to));
		await mkdir(home(`${name}/deep`), { recursive: true });
		await writeFile(home(`${name}/secret.txt`), 'secret');
		await writeFile(home(`${name}/deep/secret.txt`), 'secret');
	};
	// By another program first, after which nothing says where the folder is.
	const { archives, roots } = app.services;
	const { open } = archives;
	archives.open = async (...call) => {
		archives.open = open;
		await exchange('docs', 'old');
		return open(...call);
	};
	t.is((await visitor.get(url)).statusCode, 404);
	await rm(home('docs'), { recursive: true });
	await rename(home('old'), home('docs'));

	const files = ['fox.txt', 'deep/naïve – 日本.txt'];
	const contents = async (name: string) => {
		const answer = await visitor.get(url);
		t.is(answer.statusCode, 200, answer.payload);
		const listed = await listZip(await assertReadable(t, answer.bytes));
		t.deepEqual(
			listed.map(([each]) => each).sort(),
			[`${name}/`, `${name}/deep/`, ...files.map((each) => `${name}/${each}`)].sort(),
		);
	};
	const renameByOwner = async (to: string) => {
		t.is((await changeName(ada, 'docs', to)).statusCode, 200);
		await mkdir(home('docs/deep'), { recursive: true });
		await writeFile(home('docs/secret.txt'), 'secret');
		await writeFile(home('docs/deep/secret.txt'), 'secret');
	};
	archives.open = async (...call) => {
		archives.open = open;
		await renameByOwner('papers');
		return open(...call);
	};
	await contents('papers');

	await rm(home('docs'), { recursive: true });
	t.is((await changeName(ada, 'papers', 'docs')).statusCode, 200);
	const storage = roots.first.storage as StatsListingStorage;
	const { listWithStats } = storage;
	storage.listWithStats = async function* (folder) {
		yield* listWithStats.call(storage, folder);
		if (folder !== 'users/ada/docs') return;
		storage.listWithStats = listWithStats.bind(storage);
		await renameByOwner('letters');
	};
	await contents('letters');
});

test('the owner lists links newest first, with their numbers of downloads and without their tokens', async (t) => {
	const { ada, visitor, link } = await setUp(t);
	t.deepEqual(json(await ada.get('/api/links')), []);
	const fox = await link('docs/fox.txt');
	await link('docs/deep', '1w');
	await visitor.get(fox);
	await visitor.get(fox, { range: 'bytes=0-3' });
	await visitor.get(fox, { range: 'bytes=-1000' });
	await visitor.get(fox, { range: 'bytes=30-35,0-3' });
	// None of these is a download.
	await visitor.get(fox, { range: 'bytes=4-' });
	await visitor.get(fox, { range: 'bytes=4000-' });
	await visitor.get(fox, { 'if-none-match': '*' });
	await visitor.get(fox, { 'if-match': '"another"' });
	await visitor.call('HEAD', fox);
	const links = json(await ada.get('/api/links'));
	t.deepEqual(
		links.map((each: { path: string; downloads: number }) => [each.path, each.downloads]),
		[
			['docs/deep', 0],
			['docs/fox.txt', 4],
		],
	);
	const [week, one] = links;
	t.deepEqual(Object.keys(one).sort(), ['createdAt', 'downloads', 'expiresAt', 'id', 'path']);
	t.is(week.expiresAt - week.createdAt >= 168 * hourMs - 1000, true);
	t.false(JSON.stringify(links).includes(fox.slice('/api/temp/'.length)));
});

test('a revoked link stops working at once, and only its owner can revoke it', async (t) => {
	const { app, ada, status, link } = await setUp(t);
	const bob = await new Client(app).register('bob');
	const url = await link('docs/fox.txt');
	const other = await link('docs/fox.txt');
	const [, { id }] = json(await ada.get('/api/links'));
	const foreign = await bob.call('DELETE', `/api/links/${id}`);
	const unknown = await bob.call('DELETE', '/api/links/00000000-0000-0000-0000-000000000000');
	t.is(foreign.statusCode, 404);
	t.deepEqual(bytesOf(foreign), bytesOf(unknown));
	t.deepEqual(json(await bob.get('/api/links')), []);
	for (const hostile of ['%00', "'%20or%201=1", '*', '%25', `${id}%2F`])
		t.is((await ada.call('DELETE', `/api/links/${hostile}`)).statusCode, 404, hostile);
	t.is(await status(url), 200);
	t.is((await ada.call('DELETE', `/api/links/${id}`)).statusCode, 200);
	t.is((await ada.call('DELETE', `/api/links/${id}`)).statusCode, 404);
	t.is(await status(url), 404);
	t.is(await status(other), 200);
	t.is(json(await ada.get('/api/links')).length, 1);
});

test('all wrong tokens get the same answer, and paths below a link open nothing', async (t) => {
	const { visitor, link } = await setUp(t);
	const url = await link('docs/deep');
	const token = url.slice('/api/temp/'.length);
	const unknown = bytesOf(await visitor.get(`/api/temp/${'A'.repeat(43)}`));
	t.is(unknown.statusCode, 404);
	const last = token.at(-1) === 'A' ? 'B' : 'A';
	for (const guess of [
		'a',
		token.slice(0, -1),
		`${token.slice(0, -1)}${last}`,
		`${token}A`,
		`${token}%00`,
		`${token}%20`,
		token.toUpperCase(),
		'%00',
		"'%20or%20'1'='1",
		'*',
		'A'.repeat(5000),
		createHash('sha256').update(token).digest('hex'),
	]) {
		t.deepEqual(bytesOf(await visitor.get(`/api/temp/${guess}`)), unknown, guess.slice(0, 60));
	}
	for (const detour of ['/../b', '/..', '/%2e%2e/fox.txt', '/..%2ffox.txt', '/fox.txt', '/deep', '//', '/.']) {
		const answer = await visitor.get(`${url}${detour}`);
		t.true([400, 404].includes(answer.statusCode), `${detour}: ${answer.statusCode}`);
		t.notRegex(answer.payload, /quick|deep/);
	}
	t.is((await visitor.post(url, {})).statusCode, 405);
	t.is((await visitor.call('DELETE', url)).statusCode, 405);
	t.is((await visitor.call('DELETE', '/api/temp/a')).statusCode, 405, 'for any token');
});

test('a link follows its item through renames and moves, also of the folders above it', async (t) => {
	const { ada, visitor, link, status } = await setUp(t);
	const fox = await link('docs/fox.txt');
	const deep = await link('docs/deep/naïve – 日本.txt');
	t.is((await changeName(ada, 'docs/fox.txt', 'vixen.txt')).statusCode, 200);
	t.is(await status(fox), 200);
	t.is((await move(ada, 'docs/vixen.txt', 'elsewhere/far/fox.txt')).statusCode, 200);
	t.is((await visitor.get(fox)).payload, text);
	t.is((await changeName(ada, 'docs', 'documents')).statusCode, 200);
	t.is((await move(ada, 'documents', 'elsewhere/documents')).statusCode, 200);
	t.is((await changeName(ada, 'elsewhere', 'somewhere')).statusCode, 200);
	t.is((await visitor.get(fox)).payload, text);
	t.is((await visitor.get(deep)).payload, 'deep');
	t.deepEqual(
		json(await ada.get('/api/links')).map((each: { path: string }) => each.path),
		['somewhere/documents/deep/naïve – 日本.txt', 'somewhere/far/fox.txt'],
	);
});

test('a link follows its item to the free name that a move gave it, and survives a refused rename', async (t) => {
	const { ada, visitor, home, link } = await setUp(t);
	await writeFile(home('fox.txt'), 'another fox');
	const url = await link('docs/fox.txt');
	const moved = await move(ada, 'docs/fox.txt', 'fox.txt');
	t.is(json(moved).entry.name, 'fox (1).txt');
	t.is((await visitor.get(url)).payload, text);
	t.is((await changeName(ada, 'fox (1).txt', 'fox.txt')).statusCode, 409);
	t.is((await visitor.get(url)).payload, text);
});

test('a link to an item that was deleted, replaced or moved to Public is answered like an unknown one', async (t) => {
	const { ada, visitor, home, link, status } = await setUp(t);
	const unknown = bytesOf(await visitor.get(`/api/temp/${'A'.repeat(43)}`));
	const isUnknown = async (url: string) => t.deepEqual(bytesOf(await visitor.get(url)), unknown);

	const deleted = await link('docs/fox.txt');
	await ada.call('DELETE', '/api/deleteItem', { filePath: 'docs/fox.txt', type: 'private' });
	await isUnknown(deleted);
	await writeFile(home('docs/fox.txt'), 'another of the same name');
	await isUnknown(deleted);
	t.is(json(await ada.get('/api/links')).length, 0);

	const replaced = await link('docs/fox.txt');
	await writeFile(home('new'), 'replaced from outside');
	await rename(home('new'), home('docs/fox.txt'));
	await isUnknown(replaced);

	const publicNow = await link('docs/fox.txt');
	const below = await link('docs/deep/naïve – 日本.txt');
	t.is((await move(ada, 'docs/fox.txt', 'Public/docs/fox.txt')).statusCode, 200);
	await isUnknown(publicNow);
	t.is((await move(ada, 'docs', 'Public/documents')).statusCode, 200);
	await isUnknown(below);
	t.is((await move(ada, 'Public/documents', 'documents')).statusCode, 200);
	await isUnknown(below);

	const folder = await link('documents');
	await rm(home('documents'), { recursive: true });
	await isUnknown(folder);
	await mkdir(home('documents'));
	await isUnknown(folder);
	t.deepEqual(json(await ada.get('/api/links')), []);
	t.is(await status(folder), 404);
});

test('the links of a disabled owner work only after the owner is enabled again, those of a removed owner never', async (t) => {
	const { app, link, status } = await setUp(t);
	const url = await link('docs/fox.txt');
	await app.services.accounts.setDisabled('ada', true);
	t.is(await status(url), 404);
	await app.services.accounts.setDisabled('ada', false);
	t.is(await status(url), 200);
	await app.services.accounts.remove('ada', { kind: 'keep' });
	t.is(await status(url), 404);
	await app.services.accounts.create('ada', 'correct horse', { adoptsHome: true });
	t.is(await status(url), 404);
});

test('another user’s moves and deletions do not affect a link', async (t) => {
	const { app, link, status } = await setUp(t);
	const url = await link('docs/fox.txt');
	const bob = await new Client(app).register('bob');
	await mkdir(path.join(app.filesDir, 'users/bob/docs'));
	await writeFile(path.join(app.filesDir, 'users/bob/docs/fox.txt'), 'his');
	t.is((await bob.post('/api/generateTempLink', { filePath: 'docs/fox.txt', ...hour })).statusCode, 200);
	t.is((await changeName(bob, 'docs', 'papers')).statusCode, 200);
	await bob.call('DELETE', '/api/deleteItem', { filePath: 'papers', type: 'private' });
	t.is(await status(url), 200);
});

/** The links service over the same database and disk, with its own clock and the given faults. */
function linksAt(
	{ app }: Fixture,
	clock: { now: number },
	faults: Partial<LinkStore> = {},
	leases: Pick<Leases, 'acquire'> = app.services.leases,
) {
	return createLinks({
		links: { ...app.services.database.links, ...faults },
		storage: () => app.services.storage,
		leases,
		databaseReserve: app.services.databaseReserve,
		log: silent,
		now: () => clock.now,
	});
}

test('an expired link is answered 410, as JSON for a program and as a page for a browser; an unknown one has a page too', async (t) => {
	const s = await setUp(t);
	const clock = { now: Date.now() - 2 * hourMs };
	const { token } = await linksAt(s, clock).make(s.viewer, parsePath('docs/fox.txt'), '1h');
	const answer = await s.visitor.get(`/api/temp/${token}`, { accept: '*/*' });
	t.is(answer.statusCode, 410);
	t.like(json(answer), { code: 'EXPIRED', message: 'This link has expired.' });
	for (const [url, status, words] of [
		[`/api/temp/${token}`, 410, 'This link has expired'],
		[`/api/temp/${'A'.repeat(43)}`, 404, 'This link does not exist or no longer works'],
	] as const) {
		const page = await s.visitor.get(url, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
		t.is(page.statusCode, status);
		t.true(page.payload.includes(words));
		t.like(page.headers, {
			'content-type': 'text/html; charset=utf-8',
			'cache-control': 'private, no-store',
			'referrer-policy': 'no-referrer',
			'x-content-type-options': 'nosniff',
			'x-frame-options': 'DENY',
		});
		t.regex(String(page.headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-/);
		t.notRegex(page.payload, /<script|onload|docs|fox|ada/);
	}
	t.deepEqual(json(await s.ada.get('/api/links')), []);
});

test('a link works until the moment it expires, and setting the clock back does not revive it', async (t) => {
	const s = await setUp(t);
	const clock = { now: Date.now() };
	const links = linksAt(s, clock);
	const { token, expiresAt } = await links.make(s.viewer, parsePath('docs/fox.txt'), '12h');
	const follow = async () => {
		const { file } = await links.resolve(token);
		await file?.close();
	};
	clock.now = expiresAt - 1;
	await t.notThrowsAsync(follow);
	clock.now = expiresAt;
	t.like(await t.throwsAsync(follow), { kind: 'expired' });
	clock.now = expiresAt - hourMs;
	t.like(await t.throwsAsync(follow), { kind: 'expired' });

	const other = await links.make(s.viewer, parsePath('docs/deep'), '1w');
	clock.now -= 365 * 24 * hourMs;
	// A process that started after the link was created can't know its age.
	t.like(await t.throwsAsync(() => linksAt(s, clock).resolve(other.token)), { kind: 'expired' });
});

test('a new link works for its hour after sleeps and corrections of the machine’s clock', async (t) => {
	const clock = { now: Date.now(), passed: 1000 };
	const app = await testApp(t, {}, { now: () => clock.now, monotonic: () => clock.passed });
	const ada = await new Client(app).register('ada');
	await writeFile(path.join(app.filesDir, 'users/ada/fox.txt'), text);
	// After the machine has slept, the time of day is hours ahead of the monotonic clock, which does not count the sleep.
	for (const slept of [0, 10 * 60_000, 8 * hourMs, -10 * 60_000]) {
		clock.now += slept;
		const answer = await ada.post('/api/generateTempLink', { filePath: 'fox.txt', expiration: '1h' });
		const { token, expiresAt } = json(answer);
		t.is(expiresAt, clock.now + hourMs);
		const status = async (of = app.services.links) => {
			try {
				await (await of.resolve(token)).file?.close();
				return 'good';
			} catch (error) {
				return isFailure(error) ? error.kind : error;
			}
		};
		t.is(await status(), 'good');
		// The time of day is set back by ten minutes.
		clock.now += hourMs / 2 - 10 * 60_000;
		clock.passed += hourMs / 2;
		t.is(await status(), 'good');
		clock.now += hourMs / 2;
		clock.passed += hourMs / 2;
		t.true(clock.now < expiresAt);
		t.is(await status(), 'expired', 'an hour has passed, whatever the time of day says');
		const { database, storage } = app.services;
		const afterRestart = createLinks({
			links: database.links,
			storage: () => storage,
			leases: app.services.leases,
			databaseReserve: app.services.databaseReserve,
			log: silent,
			now: () => clock.now,
			monotonic: () => 0,
		});
		t.is(await status(afterRestart), 'expired', 'still expired after a restart');
	}
});

test('links are created and checked by the one clock that the server was given', async (t) => {
	let ahead = 10 * 60_000;
	const app = await testApp(t, {}, { now: () => Date.now() + ahead });
	const ada = await new Client(app).register('ada');
	await writeFile(path.join(app.filesDir, 'users/ada/fox.txt'), text);
	const status = async (url: string) => (await new Client(app).get(url)).statusCode;
	for (const apart of [10 * 60_000, -10 * 60_000]) {
		ahead = apart;
		const answer = await ada.post('/api/generateTempLink', { filePath: 'fox.txt', expiration: '1h' });
		const url = `/api/temp/${json(answer).token}`;
		t.is(await status(url), 200);
		ahead += hourMs - 60_000;
		t.is(await status(url), 200);
		ahead += 60_000;
		t.is(await status(url), 410);
	}
});

test('where ids may be reused, a link survives a rename and ends with its file: a new one of its name and id is not served', async (t) => {
	const s = await setUp(t);
	const { storage } = s.app.services.roots.first;
	const { stat, open } = storage;
	storage.stat = async (at) => ({ ...(await stat.call(storage, at)), id: 'the same', mayReuseId: true });
	storage.open = async (at) => {
		const file = await open.call(storage, at);
		Object.assign(file.item, { id: 'the same', mayReuseId: true });
		return file;
	};
	const url = await s.link('docs/fox.txt');
	t.is(await s.status(url), 200);
	t.is((await changeName(s.ada, 'docs/fox.txt', 'hare.txt')).statusCode, 200);
	t.is(await s.status(url), 200);
	await rm(s.home('docs/hare.txt'));
	t.is(await s.status(url), 404);
	await writeFile(s.home('docs/hare.txt'), 'a secret of the same name and number');
	t.is(await s.status(url), 404);
});

test('a download that started before its link expired is completed afterwards', async (t) => {
	const s = await setUp(t);
	const clock = { now: Date.now() };
	const links = linksAt(s, clock);
	const { token } = await links.make(s.viewer, parsePath('docs/fox.txt'), '1h');
	const { file } = await links.resolve(token);
	clock.now += 2 * hourMs;
	let read = '';
	for await (const chunk of file?.read() ?? []) read += Buffer.from(chunk).toString();
	await file?.close();
	t.is(read, text);
});

test('an expired link is remembered for some days and then swept; purge removes all links that do not work', async (t) => {
	const s = await setUp(t);
	const clock = { now: Date.now() };
	const links = linksAt(s, clock);
	const { token } = await links.make(s.viewer, parsePath('docs/fox.txt'), '1h');
	clock.now += 3 * 24 * hourMs;
	await links.sweep();
	t.like(await t.throwsAsync(() => links.resolve(token)), { kind: 'expired' });
	clock.now += 6 * 24 * hourMs;
	await links.sweep();
	t.like(await t.throwsAsync(() => links.resolve(token)), { kind: 'notFound' });

	clock.now = Date.now();
	await links.make(s.viewer, parsePath('docs/deep'), '1h');
	await links.make(s.viewer, parsePath('docs/fox.txt'), '1w');
	await links.make(s.viewer, parsePath('docs/deep/naïve – 日本.txt'), '1w');
	await rm(s.home('docs/fox.txt'));
	clock.now += 2 * hourMs;
	const states = async () => {
		const found: string[] = [];
		for await (const { state } of links.list()) found.push(state);
		return found.sort();
	};
	t.deepEqual(await states(), ['expired', 'gone', 'good']);
	t.is(await links.purge(), 2);
	t.is(await links.purge(), 0);
	t.deepEqual(await states(), ['good']);
});

/** A move as `files` does it: the target is reported before the item is moved. */
const moveTo = <T>(links: Links, viewer: Viewer, from: StoragePath, to: StoragePath, move: () => Promise<T>) =>
	links.tracker.moving(viewer, from, async (before) => {
		await before(to);
		return move();
	});

const endedLease: Lease = {
	key: { name: 'links', holder: 'dead', epoch: 1, hasLapsed: false },
	signal: new AbortController().signal,
	isHeld: () => true,
	isRequested: () => false,
	release: async () => {},
	lapse: () => {},
};

/** The server dies after it moved the item on the disk and before it updated the database. */
const killedAfterMove = async (t: ExecutionContext, from: string, to: string, filePath: string, arrived: string) => {
	const s = await setUp(t);
	const { token } = await linksAt(s, { now: Date.now() }).make(s.viewer, parsePath(filePath), '1h');
	const neverSettles = { setPaths: () => new Promise<never>(() => {}) };
	// Its lease ended with the process.
	const dead = linksAt(s, { now: Date.now() }, neverSettles, { acquire: async () => endedLease });
	const at = (name: string) => `users/ada/${name}` as StoragePath;
	await new Promise<void>((resolve) => {
		void moveTo(dead, s.viewer, at(from), at(to), async () => {
			await s.app.services.storage.move(at(from), at(to));
			resolve();
		});
	});
	t.is((await s.visitor.get(`/api/temp/${token}`)).statusCode, 200);
	t.deepEqual(
		json(await s.ada.get('/api/links')).map((each: { path: string }) => each.path),
		[arrived],
	);
	// The link also follows the next rename.
	t.is((await changeName(s.ada, arrived, 'last.txt')).statusCode, 200);
	t.is((await s.visitor.get(`/api/temp/${token}`)).statusCode, 200);
};
test(
	'a kill between a rename and the update of its row loses no link',
	killedAfterMove,
	'docs/fox.txt',
	'x.txt',
	'docs/fox.txt',
	'x.txt',
);
test(
	'a kill between the rename of a parent folder and the update of its rows loses no link',
	killedAfterMove,
	'docs',
	'papers',
	'docs/deep/naïve – 日本.txt',
	'papers/deep/naïve – 日本.txt',
);

const savedAfterMove = async (t: ExecutionContext, flags: Record<string, string>) => {
	const s = await setUp(t, flags);
	const { token } = await linksAt(s, { now: Date.now() }).make(s.viewer, parsePath('docs/fox.txt'), '1h');
	const dead = linksAt(s, { now: Date.now() }, { setPaths: () => Promise.reject(new Error('the database died')) });
	const at = (name: string) => `users/ada/${name}` as StoragePath;
	await moveTo(dead, s.viewer, at('docs/fox.txt'), at('x.txt'), () =>
		s.app.services.storage.move(at('docs/fox.txt'), at('x.txt')),
	);
	for (const content of ['saved', 'saved again']) {
		const parts = [field('directory', ''), field('onConflict', 'replace'), file('x.txt', content)];
		t.is((await s.ada.upload('/api/upload', parts)).statusCode, 200);
		t.is((await s.visitor.get(`/api/temp/${token}`)).payload, content);
	}
	t.is((await changeName(s.ada, 'x.txt', 'last.txt')).statusCode, 200);
	t.is((await s.visitor.get(`/api/temp/${token}`)).payload, 'saved again');
};
test('a link survives a file that is saved after a move whose end was not recorded', savedAfterMove, {});
test('so it does where no versions are kept', savedAfterMove, { '--versions-keep-for': '0' });

test('a version is completed later where a link could not be bound to the file that replaced its own', async (t) => {
	const s = await setUp(t);
	const { rebind } = s.app.services.database.links;
	const links = linksAt(s, { now: Date.now() }, { rebind: async () => false });
	await links.make(s.viewer, parsePath('docs/fox.txt'), '1h');
	const [link] = await linksWithin(s.app.services.database.links, s.viewer.id, parsePath('docs/fox.txt'));
	const replaced = {
		ownerId: s.viewer.id,
		path: parsePath('docs/fox.txt'),
		former: link?.itemId ?? '',
		file: 'another',
	};
	t.true(isFailure(await t.throwsAsync(() => links.tracker.replaced(replaced)), 'locked'));
	await t.notThrowsAsync(() => linksAt(s, { now: Date.now() }, { rebind }).tracker.replaced(replaced));
});

test('consecutive moves, each killed before its rows are updated, lose no link', async (t) => {
	const s = await setUp(t);
	const { token } = await linksAt(s, { now: Date.now() }).make(s.viewer, parsePath('docs/fox.txt'), '1h');
	for (const [from, to] of [
		['docs', 'a'],
		['a/fox.txt', 'b.txt'],
		['b.txt', 'docs.txt'],
	]) {
		const dead = linksAt(s, { now: Date.now() }, { setPaths: () => Promise.reject(new Error('the database died')) });
		const at = (name: string) => `users/ada/${name}` as StoragePath;
		await moveTo(dead, s.viewer, at(from ?? ''), at(to ?? ''), () =>
			s.app.services.storage.move(at(from ?? ''), at(to ?? '')),
		);
	}
	t.is((await s.visitor.get(`/api/temp/${token}`)).statusCode, 200);
	// And a move that was planned and never made on the disk.
	const dead = linksAt(s, { now: Date.now() });
	await moveTo(dead, s.viewer, 'users/ada/docs.txt' as StoragePath, 'users/ada/e.txt' as StoragePath, () =>
		Promise.reject(new Error('the server died')),
	).catch(() => undefined);
	t.is((await s.visitor.get(`/api/temp/${token}`)).statusCode, 200);
});

test('a link survives a failed move, and does not work while its file is in Public, even if its row was not removed', async (t) => {
	const s = await setUp(t);
	const links = linksAt(s, { now: Date.now() }, { remove: () => Promise.reject(new Error('the database died')) });
	const { token } = await links.make(s.viewer, parsePath('docs/fox.txt'), '1h');
	const at = (name: string) => `users/ada/${name}` as StoragePath;
	await t.throwsAsync(
		moveTo(links, s.viewer, at('docs/fox.txt'), at('x.txt'), () => Promise.reject(new Error('the disk died'))),
		{ message: 'the disk died' },
	);
	t.is(await s.status(`/api/temp/${token}`), 200);
	await moveTo(links, s.viewer, at('docs/fox.txt'), at('Public/fox.txt'), () =>
		s.app.services.storage.move(at('docs/fox.txt'), at('Public/fox.txt')),
	);
	t.is(await s.status(`/api/temp/${token}`), 404);
	await rename(s.home('Public/fox.txt'), s.home('docs/fox.txt'));
	t.is(await s.status(`/api/temp/${token}`), 200, 'the same file is private again');
});

test('a link works, and an expired one is reported as expired, while the database is full', async (t) => {
	const s = await setUp(t);
	const clock = { now: Date.now() };
	const full = () => Promise.reject(new Failure('storageFull', 'The disk of the database is full.'));
	const links = linksAt(s, clock, { completeMove: full, end: full, countDownload: full, setPaths: full });
	const { id, token } = await links.make(s.viewer, parsePath('docs/fox.txt'), '1h');
	const at = (name: string) => `users/ada/${name}` as StoragePath;
	await moveTo(links, s.viewer, at('docs/fox.txt'), at('x.txt'), () =>
		s.app.services.storage.move(at('docs/fox.txt'), at('x.txt')),
	);
	const { path: found, file } = await links.resolve(token);
	t.is(found, 'x.txt' as StoragePath);
	await file?.close();
	await t.notThrowsAsync(() => links.countDownload(id));
	clock.now += 2 * hourMs;
	t.like(await t.throwsAsync(() => links.resolve(token)), { kind: 'expired' });
});

test('a move that is done is answered as done where the full database can’t release its lease', async (t) => {
	const s = await setUp(t);
	const url = await s.link('docs/fox.txt');
	const { leases } = s.app.services.database;
	leases.release = () => Promise.reject(new Failure('storageFull', 'The disk of the database is full.'));
	t.is((await changeName(s.ada, 'docs/fox.txt', 'b.txt')).statusCode, 200);
	t.is(await s.status(url), 200);
});

test('a link works at every moment while the folders above its file are renamed', async (t) => {
	const s = await setUp(t);
	const url = await s.link('docs/deep/naïve – 日本.txt');
	let isRunning = true;
	const statuses = new Set<number>();
	const follow = async () => {
		while (isRunning) statuses.add(await s.status(url));
	};
	const followers = [follow(), follow()];
	for (let round = 0; round < 12; round++) {
		const names = round % 2 === 0 ? ['docs', 'papers'] : ['papers', 'docs'];
		const [from = '', to = ''] = names;
		await Promise.all([
			changeName(s.ada, `${from}/deep`, 'deeper'),
			changeName(s.ada, `${from}/deeper`, 'deep'),
			changeName(s.ada, from, to),
		]);
	}
	isRunning = false;
	await Promise.all(followers);
	t.deepEqual([...statuses], [200]);
});

test('a link is found if its file is renamed and renamed back during the lookup', async (t) => {
	const s = await setUp(t);
	const { token } = await linksAt(s, { now: Date.now() }).make(s.viewer, parsePath('docs/fox.txt'), '1h');
	const { database, storage } = s.app.services;
	let lookups = 0;
	const links = createLinks({
		links: {
			...database.links,
			async find(hash) {
				const link = await database.links.find(hash);
				if (lookups++ === 0) await changeName(s.ada, 'docs/fox.txt', 'away.txt');
				return link;
			},
		},
		storage: () => ({
			...storage,
			changing: (path, work) => storage.changing(path, work),
			open: (path) => storage.open(path),
			async stat(path) {
				try {
					return await storage.stat(path);
				} finally {
					if (lookups === 1) await changeName(s.ada, 'docs/away.txt', 'fox.txt');
				}
			},
		}),
		leases: s.app.services.leases,
		databaseReserve: s.app.services.databaseReserve,
		log: silent,
	});
	const { path, file } = await links.resolve(token);
	await file?.close();
	t.is(path, parsePath('docs/fox.txt'));
	t.is(lookups, 2);
});

test('concurrent moves of one user lose no link', async (t) => {
	const s = await setUp(t);
	const urls: string[] = [];
	for (let count = 0; count < 12; count++) {
		await writeFile(s.home(`docs/${count}.txt`), String(count));
		urls.push(await s.link(`docs/${count}.txt`));
	}
	await Promise.all([
		...urls.map((_, count) => changeName(s.ada, `docs/${count}.txt`, `renamed ${count}.txt`)),
		changeName(s.ada, 'docs', 'papers'),
		...urls.map((_, count) => move(s.ada, `papers/${count}.txt`, `moved/${count}.txt`)),
	]);
	for (const [count, url] of urls.entries()) t.is((await s.visitor.get(url)).payload, String(count));
});

test('neither the token of a link nor its hash is logged', async (t) => {
	const lines: string[] = [];
	const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
	const app = await testApp(t, {}, { log });
	const ada = await new Client(app).register('ada');
	await writeFile(path.join(app.filesDir, 'users/ada/fox.txt'), text);
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'fox.txt', ...hour }));
	const url = `/api/temp/${token}`;
	await ada.get(url);
	await ada.get(`${url}x`);
	await ada.get(url, { range: 'bytes=900-' });
	await ada.get(url, { accept: 'text/html' });
	const { links } = app.services.database;
	const find = links.find;
	links.find = () => Promise.reject(new Error('the database died'));
	t.is((await ada.get(url)).statusCode, 500);
	links.find = find;
	links.countDownload = () => Promise.reject(new Error('the database died'));
	t.is((await ada.get(url)).statusCode, 200);
	t.true(lines.some((line) => line.includes('the database died')));
	t.false(lines.join('').includes(token));
	t.false(lines.join('').includes(createHash('sha256').update(token).digest('hex')));
});
