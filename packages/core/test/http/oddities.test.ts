import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import test from 'ava';
import { rawRequest } from '../rawRequest.js';
import { Client, file, json, testApp } from '../testApp.js';

test('a root whose marker is removed or replaced while the server runs is answered 503 and not written, until it is restored', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const marker = path.join(app.filesDir, '.stowage/root.json');
	await rename(marker, path.join(app.dataDir, 'kept.json'));
	const tryAll = async () => {
		t.is((await ada.upload('/api/upload', [file('a.txt', 'x')])).statusCode, 503);
		t.is((await ada.post('/api/createFolder', { directory: '', folderName: 'f', type: 'private' })).statusCode, 503);
		t.is((await ada.get('/api/browse?type=private')).statusCode, 503);
		t.is((await ada.get('/api/ready')).statusCode, 503);
	};
	await tryAll();
	await writeFile(marker, JSON.stringify({ id: '0'.repeat(32) }));
	await tryAll();
	await rename(path.join(app.dataDir, 'kept.json'), marker);
	t.deepEqual(
		json(await ada.get('/api/browse?type=private')).entries.map(({ name }: { name: string }) => name),
		['Public'],
	);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada')), ['Public']);
});

test('existing names that are not valid for new entries are kept by moves and renames', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	await mkdir(path.join(home, 'odd: folder'));
	await mkdir(path.join(home, 'docs'));
	for (const name of ['a:b.txt', ' spaced ', 'odd: folder/what?.txt']) await writeFile(path.join(home, name), name);
	const move = (fromPath: string, toPath: string) => ada.post('/api/moveItem', { fromPath, toPath, type: 'private' });
	t.is(json(await move('a:b.txt', 'docs/a:b.txt')).entry.path, 'docs/a:b.txt');
	t.is(json(await move(' spaced ', 'docs/ spaced ')).entry.path, 'docs/ spaced ');
	t.is(
		json(await move('odd: folder/what?.txt', 'Public/odd: folder/what?.txt')).entry.path,
		'Public/odd: folder/what?.txt',
	);
	t.is(
		(await ada.post('/api/renameItem', { oldPath: 'docs/a:b.txt', newName: 'a:b.txt', type: 'private' })).statusCode,
		200,
	);
	t.is((await move('docs/a:b.txt', 'new:folder/a:b.txt')).statusCode, 400, 'the name of a new folder must be valid');
	t.is((await move('docs/a:b.txt', 'c:d.txt')).statusCode, 400, 'a new name must be valid');
});

test('25 concurrent sign-ins with the right password all succeed', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const answers = await Promise.all(
		Array.from({ length: 25 }, () =>
			new Client(app).post('/api/login', { username: 'ada', password: 'correct horse' }),
		),
	);
	t.deepEqual(
		answers.map(({ statusCode }) => statusCode),
		Array(25).fill(200),
	);
});

test('a form that ends early is refused and leaves no staged file', async (t) => {
	const app = await testApp(t);
	const body = '--B\r\nContent-Disposition: form-data; name="file"; filename="cut.txt"\r\n\r\nda';
	const answer = await new Client(app).call('POST', '/api/upload/public', body, {
		'content-type': 'multipart/form-data; boundary=B',
	});
	t.is(answer.statusCode, 400);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('a visitor who creates a folder is answered 401, with any body', async (t) => {
	const app = await testApp(t);
	for (const body of [undefined, {}, { directory: '../', folderName: 'x', type: 'public' }]) {
		const answer = await new Client(app).call('POST', '/api/createFolder', body);
		t.is(answer.statusCode, 401);
		t.is(json(answer).message, 'You must be logged in to create folders in public.');
	}
});

test('the body of a download request is not read', async (t) => {
	const app = await testApp(t);
	await writeFile(path.join(app.filesDir, 'Public/a.txt'), 'A');
	const sockets: Socket[] = [];
	app.server.listener.on('connection', (socket: Socket) => sockets.push(socket));
	const head = `GET /api/download/a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 ** 31}\r\n\r\n`;
	const answer = await rawRequest(app, head, { chunk: Buffer.alloc(256 * 1024), most: 2 ** 31 });
	t.is(answer.status, 200);
	t.true((sockets[0]?.bytesRead ?? Number.NaN) < 1024 * 1024);
});

test('a public folder of the administrator can be copied into a user’s public folder of the same name', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await mkdir(path.join(app.filesDir, 'Public/docs'));
	await writeFile(path.join(app.filesDir, 'Public/docs/a.txt'), 'A');
	const answer = await ada.post('/api/copyItem', { fromPath: 'docs', toPath: 'docs/sub', type: 'public' });
	t.is(answer.statusCode, 200, answer.payload);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada/Public/docs/sub')), ['a.txt']);
});

test('a move in another user’s tree is refused with 403 before its paths are checked', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const answer = await ada.post('/api/moveItem', { fromPath: 'x', toPath: 'd/a:b', type: 'public', owner: 'bob' });
	t.is(answer.statusCode, 403);
});
