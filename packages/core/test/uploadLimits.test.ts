import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { Failure } from '@stowage/rules';
import test from 'ava';
import { limitAddress } from '../src/http/proxy.js';
import { rawRequest } from './rawRequest.js';
import { Client, file, form, json, type TestApp, testApp } from './testApp.js';
import { begin, create, patch, remove, told } from './tusClient.js';

const kb = (count: number) => Buffer.alloc(count * 1024, 7);
const left = async ({ filesDir }: TestApp) => [
	await readdir(path.join(filesDir, '.stowage/staging')),
	await readdir(path.join(filesDir, 'users/anonymous/Public')),
];

test('visitors of one address upload so many bytes an hour, by either door', async (t) => {
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
	t.deepEqual(await left(app), [[], ['a', 'a (1)', 'b']]);
	const ada = await new Client(app).register('ada');
	t.is((await ada.upload('/api/upload', [file('a', kb(200))])).statusCode, 200);
});

test('visitors of one address upload so many files an hour', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-files-per-hour': '3' });
	const visitor = new Client(app);
	const form = (...names: string[]) =>
		visitor.upload(
			'/api/upload/public',
			names.map((name) => file(name, 'x')),
		);
	t.is((await form('a', 'b', 'c', 'd')).statusCode, 429);
	t.is((await form('a', 'b')).statusCode, 200);
	t.is((await form('a/b')).statusCode, 400, 'what comes to nothing does not count');
	t.is((await create(visitor, 1, { filename: 'c' }, {}, 'x')).statusCode, 201);
	t.is((await form('d')).statusCode, 429);
	t.deepEqual(await left(app), [[], ['a', 'b', 'c']]);
});

test('a limit for an address holds for all who come from there', async (t) => {
	const app = await testApp(t, { '--uploads-address-files-per-hour': '2', '--uploads-address-bytes-per-hour': '1 MB' });
	const ada = await new Client(app).register('ada');
	t.is((await ada.upload('/api/upload', [file('a', 'x')])).statusCode, 200);
	t.is((await new Client(app).upload('/api/upload/public', [file('a', 'x')])).statusCode, 200);
	t.is((await ada.upload('/api/upload', [file('b', 'x')])).statusCode, 429);
	t.is((await create(ada, 2 * 1024 ** 2, { filename: 'c' })).statusCode, 429);
});

test('an upload that failed says why, also where nothing can be taken back', async (t) => {
	const app = await testApp(t, { '--uploads-address-files-per-hour': '2' });
	const visitor = new Client(app);
	app.services.database.limits.release = () => Promise.reject(new Failure('unavailable', 'The database is away.'));
	const { storage } = app.services;
	const { stage } = storage;
	storage.stage = async (id) => {
		const staged = await stage.call(storage, id);
		staged.discard = () => Promise.reject(new Failure('unavailable', 'The disk is away.'));
		return staged;
	};
	t.is((await visitor.upload('/api/upload/public', [file('a/b', 'x')])).statusCode, 400);
	t.is((await visitor.upload('/api/upload/public', [file('', 'x')])).statusCode, 400);
});

test('a body of unknown length is counted once it is here', async (t) => {
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
	t.deepEqual(await left(app), [[], ['a']]);
});

test('a visitor’s address has only so many uploads that are not finished', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-unfinished': '2' });
	const visitor = new Client(app);
	const first = await begin(visitor, 3, { filename: 'a' });
	const second = await begin(visitor, 3, { filename: 'b' });
	t.is((await create(visitor, 3, { filename: 'c' })).statusCode, 429);
	t.is((await visitor.upload('/api/upload/public', [file('c', 'x')])).statusCode, 429);
	t.deepEqual(told(await patch(visitor, first, 0, 'abc')), [204, 3, 'a']);
	t.is((await visitor.upload('/api/upload/public', [file('c', 'x')])).statusCode, 200);
	const third = await begin(visitor, 3, { filename: 'd' });
	await remove(visitor, second);
	await remove(visitor, third);
	const ada = await new Client(app).register('ada');
	for (const name of ['1', '2', '3']) await begin(ada, 3, { filename: name });
	t.is((await create(visitor, 3, { filename: 'e' })).statusCode, 201);
});

test('of many uploads that a visitor begins at once, so many are begun as may be unfinished', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-unfinished': '3' });
	const visitor = new Client(app);
	const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => create(visitor, 3, { filename: `${n}` })));
	const statuses = answers.map(({ statusCode }) => statusCode).sort();
	t.deepEqual(statuses, [...Array(3).fill(201), ...Array(7).fill(429)]);
	t.is((await left(app))[0]?.length, 3);
});

test('forms of people who are signed in take nothing from visitors of the same address', async (t) => {
	const app = await testApp(t, { '--uploads-anonymous-unfinished': '1' });
	const ada = await new Client(app).register('ada');
	const { storage } = app.services;
	const { stage } = storage;
	let isForVisitor = false;
	storage.stage = async (id) => {
		const staged = await stage.call(storage, id);
		// While her file is on its way, a visitor sends one.
		if (!isForVisitor) {
			isForVisitor = true;
			t.is((await new Client(app).upload('/api/upload/public', [file('b', 'x')])).statusCode, 200);
		}
		return staged;
	};
	t.is((await ada.upload('/api/upload', [file('a', 'x')])).statusCode, 200);
	t.true(isForVisitor);
});

test('space that others need to end their uploads is not given away', async (t) => {
	const app = await testApp(t);
	const { storage, database } = app.services;
	const free = 10 * 1024 ** 2;
	storage.freeSpace = async () => free;
	const ada = await new Client(app).register('ada');
	const visitor = new Client(app);
	await begin(visitor, 4 * 1024 ** 2, { filename: 'v' });
	const location = await begin(ada, 7 * 1024 ** 2, { filename: 'a' });
	t.is(await database.uploads.countOfVisitors(limitAddress('127.0.0.1'), Date.now()), 1);
	const refused = await create(ada, 4 * 1024 ** 2, { filename: 'b' });
	t.is(refused.statusCode, 507);
	t.is(json(refused).code, 'STORAGE_FULL');
	// Refused by its headers alone: no body is sent.
	const post = await rawRequest(
		app,
		`POST /api/upload HTTP/1.1\r\nHost: x\r\nCookie: ${ada.cookie}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: ${4 * 1024 ** 2}\r\n\r\n`,
	);
	t.is(post.status, 507);
	t.is((await create(ada, 11 * 1024 ** 2, { filename: 'b' })).statusCode, 507);
	await remove(ada, location);
	t.is((await create(ada, 9 * 1024 ** 2, { filename: 'b' })).statusCode, 201, 'a visitor’s claim is no user’s concern');
});
