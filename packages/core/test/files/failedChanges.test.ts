import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { Failure } from '@stowage/rules';
import test from 'ava';
import { addressOf } from '../rawRequest.js';
import { Client, file, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const full = () => Promise.reject(new Failure('storageFull', 'The storage is full.'));

async function homeOf(app: TestApp, ...names: string[]): Promise<string[]> {
	return (await readdir(path.join(app.filesDir, 'users/ada', ...names))).sort();
}

test('a failed move or copy removes the folders that it created, except those with other files', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'mine')]);
	await ada.post('/api/createFolder', { directory: '', folderName: 'there', type: 'private' });
	const { storage } = app.services.roots.first;
	const { move } = storage;
	storage.copy = full;
	storage.move = full;
	for (const call of ['moveItem', 'copyItem']) {
		const body = { fromPath: 'a.txt', toPath: 'there/x/y/z/a.txt', type: 'private' };
		t.is((await ada.post(`/api/${call}`, body)).statusCode, 507);
		t.deepEqual(await homeOf(app), ['Public', 'a.txt', 'there']);
		t.deepEqual(await homeOf(app, 'there'), []);
	}

	// Another program puts a file into a folder that was created for the move: both are kept.
	storage.move = async () => {
		await writeFile(path.join(app.filesDir, 'users/ada/there/x/theirs.txt'), 'theirs');
		return full();
	};
	await ada.post('/api/moveItem', { fromPath: 'a.txt', toPath: 'there/x/y/a.txt', type: 'private' });
	t.deepEqual(await homeOf(app, 'there/x'), ['theirs.txt']);
	storage.move = move;
});

test('a move to a path with an invalid folder name creates no folder', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'mine')]);
	const answer = await ada.post('/api/moveItem', { fromPath: 'a.txt', toPath: 'new/b?d/a.txt', type: 'private' });
	t.is(answer.statusCode, 400);
	t.deepEqual(await homeOf(app), ['Public', 'a.txt']);
});

test('folders in search results and in answers to changes have their item count', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await mkdir(path.join(app.filesDir, 'users/ada/docs/deep'), { recursive: true });
	for (const name of ['1', '2']) await writeFile(path.join(app.filesDir, 'users/ada/docs', name), '');
	const found = json(await ada.get('/api/browse?type=private&search=docs')).entries;
	t.deepEqual(
		found.map(({ name, count }: { name: string; count: number }) => [name, count]),
		[['docs', 3]],
	);
	const change = async (call: string, body: object) =>
		json(await ada.post(`/api/${call}`, { ...body, type: 'private' })).entry;
	t.like(await change('renameItem', { oldPath: 'docs', newName: 'papers' }), { path: 'papers', count: 3 });
	t.like(await change('renameItem', { oldPath: 'papers', newName: 'papers' }), { path: 'papers', count: 3 });
	t.like(await change('copyItem', { fromPath: 'papers', toPath: 'papers' }), { path: 'papers (1)', count: 3 });
	t.like(await change('moveItem', { fromPath: 'papers', toPath: 'papers (1)/papers' }), { count: 3 });
});

test('creating a folder in a missing one is refused with the path of the missing one', async (t) => {
	const ada = await new Client(await testApp(t)).register('ada');
	const answer = await ada.post('/api/createFolder', { directory: 'no/such', folderName: 'new', type: 'private' });
	t.is(answer.statusCode, 404);
	t.is(json(answer).message, 'There is no such folder: no/such');
});

test('a failed upload is answered with its cause, also when its other files can’t be removed again', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { storage } = app.services.roots.first;
	const { stage } = storage;
	let staged = 0;
	storage.stage = async (id) => {
		const one = await stage.call(storage, id);
		if (++staged === 2) one.commit = full;
		return one;
	};
	storage.remove = () => Promise.reject(new Error('a bug'));
	const answer = await ada.upload('/api/upload', [file('a', 'A'), file('b', 'B')]);
	t.is(answer.statusCode, 507, answer.payload);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('of a failed upload what another program has written into its files, or put in their place, stays', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { storage } = app.services.roots.first;
	const { stage, move } = storage;
	const at = (name: string) => path.join(app.filesDir, 'users/ada', name);
	let staged = 0;
	storage.stage = async (id) => {
		const one = await stage.call(storage, id);
		if (++staged === 4) one.commit = full;
		return one;
	};
	// The last moment at which it may change.
	storage.move = async (...given) => {
		if (given[0].endsWith('/written')) await writeFile(at('written'), 'by another program');
		if (given[0].endsWith('/replaced')) {
			await rm(at('replaced'));
			await writeFile(at('replaced'), 'theirs');
		}
		return move.apply(storage, given);
	};
	const answer = await ada.upload(
		'/api/upload',
		['written', 'replaced', 'plain', 'last'].map((name) => file(name, name)),
	);
	t.is(answer.statusCode, 507, answer.payload);
	t.deepEqual(await homeOf(app), ['Public', 'replaced', 'written']);
	t.is(await readFile(at('written'), 'utf8'), 'by another program');
	t.is(await readFile(at('replaced'), 'utf8'), 'theirs');
	t.deepEqual(json(await ada.get('/api/trash')).entries, []);
});

test('a failed upload leaves nothing where nothing can be recorded either', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { storage } = app.services.roots.first;
	const { stage } = storage;
	let staged = 0;
	storage.stage = async (id) => {
		const one = await stage.call(storage, id);
		if (++staged === 2) one.commit = full;
		return one;
	};
	app.services.database.trash.addMissing = full;
	const answer = await ada.upload('/api/upload', [file('a', 'A'), file('b', 'B')]);
	t.is(answer.statusCode, 507, answer.payload);
	t.deepEqual(await homeOf(app), ['Public']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/trash/arriving')), []);
});

/** Sends a request and disconnects once `isUnderWay`, before the answer; resolves when the server has noticed. */
async function sendAndDisconnect(
	app: TestApp,
	method: string,
	url: string,
	cookie: string,
	isUnderWay: () => boolean,
	body?: object,
): Promise<void> {
	const text = body === undefined ? '' : JSON.stringify(body);
	const sent = request({
		...addressOf(app),
		path: url,
		method,
		agent: false,
		headers: { cookie, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
	});
	const connected = once(app.server.listener, 'connection') as Promise<[Socket]>;
	sent.on('error', () => {});
	sent.end(text);
	const [socket] = await connected;
	await until('the work is under way', isUnderWay);
	sent.destroy();
	await until('the server has noticed the disconnection', () => socket.destroyed);
}

test('a search ends when its client disconnects', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { storage } = app.services.roots.first;
	let batches = 0;
	let isOver = false;
	storage.list = async function* () {
		try {
			for (; batches < 1000; batches++) {
				await wait(20);
				yield [{ name: 'x', type: 'file', size: 0, mtime: 0 }];
			}
		} finally {
			isOver = true;
		}
	};
	await sendAndDisconnect(app, 'GET', '/api/browse?type=private&search=none', ada.cookie ?? '', () => batches > 0);
	await until('the search is over', () => isOver);
	t.true(batches < 1000);
});

test('a copy ends when its client disconnects, and the folder created for it is removed', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'mine')]);
	let signal: AbortSignal | undefined;
	app.services.roots.first.storage.copy = (_from, _to, { signal: given } = {}) =>
		new Promise((_resolve, reject) => {
			signal = given;
			given?.addEventListener('abort', () => reject(given.reason));
		});
	const body = { fromPath: 'a.txt', toPath: 'new/a.txt', type: 'private' };
	await sendAndDisconnect(app, 'POST', '/api/copyItem', ada.cookie ?? '', () => signal !== undefined, body);
	await until('the copy is aborted', () => signal?.aborted);
	await until('the folder created for it is removed', async () => (await homeOf(app)).join() === 'Public,a.txt');
	t.pass();
	t.is(await readFile(path.join(app.filesDir, 'users/ada/a.txt'), 'utf8'), 'mine');
});

for (const type of ['private', 'public']) {
	test(`the items of a ${type} selection are no longer read when the client of its ticket disconnects`, async (t) => {
		const app = await testApp(t);
		const ada = await new Client(app).register('ada');
		const { storage } = app.services.roots.first;
		let reads = 0;
		let release = () => {};
		const released = new Promise<void>((resolve) => {
			release = resolve;
		});
		storage.stat = async () => {
			reads++;
			await released;
			await turn();
			return { name: 'x', type: 'file', size: 1, mtime: 0, id: 'x', version: 'x' };
		};
		const files = Array.from({ length: 1000 }, (_, n) => ({ path: `${n}` }));
		const body = { files, type, directory: '' };
		await sendAndDisconnect(app, 'POST', '/api/downloadTickets', ada.cookie ?? '', () => reads > 0, body);
		release();
		// Enough turns to read all of them.
		for (let n = 0; n < 10_000; n++) await turn();
		t.true(reads < 100, `${reads} items were read`);
	});
}

test('a download with an owner lists no folder, also with public listing for everyone', async (t) => {
	const app = await testApp(t, { '--public-listing': 'everyone' });
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'mine'), { name: 'isPublic', value: 'true' }]);
	app.services.roots.first.storage.list = () => {
		throw new Error('a folder was listed');
	};
	const answer = await new Client(app).get('/api/download/a.txt?owner=ada');
	t.is(answer.statusCode, 200, answer.payload);
});
