import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { storedText } from '../../../database/test/sharedServers.js';
import { auditText, Client, file, json, testApp } from '../testApp.js';

const day = 24 * 60 * 60_000;

async function setUp(t: ExecutionContext, flags: Record<string, string> = {}, options = {}) {
	const app = await testApp(t, flags, options);
	const ada = await new Client(app).register('ada');
	const home = (name: string) => path.join(app.filesDir, 'users/ada', name);
	await mkdir(home('docs/deep'), { recursive: true });
	await writeFile(home('docs/fox.txt'), 'fox');
	await writeFile(home('one.txt'), 'one');
	const share = async (paths: readonly string[], choices: object = {}) =>
		ada.post('/api/shares', { items: paths.map((each) => ({ path: each })), mode: 'view', ...choices });
	const made = async (paths: readonly string[], choices: object = {}) => {
		const answer = await share(paths, choices);
		t.is(answer.statusCode, 201, answer.payload);
		return json(answer);
	};
	const get = async (id: string) => json(await ada.get(`/api/shares/${id}`));
	return { app, ada, home, share, made, get };
}

test('a share is made, listed, changed and deleted by its owner', async (t) => {
	const { app, ada, made } = await setUp(t);
	const before = Date.now();
	const one = await made(['docs'], { title: 'Docs', message: 'Hello', expiresAt: before + day, maxDownloads: 3 });
	t.like(one, {
		...{ title: 'Docs', message: 'Hello', mode: 'view', state: 'active', isPaused: false, hasPassword: false },
		...{ expiresAt: before + day, maxDownloads: 3, maxUploadBytes: null, askName: false, lastUsedAt: null },
		...{ downloads: 0, bytesSent: 0, uploads: 0, bytesReceived: 0, items: [{ path: 'docs', type: 'directory' }] },
	});
	t.regex(one.url, /^http:\/\/127\.0\.0\.1:\d+\/s\/[\w-]{43}$/);
	const two = await made(['one.txt', 'docs/fox.txt', 'one.txt'], { password: 'very secret' });
	t.deepEqual(two.items, [
		{ path: 'one.txt', type: 'file' },
		{ path: 'docs/fox.txt', type: 'file' },
	]);
	t.like(two, { hasPassword: true, title: '', expiresAt: null });
	t.is((await made(['one.txt'])).title, 'one.txt');
	const { shares } = json(await ada.get('/api/shares'));
	t.is(shares.length, 3);
	t.deepEqual(json(await ada.get('/api/shares?limit=1')).shares.length, 1);
	t.deepEqual(json(await ada.get(`/api/shares?after=${shares[1].createdAt}-${shares[1].id}`)).shares, [shares[2]]);
	t.is((await ada.get('/api/shares?after=x')).statusCode, 400);

	const changed = await ada.call('PATCH', `/api/shares/${two.id}`, { isPaused: true, password: null, title: 'Two' });
	t.like(json(changed), {
		id: two.id,
		url: two.url,
		isPaused: true,
		state: 'paused',
		hasPassword: false,
		title: 'Two',
	});
	t.is((await ada.call('PATCH', `/api/shares/${two.id}`, { mode: 'both' })).statusCode, 400);
	const bob = await new Client(app).register('bob');
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		const body = method === 'PATCH' ? { isPaused: false } : undefined;
		t.is((await bob.call(method, `/api/shares/${two.id}`, body)).statusCode, 404, method);
		t.is((await ada.call(method, '/api/shares/unknown', body)).statusCode, 404, method);
		t.is((await new Client(app).call(method, `/api/shares/${two.id}`, body)).statusCode, 401, method);
	}
	t.deepEqual(json(await bob.get('/api/shares')).shares, []);
	t.is((await ada.call('DELETE', `/api/shares/${two.id}`)).statusCode, 200);
	t.is((await ada.get(`/api/shares/${two.id}`)).statusCode, 404);
});

test('the items of many shares are read a part after the other, and a share that is deleted meanwhile is not listed', async (t) => {
	const { app, ada, home, made } = await setUp(t);
	const paths = Array.from({ length: 90 }, (_, n) => `docs/${n}.txt`);
	for (const name of paths) await writeFile(home(name), name);
	for (let n = 0; n < 5; n++) await made(paths, { title: `${n}` });
	const { database, shares } = app.services;
	const reads: number[] = [];
	const { withItems } = database.shares;
	database.shares.withItems = async (heads) => {
		const found = await withItems(heads);
		reads.push(found.reduce((sum, { items }) => sum + items.length, 0));
		return found;
	};
	const ownerId = (await database.users.find('ada'))?.id ?? '';
	const titles: string[] = [];
	const all = (await database.shares.page({ limit: 9 })).map(({ id }) => id);
	for await (const { title, items } of shares.list(ownerId)) {
		t.is(items.length, 90);
		if (titles.push(title) > 1) continue;
		t.deepEqual(reads, [180], 'no more than a part when the first one is listed');
		await ada.call('DELETE', `/api/shares/${all.at(-1)}`);
	}
	t.deepEqual(reads, [180, 180]);
	t.is(new Set(titles).size, 4);
});

const refused = async (t: ExecutionContext, payload: object, status: number, says: RegExp = /./) => {
	const { app, ada, home } = await setUp(t);
	await writeFile(home('Public/plain.txt'), 'plain');
	const answer = await ada.post('/api/shares', payload);
	t.is(answer.statusCode, status, answer.payload);
	t.regex(json(answer).message, says);
	t.deepEqual(await app.services.database.shares.page({ limit: 10 }), []);
};
const one = { items: [{ path: 'one.txt' }], mode: 'view' };
test('the home itself is not shared', refused, { ...one, items: [{ path: '' }] }, 400);
test('the Public folder is not shared', refused, { ...one, items: [{ path: 'Public' }] }, 400, /Public/);
test('what is in Public is not shared', refused, { ...one, items: [{ path: 'Public/plain.txt' }] }, 400, /Public/);
test('nothing is not shared', refused, { ...one, items: [] }, 400);
test('a missing item among others is not shared', refused, { ...one, items: [...one.items, { path: 'none' }] }, 404);
test('a path out of the home is not shared', refused, { ...one, items: [{ path: '../bob/canary' }] }, 400);
test('a file receives nothing', refused, { ...one, mode: 'upload' }, 400, /one folder/);
test('two items receive nothing', refused, { items: [{ path: 'docs' }, { path: 'docs/deep' }], mode: 'both' }, 400);
test('more items than a share can have are refused', refused, { ...one, items: Array(1001).fill(one.items[0]) }, 400);
test('a share does not begin after its end', refused, { ...one, expiresAt: 1000 }, 400, /future/);
test(
	'a share does not end where there is no date',
	refused,
	{ ...one, expiresAt: Number.MAX_SAFE_INTEGER },
	400,
	/too far/,
);
test('a title with NUL, which no database keeps, is refused', refused, { ...one, title: 'a\0b' }, 400, /title/);
test('a message with NUL is refused', refused, { ...one, message: '\0' }, 400, /message/);
test('a short password is refused', refused, { ...one, password: 'short' }, 400, /password/);
test('no downloads are no limit', refused, { ...one, maxDownloads: 0 }, 400, /maxDownloads/);
test('an unknown field of a share is refused', refused, { ...one, owner: 'bob' }, 400, /owner/);

test('neither tokens nor passwords of shares are in the database or the audit log', async (t) => {
	const { app, ada, made } = await setUp(t);
	const { id, url } = await made(['docs'], { password: 'very secret horse' });
	const { url: other } = await made(['one.txt']);
	await ada.call('PATCH', `/api/shares/${id}`, { password: 'other secret horse' });
	await ada.call('DELETE', `/api/shares/${id}`);
	await app.services.audit.close();
	const text = (await storedText(app.services.config.databaseUrl)) + (await auditText(app));
	t.true(text.includes('createShare') && text.includes('changeShare') && text.includes('deleteShare'));
	t.true(text.includes(id));
	for (const secret of [url, other, 'x/very secret horse', 'x/other secret horse'])
		t.false(text.includes(secret.split('/').at(-1)), secret);
});

test('a share follows its items and never leads to another file of the old name', async (t) => {
	const { ada, home, made, get } = await setUp(t);
	const { id } = await made(['docs/fox.txt', 'one.txt']);
	const paths = async () => (await get(id)).items.map((item: { path: string }) => item.path);
	await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'papers', type: 'private' });
	t.deepEqual(await paths(), ['papers/fox.txt', 'one.txt']);
	await ada.post('/api/moveItem', { fromPath: 'papers/fox.txt', toPath: 'docs/new.txt', type: 'private' });
	t.deepEqual(await paths(), ['docs/new.txt', 'one.txt']);

	const deleted = async (filePath: string) => {
		const answer = await ada.call('DELETE', '/api/deleteItem', { filePath, type: 'private' });
		t.is(answer.statusCode, 200, answer.payload);
		return json(answer).trashId;
	};
	const trashed = [await deleted('docs/new.txt'), await deleted('one.txt')];
	t.like(await get(id), { state: 'gone', items: [] });
	await ada.upload('/api/upload', [file('one.txt', 'another')]);
	t.is((await get(id)).state, 'gone');
	await ada.post('/api/trash/restore', { ids: trashed });
	t.is((await get(id)).state, 'active');
	t.deepEqual(await paths(), ['docs/new.txt', 'one (1).txt']);

	await ada.post('/api/moveItem', { fromPath: 'one (1).txt', toPath: 'Public/one.txt', type: 'private' });
	t.deepEqual(await paths(), ['docs/new.txt'], 'what is public needs no share');
	await rename(home('docs/new.txt'), home('docs/aside.txt'));
	await writeFile(home('docs/new.txt'), 'another');
	t.is((await get(id)).state, 'gone');
	await rm(home('docs/new.txt'));
	await rename(home('docs/aside.txt'), home('docs/new.txt'));
	t.is((await get(id)).state, 'active');
});

test('the administrator sets how long shares live, whether they need passwords, and whether there are any', async (t) => {
	let time = Date.now();
	const options = { now: () => time, monotonic: () => time };
	const flags = { '--shares-max-lifetime': '2 days', '--shares-require-password': 'true' };
	const { app, ada, share, made, get } = await setUp(t, flags, options);
	t.regex((await share(['docs'])).payload, /needs a password/);
	const { id, expiresAt } = await made(['docs'], { password: 'very secret', expiresAt: time + 9 * day });
	t.is(expiresAt, time + 2 * day);
	t.is((await ada.call('PATCH', `/api/shares/${id}`, { password: null })).statusCode, 400);
	t.is(json(await ada.call('PATCH', `/api/shares/${id}`, { expiresAt: null })).expiresAt, time + 2 * day);
	time += 2 * day;
	t.is((await get(id)).state, 'expired');
	Object.assign(app.services.config.shares, { enabled: false, maxLifetime: 0 });
	t.is((await get(id)).state, 'active');
	t.is((await share(['docs'], { password: 'very secret' })).statusCode, 403);
	t.is(json(await ada.get('/api/shares')).shares.length, 1);
});

test('an expired share stays expired when the clock is set back, until it gets another end', async (t) => {
	let time = Date.now();
	const { ada, made, get } = await setUp(t, {}, { now: () => time });
	const { id } = await made(['docs'], { expiresAt: time + day });
	time += day;
	t.is((await get(id)).state, 'expired');
	time -= day / 2;
	t.is((await get(id)).state, 'expired');
	const changed = await ada.call('PATCH', `/api/shares/${id}`, { expiresAt: time + 3 * day });
	t.is(json(changed).state, 'active');
});

test('a user has 1,000 shares, and 10,000 items in them', async (t) => {
	const { app, share } = await setUp(t);
	const { database } = app.services;
	const user = await database.users.find('ada');
	const many = (items: number) => ({
		...{ sealedToken: '', ownerId: user?.id ?? '', title: '', message: '', mode: 'view' as const, asksName: false },
		...{ expiresAt: null, passwordSecret: null, maxDownloads: null, maxUploadBytes: null, tokenHash: `${items}` },
		items: Array.from({ length: items }, () => ({ path: 'x' as never, itemId: 'x', type: 'file' as const })),
	});
	await database.shares.add(many(9_999), { shares: 1_000, items: 10_000 });
	t.is((await share(['docs', 'one.txt'])).statusCode, 429);
	t.is((await share(['docs'])).statusCode, 201);
});
