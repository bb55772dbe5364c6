import { readdir } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { clientKey } from '../../src/http/requests/proxy.js';
import { Client, file, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

/** Takes all places that a user's changes may have; the result frees them. */
async function takePlaces({ services }: TestApp, username: string): Promise<() => void> {
	const { changeQueue, database } = services;
	const { id = '' } = (await database.users.find(username)) ?? {};
	const client = clientKey({ kind: 'user', id, username }, '127.0.0.1');
	const { runningPerClient } = changeQueue.limits;
	const leave = await Promise.all(Array.from({ length: runningPerClient }, () => changeQueue.enter(client)));
	return () => {
		for (const each of leave) each();
	};
}

const folder = (folderName: string) => ({ directory: '', folderName, type: 'private' });

test('who changes one thing has a turn before the changes that somebody else asks for at once', async (t) => {
	const app = await testApp(t);
	const [ada, eve] = await Promise.all([new Client(app).register('ada'), new Client(app).register('eve')]);
	for (const user of [ada, eve]) await user.upload('/api/upload', [file('a.txt', 'content')]);
	const { changeQueue } = app.services;
	const leave = await takePlaces(app, 'eve');
	const item = { filePath: 'a.txt', type: 'private' };
	const calls: ((user: Client, n: number) => Promise<{ statusCode: number }>)[] = [
		(user, n) => user.post('/api/createFolder', folder(`folder ${n}`)),
		(user, n) => user.post('/api/createFile', { directory: '', fileName: `file ${n}`, type: 'private' }),
		(user, n) => user.post('/api/copyItem', { fromPath: 'a.txt', toPath: `copy ${n}`, type: 'private' }),
		(user) => user.post('/api/moveItem', { fromPath: 'a.txt', toPath: 'Public/a.txt', type: 'private' }),
		(user) => user.post('/api/renameItem', { oldPath: 'Public/a.txt', newName: 'b.txt', type: 'private' }),
		(user) => user.post('/api/moveItem', { fromPath: 'Public/b.txt', toPath: 'a.txt', type: 'private' }),
		(user) => user.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1h' }),
		(user) => user.post('/api/shares', { items: [{ path: 'a.txt' }], mode: 'view' }),
		(user) => user.call('PUT', '/api/members', { path: 'folder 0', members: [] }),
		(user) =>
			user.post('/api/jobs', { kind: 'copy', type: 'private', directory: 'folder 0', items: [{ path: 'a.txt' }] }),
		(user, n) => user.upload('/api/upload', [file(`upload ${n}`, 'content')]),
		(user) => user.call('DELETE', '/api/deleteItem', item),
		(user) => user.call('DELETE', '/api/trash'),
	];
	const waiting = Array.from({ length: 40 }, (_, n) => (calls[n % 2] as (typeof calls)[0])(eve, n));
	for (const change of calls.slice(2)) waiting.push(change(eve, waiting.length));
	await until('those of eve wait', () => changeQueue.waiting === waiting.length);
	for (const [n, change] of calls.entries()) {
		const { statusCode } = await change(ada, n);
		t.true(statusCode < 300, `${change} was answered ${statusCode}`);
	}
	t.is((await new Client(app).upload('/api/upload/public', [file('visitor.txt', 'content')])).statusCode, 200);
	t.is(changeQueue.waiting, waiting.length);
	t.deepEqual((await readdir(path.join(app.filesDir, 'users/eve'))).sort(), ['Public', 'a.txt']);
	leave();
	for (const { statusCode } of (await Promise.all(waiting)).slice(0, 40)) t.is(statusCode, 200);
	await until('all places are free', () => changeQueue.running === 0 && changeQueue.waiting === 0);
});

test('a change that waits for its turn is not made once its session has ended', async (t) => {
	const app = await testApp(t);
	const eve = await new Client(app).register('eve');
	const other = new Client(app);
	await other.post('/api/login', { username: 'eve', password: 'correct horse' });
	const { changeQueue } = app.services;
	const leave = await takePlaces(app, 'eve');
	const made = eve.post('/api/createFolder', folder('made'));
	const late = [
		other.post('/api/createFolder', folder('late')),
		other.upload('/api/upload', [file('late.txt', 'content')]),
	];
	await until('they wait', () => changeQueue.waiting === 3);
	t.is((await eve.call('DELETE', '/api/sessions')).statusCode, 200);
	leave();
	t.is((await made).statusCode, 200);
	for (const answer of await Promise.all(late)) {
		t.is(answer.statusCode, 401);
		t.is(json(answer).code, 'NOT_SIGNED_IN');
	}
	t.deepEqual((await readdir(path.join(app.filesDir, 'users/eve'))).sort(), ['Public', 'made']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('a change whose turn comes at once looks at its session once, and a form whose body was awaited twice', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	let looks = 0;
	const { sessions } = app.services;
	const isValid = sessions.isValid.bind(sessions);
	sessions.isValid = (key) => {
		looks++;
		return isValid(key);
	};
	t.is((await ada.post('/api/createFolder', folder('made'))).statusCode, 200);
	t.is(looks, 0);
	t.is((await ada.upload('/api/upload', [file('a.txt', 'content')])).statusCode, 200);
	t.is(looks, 1);
	const leave = await takePlaces(app, 'ada');
	const waiting = ada.post('/api/createFolder', folder('later'));
	await until('it waits', () => app.services.changeQueue.waiting === 1);
	leave();
	t.is((await waiting).statusCode, 200);
	t.is(looks, 2);
});

test('a change that takes long leaves its place to the next one of its client', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'content')]);
	const { storage } = app.services.roots.first;
	const copy = storage.copy.bind(storage);
	let goOn = () => {};
	const held = new Promise<void>((resolve) => (goOn = resolve));
	storage.copy = async (...values) => {
		await held;
		return copy(...values);
	};
	let done = 0;
	const copies = Array.from({ length: app.services.changeQueue.limits.runningPerClient }, async (_, n) => {
		const answer = await ada.post('/api/copyItem', { fromPath: 'a.txt', toPath: `copy ${n}`, type: 'private' });
		done++;
		return answer;
	});
	t.is((await ada.post('/api/createFolder', folder('meanwhile'))).statusCode, 200);
	t.is(done, 0);
	goOn();
	for (const { statusCode } of await Promise.all(copies)) t.is(statusCode, 200);
});
