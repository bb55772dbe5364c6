import { EventEmitter, once } from 'node:events';
import { mkdir, readdir, readlink, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import path from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import type { StorageEntry } from '@stowage/plugin-api';
import { sortEntries, sortModes } from '@stowage/rules';
import test from 'ava';
import { clientKey } from '../../src/http/requests/proxy.js';
import { Client, field, file, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const rows = 6000;

const row = (at: number): StorageEntry => ({ name: `file ${at}`, type: 'file', size: 1, mtime: 1 });

async function largeFolder(app: TestApp, username: string): Promise<string[]> {
	const folder = path.join(app.filesDir, 'users', username, 'many');
	await mkdir(path.join(folder, 'a folder'), { recursive: true });
	await writeFile(path.join(folder, 'a folder/child'), '');
	const names = Array.from({ length: rows }, (_, at) => `holiday "${at}" 日本.jpg`);
	for (const name of names) await writeFile(path.join(folder, name), 'x');
	return [...names, 'a folder'].sort();
}

test('a large listing is streamed completely, and compressed for remote clients only', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const names = await largeFolder(app, 'ada');
	const url = '/api/browse?type=private&directory=many';
	let listeners = 0;
	app.server.listener.on('request', (_request, response: ServerResponse) => {
		response.on('newListener', (event: string) => {
			if (event === 'close') listeners = Math.max(listeners, response.listenerCount('close') + 1);
		});
	});
	const answer = await ada.get(url, { 'accept-encoding': 'gzip' });
	t.is(answer.headers['content-type'], 'application/json; charset=utf-8');
	t.is(answer.headers['cache-control'], 'private, no-store');
	t.is(answer.headers['x-content-type-options'], 'nosniff');
	t.is(answer.headers['transfer-encoding'], 'chunked');
	t.is(answer.headers['content-encoding'], undefined);
	const listing = json(answer);
	t.deepEqual(Object.keys(listing), ['type', 'directory', 'entries']);
	t.deepEqual(listing.entries.map(({ name }: { name: string }) => name).sort(), names);
	t.is(listing.entries.find(({ name }: { name: string }) => name === 'a folder').count, 1);

	const compressed = await ada.get(url, { 'accept-encoding': 'gzip', 'x-forwarded-for': '192.0.2.1' });
	t.is(compressed.headers['content-encoding'], 'gzip');
	t.true(compressed.bytes.length < answer.bytes.length / 5);
	t.deepEqual(JSON.parse(gunzipSync(compressed.bytes).toString()).entries.length, names.length);

	t.true(listeners > 0 && listeners <= EventEmitter.defaultMaxListeners, `${listeners} close listeners on a response`);

	const head = await ada.call('HEAD', url);
	t.is(head.statusCode, 200);
	t.is(head.bytes.length, 0);
	const small = await ada.get('/api/browse?type=private&directory=many/a%20folder');
	t.is(Number(small.headers['content-length']), small.bytes.length);
});

/** Requests the large listing; resolves to the response, unread. */
function beginListing(app: TestApp, cookie: string): Promise<IncomingMessage> {
	return unreadAnswer(app, '/api/browse?type=private&directory=many', { cookie });
}

async function unreadAnswer(app: TestApp, url: string, headers: OutgoingHttpHeaders): Promise<IncomingMessage> {
	const { hostname, port } = new URL(app.server.info.uri);
	const sent = request({ hostname, port, path: url, agent: false, headers }).end();
	const [answer] = (await once(sent, 'response')) as [IncomingMessage];
	return answer;
}

test.serial('a folder is listed in the order that is asked for, and a larger one as it is read', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const others = await Promise.all(Array.from({ length: 8 }, (_, at) => new Client(app).register(`user${at}`)));
	const { storage } = app.services.roots.first;
	const entries = Array.from({ length: 2_000 }, (_, at): StorageEntry => {
		const n = (at * 7919) % 2_000;
		return {
			name: `${n % 3 === 0 ? 'É' : 'e'}${n}`,
			type: n % 5 === 0 ? 'directory' : 'file',
			size: n % 7,
			mtime: n % 11,
		};
	});
	storage.count = async () => 3;
	storage.list = async function* () {
		for (let at = 0; at < entries.length; at += 300) yield entries.slice(at, at + 300);
	};
	const url = '/api/browse?type=private&directory=many';
	const unsorted = json(await ada.get(url));
	t.false('sorted' in unsorted);
	for (const mode of sortModes) {
		const listing = json(await ada.get(`${url}&sort=${mode}`));
		t.is(listing.sorted, mode);
		t.deepEqual(listing.entries, sortEntries(unsorted.entries, mode), mode);
	}
	t.is((await ada.get(`${url}&sort=colour`)).statusCode, 400);

	let read = 0;
	storage.list = async function* () {
		for (read = 0; read < 20_500; read += 500) yield Array.from({ length: 500 }, (_, at) => row(read + at));
	};
	const large = json(await ada.get(`${url}&sort=name`));
	t.false('sorted' in large);
	t.is(new Set(large.entries.map(({ name }: { name: string }) => name)).size, 20_500);

	// Each row has the path of its folder, so in a deep one few of them are as long as many.
	const deep = Array.from({ length: 40 }, () => 'x'.repeat(200)).join('/');
	storage.list = async function* () {
		for (read = 0; read < 2_500; read += 500) yield Array.from({ length: 500 }, (_, at) => row(read + at));
	};
	const long = json(await ada.get(`/api/browse?type=private&directory=${deep}&sort=name`));
	t.false('sorted' in long);
	t.is(new Set(long.entries.map(({ name }: { name: string }) => name)).size, 2_500);

	// Nobody has all rows of more folders in memory than a few: the next one's come as they are read.
	let goOn = () => {};
	const held = new Promise<void>((resolve) => (goOn = resolve));
	let under = 0;
	storage.list = async function* () {
		under++;
		yield [row(2), row(1)];
		if (under <= 8) await held;
	};
	const answers = others.map((user) => user.get(`${url}&sort=name`));
	await until('eight folders are read', () => under === 8);
	t.false('sorted' in json(await ada.get(`${url}&sort=name`)));
	goOn();
	for (const answer of await Promise.all(answers)) t.is(json(answer).sorted, 'name');
	t.is(json(await ada.get(`${url}&sort=name`)).sorted, 'name');
});

test.serial(
	'a client with many listings that it does not read, or visitors with them, leave others theirs in order',
	async (t) => {
		const app = await testApp(t);
		const [ada, eve] = await Promise.all([new Client(app).register('ada'), new Client(app).register('eve')]);
		const { storage } = app.services.roots.first;
		storage.list = async function* () {
			for (let at = 0; at < 19_000; at += 1_000)
				yield Array.from(
					{ length: 1_000 },
					(_, n): StorageEntry => ({ ...row(at + n), name: `${'x'.repeat(240)}${at + n}` }),
				);
		};
		const unread: IncomingMessage[] = [];
		const sorted: unknown[] = [];
		const url = '/api/browse?type=private&directory=many&sort=name';
		for (let n = 0; n < 8; n++) {
			const answer = await unreadAnswer(app, url, { cookie: eve.cookie ?? '' });
			unread.push(answer);
			const [first] = (await once(answer, 'data')) as [Buffer];
			answer.pause();
			sorted.push(/"sorted":"name"/.test(first.toString()));
		}
		t.deepEqual(sorted, [true, true, ...Array.from({ length: 6 }, () => false)]);
		for (let n = 0; n < 8; n++) {
			const answer = await unreadAnswer(app, '/api/browse/public?directory=&sort=name', {
				'x-forwarded-for': `192.0.2.${n}`,
			});
			unread.push(answer);
			await once(answer, 'data');
			answer.pause();
		}
		t.is(json(await ada.get(url)).sorted, 'name');
		for (const answer of unread) answer.destroy();
		await until('all have ended', async () => json(await eve.get(url)).sorted === 'name');
	},
);

test.serial(
	'others have their turns while the names of a folder are put in order that the collator weighs slowly',
	async (t) => {
		const app = await testApp(t);
		const ada = await new Client(app).register('ada');
		const letters = (at: number) => at.toString(2).padStart(14, '0').replaceAll('0', 'a').replaceAll('1', 'A');
		const names = Array.from(
			{ length: 6_000 },
			(_, at) => `${letters((at * 7919) % 16_381)}\u0f39${'\u04e2'.repeat(110)}`,
		);
		app.services.roots.first.storage.list = async function* () {
			for (let at = 0; at < names.length; at += 2_000)
				yield names.slice(at, at + 2_000).map((name): StorageEntry => ({ ...row(at), name }));
		};
		const getter = Object.getOwnPropertyDescriptor(Intl.Collator.prototype, 'compare') as PropertyDescriptor;
		let collated = 0;
		let most = 0;
		Object.defineProperty(Intl.Collator.prototype, 'compare', {
			...getter,
			get() {
				const compare = getter.get?.call(this) as (a: string, b: string) => number;
				return (a: string, b: string) => {
					collated += Math.min(a.length, b.length);
					most = Math.max(most, collated);
					return compare(a, b);
				};
			},
		});
		let isOver = false;
		const turn = () => {
			collated = 0;
			if (!isOver) setImmediate(turn);
		};
		turn();
		try {
			const listing = json(await ada.get('/api/browse?type=private&directory=many&sort=name'));
			t.is(listing.sorted, 'name');
			t.deepEqual(
				listing.entries.map(({ name }: { name: string }) => name),
				[...names].sort(),
			);
		} finally {
			isOver = true;
			Object.defineProperty(Intl.Collator.prototype, 'compare', getter);
		}
		t.true(most > 0 && most <= 200_000, `${most} characters were compared in one turn`);
	},
);

test('the first rows of a compressed listing are sent while the others are read', async (t) => {
	const app = await testApp(t);
	const { cookie = '' } = await new Client(app).register('ada');
	let goOn = () => {};
	const held = new Promise<void>((resolve) => (goOn = resolve));
	app.services.roots.first.storage.list = async function* () {
		yield Array.from({ length: 1_000 }, (_, at) => row(at));
		await held;
		yield [row(1_000)];
	};
	const url = '/api/browse?type=private&directory=many';
	const answer = await unreadAnswer(app, url, {
		cookie,
		'accept-encoding': 'gzip',
		'x-forwarded-for': '192.0.2.1',
	});
	const chunks: Buffer[] = [];
	const received = () => gunzipSync(Buffer.concat(chunks), { finishFlush: constants.Z_SYNC_FLUSH }).toString();
	answer.on('data', (chunk: Buffer) => chunks.push(chunk));
	await until('the first rows are there', () => chunks.length > 0 && received().endsWith('"mtime":1}'));
	goOn();
	await once(answer, 'end');
	t.is(JSON.parse(received()).entries.length, 1_001);
});

test('who lists one folder has a turn before those that others ask for at once, and nobody’s place is kept by who does not read', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const eve = await new Client(app).register('eve');
	await largeFolder(app, 'eve');
	const { listingQueue } = app.services;
	const { id = '' } = (await app.services.database.users.find('eve')) ?? {};
	const client = clientKey({ kind: 'user', id, username: 'eve' }, '127.0.0.1');
	const { runningPerClient } = listingQueue.limits;
	const leave = await Promise.all(Array.from({ length: runningPerClient }, () => listingQueue.enter(client)));
	const url = '/api/browse?type=private&directory=';
	const waiting = Array.from({ length: 40 }, () => eve.get(url));
	await until('those of eve wait', () => listingQueue.waiting === 40);
	t.is((await ada.get(url)).statusCode, 200);
	t.is(listingQueue.waiting, 40);
	for (const each of leave) each();
	for (const { statusCode } of await Promise.all(waiting)) t.is(statusCode, 200);

	const unread = await beginListing(app, eve.cookie ?? '');
	await until('what was read fills the connection', () => listingQueue.running === 0 && listingQueue.waiting === 0);
	unread.destroy();
});

test('who makes a ticket or restores a version has a turn before those that others ask for at once', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const eve = await new Client(app).register('eve');
	for (const user of [ada, eve]) {
		for (const content of ['former', 'new'])
			await user.upload('/api/upload', [field('onConflict', 'replace'), file('a.txt', content)]);
	}
	const versions = '/api/versions/a.txt?type=private';
	const [{ id }] = json(await ada.get(versions)).versions;
	const ticket = { files: [{ path: 'a.txt' }], type: 'private', directory: '' };
	const { walkQueue } = app.services;
	const { id: user = '' } = (await app.services.database.users.find('eve')) ?? {};
	const client = clientKey({ kind: 'user', id: user, username: 'eve' }, '127.0.0.1');
	const { runningPerClient } = walkQueue.limits;
	const leave = await Promise.all(Array.from({ length: runningPerClient }, () => walkQueue.enter(client)));
	const waiting = Array.from({ length: 20 }, (_, at) =>
		at % 2 === 0 ? eve.get(versions) : eve.post('/api/downloadTickets', ticket),
	);
	await until('those of eve wait', () => walkQueue.waiting === 20);
	t.is((await ada.post('/api/downloadTickets', ticket)).statusCode, 201);
	const restored = await ada.post('/api/versions/restore', { filePath: 'a.txt', type: 'private', id });
	t.is(restored.statusCode, 200);
	t.is(walkQueue.waiting, 20);
	for (const each of leave) each();
	for (const { statusCode } of await Promise.all(waiting)) t.true(statusCode < 300);
});

test('a client that disconnects during a listing leaves no folder open', async (t) => {
	const app = await testApp(t);
	const { cookie = '' } = await new Client(app).register('ada');
	await largeFolder(app, 'ada');
	for (let n = 0; n < 5; n++) {
		const answer = await beginListing(app, cookie);
		await once(answer, 'data');
		answer.destroy();
	}
	const openFolders = async () => {
		const all = await readdir('/proc/self/fd');
		const targets = await Promise.all(all.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
		return targets.filter((target) => target.startsWith(app.filesDir));
	};
	await until('no folder is open any more', async () => (await openFolders()).length === 0);
	t.is((await new Client(app).get('/api/health')).statusCode, 200);
});

test('a client that disconnects before the first rows of a listing leaves no folder open', async (t) => {
	const app = await testApp(t);
	const { cookie = '' } = await new Client(app).register('ada');
	let open = 0;
	let onList = () => {};
	const isListing = new Promise<void>((resolve) => {
		onList = resolve;
	});
	let unblock = () => {};
	const isUnblocked = new Promise<void>((resolve) => {
		unblock = resolve;
	});
	app.services.roots.first.storage.list = async function* () {
		open++;
		try {
			onList();
			await isUnblocked;
			for (;;) yield Array.from({ length: 2000 }, (_, at) => row(at));
		} finally {
			open--;
		}
	};
	const { hostname, port } = new URL(app.server.info.uri);
	const url = '/api/browse?type=private&directory=many';
	const connected = once(app.server.listener, 'connection') as Promise<[Socket]>;
	const sent = request({ hostname, port, path: url, agent: false, headers: { cookie } }).end();
	sent.on('error', () => {});
	const [socket] = await connected;
	await isListing;
	sent.destroy();
	await until('the server has noticed the disconnect', () => socket.destroyed);
	t.is(open, 1);
	unblock();
	await until('the folder is closed', () => open === 0);
});

test('a listing that fails after its first rows is cut off, and one that fails before them is answered 500', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await mkdir(path.join(app.filesDir, 'users/ada/many'));
	let batches = 0;
	app.services.roots.first.storage.list = async function* () {
		for (let n = 0; n < batches; n++) yield Array.from({ length: 2000 }, (_, at) => row(n * 2000 + at));
		throw new Error('the disk is broken');
	};
	t.is((await ada.get('/api/browse?type=private&directory=many')).statusCode, 500);
	batches = 3;
	const answer = await beginListing(app, ada.cookie ?? '');
	t.is(answer.statusCode, 200);
	await t.throwsAsync(async () => {
		for await (const _ of answer);
	});
});
