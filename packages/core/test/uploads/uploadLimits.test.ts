import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Failure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { visitorOf } from '../../src/config/strangers.js';
import { runInContext } from '../../src/context.js';
import type { AppOptions } from '../../src/index.js';
import { HourlyLimits } from '../../src/uploads/admission/HourlyLimits.js';
import { addressOf, rawRequest } from '../rawRequest.js';
import { Client, file, form, json, reportSpace, type TestApp, testApp } from '../testApp.js';
import { begin, checksum, create, patch, remove, uploadState } from '../tusClient.js';
import { until } from '../until.js';

const kb = (count: number) => Buffer.alloc(count * 1024, 7);
const stagedAndPublic = async ({ filesDir }: TestApp) => [
	await readdir(path.join(filesDir, '.stowage/staging')),
	await readdir(path.join(filesDir, 'users/anonymous/Public')),
];

test('the bytes that visitors of one address upload in an hour are limited, over forms and resumable uploads', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-bytes-per-hour': '100 KB' });
	const visitor = new Client(app);
	const post = (size: number) => visitor.upload('/api/upload/public', [file('a', kb(size))]);
	t.is((await post(50)).statusCode, 200);
	t.is((await create(visitor, 40 * 1024, { filename: 'b' }, {}, kb(40))).statusCode, 201);
	const refused = await post(30);
	t.is(refused.statusCode, 429);
	t.true(Number(refused.headers['retry-after']) > 3500);
	t.is((await create(visitor, 30 * 1024, { filename: 'c' })).statusCode, 429);
	t.is((await create(visitor, 101 * 1024, { filename: 'c' })).statusCode, 413);
	t.is((await post(101)).statusCode, 413);
	t.is((await post(5)).statusCode, 200, 'what was refused does not count');
	t.deepEqual(await stagedAndPublic(app), [[], ['a', 'a (1)', 'b']]);
	const ada = await new Client(app).register('ada');
	t.is((await ada.upload('/api/upload', [file('a', kb(200))])).statusCode, 200);
});

test('the files that visitors of one address upload in an hour are limited', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-files-per-hour': '3' });
	const visitor = new Client(app);
	const form = (...names: string[]) =>
		visitor.upload(
			'/api/upload/public',
			names.map((name) => file(name, 'x')),
		);
	t.is((await form('a', 'b', 'c', 'd')).statusCode, 413, 'more files than the limit never fit');
	t.is((await form('a', 'b')).statusCode, 200);
	t.is((await form('a/b')).statusCode, 400, 'a failed upload does not count');
	t.is((await create(visitor, 1, { filename: 'c' }, {}, 'x')).statusCode, 201);
	t.is((await form('d')).statusCode, 429);
	t.deepEqual(await stagedAndPublic(app), [[], ['a', 'b', 'c']]);
});

test('a limit for an address holds for all its users and visitors together', async (t) => {
	const app = await testApp(t, { '--uploads-address-files-per-hour': '2', '--uploads-address-bytes-per-hour': '1 MB' });
	const ada = await new Client(app).register('ada');
	t.is((await ada.upload('/api/upload', [file('a', 'x')])).statusCode, 200);
	t.is((await new Client(app).upload('/api/upload/public', [file('a', 'x')])).statusCode, 200);
	t.is((await ada.upload('/api/upload', [file('b', 'x')])).statusCode, 429);
	t.is((await create(ada, 2 * 1024 ** 2, { filename: 'c' })).statusCode, 429);
});

test('an upload that fails reports the reason, even if neither its file nor its limits can be released', async (t) => {
	const app = await testApp(t, { '--uploads-address-files-per-hour': '2' });
	const visitor = new Client(app);
	app.services.database.limits.release = () => Promise.reject(new Failure('unavailable', 'The database is away.'));
	const { storage } = app.services.roots.first;
	const { stage } = storage;
	storage.stage = async (id) => {
		const staged = await stage.call(storage, id);
		staged.discard = () => Promise.reject(new Failure('unavailable', 'The disk is away.'));
		return staged;
	};
	t.is((await visitor.upload('/api/upload/public', [file('a/b', 'x')])).statusCode, 400);
	t.is((await visitor.upload('/api/upload/public', [file('', 'x')])).statusCode, 400);
});

test('a body of unknown length counts for the hourly limit after it has arrived', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-bytes-per-hour': '100 KB' });
	const { body, type } = form([file('a', kb(70))]);
	const send = () =>
		new Promise<number>((resolve, reject) => {
			const sent = request(`${app.server.info.uri}/api/upload/public`, {
				method: 'POST',
				headers: { 'content-type': type, 'transfer-encoding': 'chunked' },
			});
			sent.on('response', (answer) => resolve(answer.statusCode ?? 0)).on('error', reject);
			sent.end(body);
		});
	t.deepEqual([await send(), await send()], [200, 429]);
	t.deepEqual(await stagedAndPublic(app), [[], ['a']]);
});

test('a body of unknown length is refused while it arrives, once it exceeds the hourly limit', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-bytes-per-hour': '1 MB' });
	const sent = request({
		...addressOf(app),
		path: '/api/upload/public',
		method: 'POST',
		agent: false,
		headers: { 'content-type': 'multipart/form-data; boundary=b', 'transfer-encoding': 'chunked' },
	});
	sent.on('error', () => {});
	const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
	sent.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
	// The body never ends.
	for (let n = 0; n < 20; n++) sent.write(kb(200));
	const [answer] = await answered;
	// Depending on how much arrives at once, this exceeds the rest of the limit (429) or the whole limit (413).
	t.true([413, 429].includes(answer.statusCode ?? 0), `${answer.statusCode}`);
	sent.destroy();
	const fits = await new Client(app).upload('/api/upload/public', [file('b', kb(900))]);
	t.is(fits.statusCode, 200, 'a failed upload does not count');
	t.deepEqual(await stagedAndPublic(app), [[], ['b']]);
});

test('all visitors together have an hourly limit, for which announced bytes do not count', async (t) => {
	const app = await testApp(t, {
		'--uploads-anonymous-total-bytes-per-hour': '100 KB',
		'--uploads-anonymous-total-files-per-hour': '3',
		'--trusted-proxies': '127.0.0.1',
	});
	const from = (address: string) => ({ 'x-forwarded-for': address });
	const visitor = new Client(app);
	const post = (name: string, size: number, address: string) =>
		visitor.upload('/api/upload/public', [file(name, kb(size))], from(address));
	const location = await begin(visitor, 60 * 1024, { filename: 'a' }, from('192.0.2.1'));
	t.is((await post('b', 70, '192.0.2.2')).statusCode, 200, 'the created upload has sent no bytes');
	const refused = await patch(visitor, location, 0, kb(60), from('192.0.2.1'));
	t.is(refused.statusCode, 429);
	t.true(Number(refused.headers['retry-after']) > 3500);
	t.is((await post('c', 50, '192.0.2.2')).statusCode, 429);
	t.is((await post('c', 20, '192.0.2.2')).statusCode, 200);
	t.is((await post('d', 0, '192.0.2.2')).statusCode, 429, 'three files were created or uploaded');
	const ada = await new Client(app).register('ada');
	t.is((await ada.upload('/api/upload/public', [file('f', kb(200))])).statusCode, 200);
});

test('what all visitors upload in an hour leaves a quarter more to those who have uploaded little', async (t) => {
	const app = await testApp(t, {
		'--uploads-anonymous-total-bytes-per-hour': '1 MB',
		'--uploads-anonymous-total-files-per-hour': '4',
		'--trusted-proxies': '127.0.0.1',
	});
	const post = async (size: number, address: string) => {
		const headers = { 'x-forwarded-for': address };
		return (await new Client(app).upload('/api/upload/public', [file('a', kb(size))], headers)).statusCode;
	};
	t.is(await post(500, '2001:db8:1:1::1'), 200);
	t.is(await post(500, '2001:db8:1:2::1'), 200);
	t.is(await post(100, '2001:db8:1:3::1'), 429, 'of the same site');
	t.is(await post(100, '192.0.2.1'), 200);
	t.is(await post(100, '192.0.2.1'), 429, 'no more than that');
	t.is(await post(100, '192.0.2.2'), 200);
	t.is(await post(100, '192.0.2.3'), 429, 'a quarter more is used up');
});

test('networks of one IPv6 site upload four times as much as one, and no more', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-files-per-hour': '2', '--trusted-proxies': '127.0.0.1' });
	const statuses: number[] = [];
	for (let n = 0; n < 10; n++) {
		const headers = { 'x-forwarded-for': `2001:db8:1:${n}::1` };
		statuses.push((await new Client(app).upload('/api/upload/public', [file('a', 'x')], headers)).statusCode);
	}
	t.deepEqual(statuses, [...Array(8).fill(200), 429, 429]);
});

test('an upload of which nothing arrived is no file of its hour once it is dropped', async (t) => {
	let now = Date.now();
	const app = await testApp(t, { '--uploads-anonymous-files-per-hour': '2' }, { now: () => now });
	const visitor = new Client(app);
	for (let n = 0; n < 5; n++) {
		const location = await begin(visitor, 10, { filename: 'a' });
		t.is((await remove(visitor, location)).statusCode, 204);
	}
	const begun = await begin(visitor, 10, { filename: 'a' });
	t.is((await patch(visitor, begun, 0, Buffer.from('12345'))).statusCode, 204);
	t.is((await remove(visitor, begun)).statusCode, 204);
	const later = await begin(visitor, 10, { filename: 'a' });
	t.is((await create(visitor, 10, { filename: 'b' })).statusCode, 429);
	// It counts for an hour that is over.
	now += 61 * 60_000;
	await begin(visitor, 10, { filename: 'b' });
	await begin(visitor, 10, { filename: 'c' });
	t.is((await remove(visitor, later)).statusCode, 204);
	t.is((await create(visitor, 10, { filename: 'd' })).statusCode, 429);
});

test('an upload that several calls drop at once is given back once, and one whose bytes were refused is not', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-files-per-hour': '2' });
	const visitor = new Client(app);
	const dropped = await begin(visitor, 10, { filename: 'a' });
	await begin(visitor, 10, { filename: 'b' });
	const statuses = await Promise.all(
		Array.from({ length: 8 }, async () => (await remove(visitor, dropped)).statusCode),
	);
	t.true(statuses.includes(204), `${statuses}`);
	await begin(visitor, 10, { filename: 'c' });
	t.is((await create(visitor, 10, { filename: 'd' })).statusCode, 429);

	const { config } = app.services;
	config.uploads.anonymousFilesPerHour = 3;
	const wrong = await create(visitor, 5, { filename: 'e' }, checksum('other'), '12345');
	t.is(wrong.statusCode, 460);
	t.is((await create(visitor, 10, { filename: 'f' })).statusCode, 429);
});

test('a form that is broken off in the next hour takes nothing of what was counted in that one', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-bytes-per-hour': '100 kB' });
	const { config, database, log } = app.services;
	let clock = 1000;
	const limits = new HourlyLimits({ config, database, log, now: () => clock });
	const visitor = visitorOf(config);
	const address = '192.0.2.1';
	const arrives = (bytes: number) =>
		limits.counted(visitor, address, { files: 1, bytes }, (form) => form.createdFile(bytes));
	const brokenOff = limits.counted(visitor, address, { files: 1, bytes: 0 }, async ({ createdFile }) => {
		await createdFile(60_000);
		clock += 61 * 60_000;
		await createdFile(10_000);
		await arrives(50_000);
		throw new Error('broken off');
	});
	await t.throwsAsync(brokenOff, { message: 'broken off' });
	await t.throwsAsync(arrives(60_000), { message: /in an hour/ });
	await arrives(50_000);
});

test('the metadata of a visitor’s resumable upload is limited in size, unless the limit is 0', async (t) => {
	const app = await testApp(t);
	const long = { filename: 'a', note: 'x'.repeat(1600) };
	const refused = await create(new Client(app), 3, long);
	t.deepEqual([refused.statusCode, json(refused).code], [431, 'HEADERS_TOO_LARGE']);
	t.is((await create(new Client(app), 3, { ...long, note: 'x'.repeat(1000) })).statusCode, 201);
	t.is((await create(await new Client(app).register('ada'), 3, long)).statusCode, 201);
	const open = await testApp(t, { '--uploads-anonymous-metadata-size': '0' });
	t.is((await create(new Client(open), 3, long)).statusCode, 201);
});

test('0 disables each limit for visitors', async (t) => {
	const bounds = ['bytes-per-hour', 'files-per-hour', 'total-bytes-per-hour', 'total-files-per-hour'];
	const ofUploads = [...bounds, 'unfinished', 'metadata-size'].map((name) => `--uploads-anonymous-${name}`);
	const names = [
		...ofUploads,
		'--uploads-free-space-reserve',
		'--quotas-anonymous-bytes',
		'--quotas-anonymous-entries',
	];
	const app = await testApp(t, Object.fromEntries(names.map((name) => [name, '0'])));
	const visitor = new Client(app);
	t.is((await visitor.upload('/api/upload/public', [file('a', kb(1)), file('b', kb(1))])).statusCode, 200);
	t.is(
		(await create(visitor, 2 ** 50, { filename: 'c', note: 'x'.repeat(1600) })).statusCode,
		507,
		'only the disk limits the size',
	);
	const location = await begin(visitor, 3, { filename: 'c', note: 'x'.repeat(1600) });
	t.deepEqual(uploadState(await patch(visitor, location, 0, 'abc')), [204, 3, 'c']);
});

test('a copy counts for the limits of its address while it runs, and a refused one leaves nothing', async (t) => {
	const app = await testApp(t, { '--uploads-address-files-per-hour': '8', '--uploads-address-bytes-per-hour': '1 MB' });
	const ada = await new Client(app).register('ada');
	const home = () => readdir(path.join(app.filesDir, 'users/ada'));
	const copy = (fromPath: string, toPath: string) => ada.post('/api/copyItem', { fromPath, toPath, type: 'private' });
	await ada.post('/api/createFolder', { directory: '', folderName: 'docs', type: 'private' });
	const files = ['a', 'b', 'c'].map((name) => file(name, kb(10)));
	await ada.upload('/api/upload', [{ name: 'directory', value: 'docs' }, ...files]);
	t.is((await copy('docs', 'new/docs')).statusCode, 200);
	t.is((await copy('docs', 'other/docs')).statusCode, 429);
	t.is((await copy('docs/a', 'a')).statusCode, 200, 'what was refused does not count');
	t.deepEqual((await home()).sort(), ['Public', 'a', 'docs', 'new']);
	await rm(path.join(app.filesDir, 'users/ada/a'));
	await writeFile(path.join(app.filesDir, 'users/ada/large'), kb(1000));
	t.is((await copy('large', 'larger')).statusCode, 429);
	t.deepEqual((await home()).sort(), ['Public', 'docs', 'large', 'new']);
});

test('the unfinished uploads of visitors at one address are limited', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-unfinished': '2' });
	const visitor = new Client(app);
	const first = await begin(visitor, 3, { filename: 'a' });
	const second = await begin(visitor, 3, { filename: 'b' });
	t.is((await create(visitor, 3, { filename: 'c' })).statusCode, 429);
	t.is((await visitor.upload('/api/upload/public', [file('c', 'x')])).statusCode, 429);
	t.deepEqual(uploadState(await patch(visitor, first, 0, 'abc')), [204, 3, 'a']);
	t.is((await visitor.upload('/api/upload/public', [file('c', 'x')])).statusCode, 200);
	const third = await begin(visitor, 3, { filename: 'd' });
	await remove(visitor, second);
	await remove(visitor, third);
	const ada = await new Client(app).register('ada');
	for (const name of ['1', '2', '3']) await begin(ada, 3, { filename: name });
	t.is((await create(visitor, 3, { filename: 'e' })).statusCode, 201);
});

test('a user may have 2,000 uploads unfinished, and a visitor is not counted among them', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { uploads } = app.services.database;
	const asked: string[] = [];
	let count = 1999;
	uploads.countUserUploads = async (userId) => {
		asked.push(userId);
		return count;
	};
	t.is((await create(ada, 1, { filename: 'a' })).statusCode, 201);
	count = 2000;
	t.is((await create(ada, 1, { filename: 'b' })).statusCode, 429);
	t.is((await create(new Client(app), 1, { filename: 'c' })).statusCode, 201);
	t.is(asked.length, 2);
});

test('where the database has no room but for what others need, nothing is begun that is a row of it, and an upload that was begun goes on', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await new Client(app).register('bob');
	const begun = await create(ada, 1, { filename: 'a' });
	t.is((await ada.post('/api/createFolder', { directory: '', folderName: 'docs', type: 'private' })).statusCode, 200);
	const asked: number[] = [];
	app.services.databaseReserve.assertRoom = async (bytes) => {
		asked.push(bytes);
		throw new Failure('storageFull', 'There is not enough free space on the disk of the database.');
	};
	t.is((await create(ada, 1, { filename: 'long'.repeat(50) })).statusCode, 507);
	t.true((asked[0] ?? 0) > 1024 + 400, `${asked}`);
	t.is((await create(new Client(app), 1, { filename: 'c' })).statusCode, 507);
	const keyed = { 'stowage-upload-key': randomUUID() };
	t.is((await ada.upload('/api/upload', [file('d', 'x')], keyed)).statusCode, 507);
	t.is((await ada.upload('/api/upload', [file('d', 'x')])).statusCode, 200, 'which is no row');
	t.is((await ada.post('/api/shares', { items: [{ path: 'docs' }], mode: 'view' })).statusCode, 507);
	const members = [{ username: 'bob', role: 'view' }];
	t.is((await ada.call('PUT', '/api/members', { path: 'docs', members })).statusCode, 507);
	t.is(asked.length, 5);
	t.is((await patch(ada, String(begun.headers.location), 0, 'x')).statusCode, 204);
});

test('the limit of unfinished uploads holds when a visitor creates many at once', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-unfinished': '3' });
	const visitor = new Client(app);
	const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => create(visitor, 3, { filename: `${n}` })));
	const statuses = answers.map(({ statusCode }) => statusCode).sort();
	t.deepEqual(statuses, [...Array(3).fill(201), ...Array(7).fill(429)]);
	t.is((await stagedAndPublic(app))[0]?.length, 3);
});

test('of the forms of a visitor under way each worker has its share', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-unfinished': '2', '--workers': '2' });
	const held = request({
		...addressOf(app),
		path: '/api/upload/public',
		method: 'POST',
		agent: false,
		headers: { 'content-type': 'multipart/form-data; boundary=b', 'transfer-encoding': 'chunked' },
	});
	held.on('error', () => {});
	held.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n1');
	const post = async () => (await new Client(app).upload('/api/upload/public', [file('b', 'x')])).statusCode;
	await until('the form is under way', async () => (await post()) === 429);
	t.is(await post(), 429);
	held.destroy();
	await until('it has ended', async () => (await post()) === 200);
});

test('the form of a signed-in user does not count as an unfinished upload of visitors at its address', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-unfinished': '1' });
	const ada = await new Client(app).register('ada');
	const { storage } = app.services.roots.first;
	const { stage } = storage;
	let isForVisitor = false;
	storage.stage = async (id) => {
		const staged = await stage.call(storage, id);
		// While ada's file is under way, a visitor uploads one.
		if (!isForVisitor) {
			isForVisitor = true;
			t.is((await new Client(app).upload('/api/upload/public', [file('b', 'x')])).statusCode, 200);
		}
		return staged;
	};
	t.is((await ada.upload('/api/upload', [file('a', 'x')])).statusCode, 200);
	t.true(isForVisitor);
});

/** A server whose disk always reports this much free space. */
async function smallDisk(t: ExecutionContext, free: number, options: AppOptions = {}) {
	const app = await testApp(t, { '--uploads-free-space-reserve': '0' }, options);
	reportSpace(app, { freeSpace: async () => free });
	return app;
}

const mb = 1024 ** 2;

/** Sends the first bytes of a chunk and no more; resolves once the server has stored them. */
async function beginChunk(app: TestApp, client: Client, location: string, length: number): Promise<ClientRequest> {
	const sent = request({
		...addressOf(app),
		path: location,
		method: 'PATCH',
		agent: false,
		headers: {
			cookie: client.cookie ?? '',
			'tus-resumable': '1.0.0',
			'upload-offset': '0',
			'content-type': 'application/offset+octet-stream',
			'content-length': String(length),
		},
	});
	sent.on('error', () => {});
	const staging = path.join(app.filesDir, '.stowage/staging');
	const sizes = async () => {
		const names = await readdir(staging);
		return Promise.all(names.map(async (name) => (await stat(path.join(staging, name))).size));
	};
	const before = (await sizes()).filter((size) => size > 0).length;
	sent.write(kb(16));
	await until('the first bytes are stored', async () => (await sizes()).filter((size) => size > 0).length > before);
	return sent;
}

test('an upload without bytes claims no space, and one that can never fit is refused', async (t) => {
	const app = await smallDisk(t, 10 * mb);
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	t.is((await create(ada, 9 * mb, { filename: 'a' })).statusCode, 201);
	t.is((await create(bob, 9 * mb, { filename: 'b' })).statusCode, 201);
	t.is((await bob.upload('/api/upload', [file('c', kb(5000))])).statusCode, 200);
	const refused = await create(bob, 11 * mb, { filename: 'b' });
	t.deepEqual([refused.statusCode, json(refused).code], [507, 'STORAGE_FULL']);
	// Refused by its headers: no body is sent.
	const post = await rawRequest(
		app,
		`POST /api/upload HTTP/1.1\r\nHost: x\r\nCookie: ${ada.cookie}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: ${11 * mb}\r\n\r\n`,
	);
	t.is(post.status, 507);
});

test('space that other uploads are filling is not available until they stall', async (t) => {
	const clock = { now: Date.now(), monotonic: 0 };
	const app = await smallDisk(t, 10 * mb, { now: () => clock.now, monotonic: () => clock.monotonic });
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	const sent = await beginChunk(app, bob, await begin(bob, 2 * mb, { filename: 'b' }), 2 * mb);
	t.is((await create(ada, 9 * mb, { filename: 'a' })).statusCode, 507);
	t.is((await create(ada, 8 * mb, { filename: 'a' })).statusCode, 201);
	// Setting the time of day has no effect.
	clock.now += 60_000;
	t.is((await create(ada, 9 * mb, { filename: 'a' })).statusCode, 507);
	clock.monotonic += 11_000;
	t.is((await create(ada, 9 * mb, { filename: 'a' })).statusCode, 201);
	sent.destroy();
});

test('space that uploads at another process are filling is not available until they end, and an idle process says nothing', async (t) => {
	const flags = { '--workers': '2', '--uploads-free-space-reserve': '0' };
	const app = await testApp(t, flags);
	const other = await testApp(t, { ...flags, '--data-dir': app.dataDir });
	for (const each of [app, other]) reportSpace(each, { freeSpace: async () => 10 * mb });
	const ada = await new Client(app).register('ada');
	const bob = new Client(other);
	await bob.register('bob');
	const said = () => readdir(path.join(app.dataDir, 'disk-use')).catch(() => []);
	const location = await begin(ada, 2 * mb, { filename: 'a' });
	t.deepEqual(await said(), []);
	const sent = await beginChunk(app, ada, location, 2 * mb);
	await until('the upload is known', async () => (await said()).some((name) => !name.startsWith('.')));
	t.is((await create(bob, 9 * mb, { filename: 'b' })).statusCode, 507);
	t.is((await create(bob, 8 * mb, { filename: 'b' })).statusCode, 201);
	sent.destroy();
	t.is((await create(bob, 9 * mb, { filename: 'b' })).statusCode, 201);
	await until('nothing is said any more', async () => (await said()).length === 0);
});

test('what a process with hardly a processor said long ago refuses no upload before it had time to say it anew', async (t) => {
	const app = await testApp(t, { '--workers': '2', '--uploads-free-space-reserve': '0' });
	reportSpace(app, { freeSpace: async () => 10 * mb });
	const ada = await new Client(app).register('ada');
	const folder = path.join(app.dataDir, 'disk-use');
	const claims = [{ client: 'bob', isStranger: false, left: 2 * mb }];
	const say = async () => {
		const next = path.join(folder, '.another_process');
		await writeFile(next, JSON.stringify({ [app.services.roots.default.storage.rootId]: { unwritten: 0, claims } }));
		await rename(next, path.join(folder, 'another_process'));
	};
	await mkdir(folder, { recursive: true });
	await say();
	const creating = create(ada, 9 * mb, { filename: 'a' });
	await wait(2500);
	await rm(path.join(folder, 'another_process'));
	t.is((await creating).statusCode, 201);
	await say();
	let isAnswered = false;
	const refused = create(ada, 9 * mb, { filename: 'b' }).finally(() => {
		isAnswered = true;
	});
	// Again and again: on a busy machine the request begins late.
	while (!isAnswered) {
		await wait(300);
		await say();
	}
	t.is((await refused).statusCode, 507, 'it is said anew that something is under way');
});

test('all uploads of one client claim at most a share of the free space, and claims of visitors do not affect users', async (t) => {
	// No claim becomes idle, however busy the machine is.
	const app = await smallDisk(t, 12 * mb, { monotonic: () => 0 });
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	const visitor = new Client(app);
	const sent: ClientRequest[] = [];
	for (const name of ['1', '2', '3']) {
		sent.push(await beginChunk(app, bob, await begin(bob, 8 * mb, { filename: name }), 8 * mb));
	}
	t.is((await create(ada, 9.5 * mb, { filename: 'a' })).statusCode, 507);
	t.is((await create(ada, 8.5 * mb, { filename: 'a' })).statusCode, 201);
	sent.push(await beginChunk(app, visitor, await begin(visitor, 8 * mb, { filename: 'v' }), 8 * mb));
	t.is((await create(ada, 8.5 * mb, { filename: 'b' })).statusCode, 201);
	t.is((await create(visitor, 8.5 * mb, { filename: 'w' })).statusCode, 507);
	t.is((await create(visitor, 5.5 * mb, { filename: 'w' })).statusCode, 201);
	for (const each of sent) each.destroy();
});

test('one who changes something waits for no more than one change of another network, however many accounts it has', async (t) => {
	const { users } = (await testApp(t)).services.database;
	const made: string[] = [];
	const change = (id: string, address: string) => {
		const caller = { client: { address }, viewer: { kind: 'user', id, username: id }, route: { path: '/' } } as const;
		return runInContext({ request: { id: '1', caller } }, async () => {
			await users.add({ username: id, secret: 'none' });
			made.push(id);
		});
	};
	const strangers = Array.from({ length: 20 }, (_, n) => change(`eve${n}`, '2001:db8:1::1'));
	const others = [change('ada', '203.0.113.1'), change('bob', '203.0.113.1')];
	await Promise.all([...strangers, ...others]);
	t.true(made.indexOf('ada') <= 3 && made.indexOf('bob') <= 5, made.join(' '));
});

test('one who begins an upload does not wait for all those that somebody else begins', async (t) => {
	const app = await testApp(t);
	const [ada, bob] = await Promise.all([new Client(app).register('ada'), new Client(app).register('bob')]);
	// All have their files before any of them gets its row, the other one's as the last.
	const { storage } = app.services.roots.first;
	const stage = storage.stage.bind(storage);
	let open = () => {};
	const gate = new Promise<void>((resolve) => {
		open = resolve;
	});
	let staged = 0;
	storage.stage = async (id) => {
		const file = await stage(id);
		staged++;
		await gate;
		return file;
	};
	let begun = 0;
	const many = Array.from({ length: 100 }, async (_, n) => {
		t.is((await create(ada, 1, { filename: `${n}` })).statusCode, 201);
		begun++;
	});
	await until('all files of one are there', async () => staged === many.length);
	const one = create(bob, 1, { filename: 'one' });
	await until('that of the other one is there, too', async () => staged > many.length);
	open();
	t.is((await one).statusCode, 201);
	const before = begun;
	await Promise.all(many);
	t.true(before < many.length / 2, `${before} of ${many.length} were begun before it`);
});
