import { randomBytes } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import {
	type ArchiveFormat,
	Failure,
	type Files,
	hasListWithStats,
	isFailure,
	type StorageProvider,
	type Turn,
	Yielder,
} from '@stowage/plugin-api';
import { parsePath, type Viewer } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { type ArchiveLimits, createArchives } from '../../src/archives/createArchives.js';
import { Manifest } from '../../src/archives/Manifest.js';
import { statSelected } from '../../src/archives/makeManifest.js';
import { FairQueue } from '../../src/limits/FairQueue.js';
import { turnsDuring } from '../slowClock.js';
import { Client, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const megabyte = 1024 * 1024;

/** A server with a user who has a folder of some files, written long ago. */
async function withDocs(t: ExecutionContext, files = 20) {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const docs = path.join(app.filesDir, 'users/ada/docs');
	mkdirSync(docs);
	for (let n = 0; n < files; n++) {
		const name = path.join(docs, `${n}`);
		writeFileSync(name, `content ${n}`);
		utimesSync(name, 1_600_000_000, 1_600_000_000);
	}
	const user = await app.services.database.users.find('ada');
	const viewer: Viewer = { kind: 'user', id: user?.id ?? '', username: 'ada' };
	return { app, ada, docs, viewer };
}

function archivesOf(app: TestApp, limits: Partial<ArchiveLimits>) {
	return createArchives({
		files: app.services.files,
		format: () => app.server.providers.archive.find('zip') as ArchiveFormat,
		walks: new FairQueue({ running: 2, runningPerClient: 2, waiting: 10, waitingPerClient: 10 }, 'Busy.'),
		limits: {
			maxEntries: 1000,
			concurrent: { total: 100, perClient: 100 },
			memory: { total: 100 * megabyte, perClient: 100 * megabyte },
			...limits,
		},
	});
}

const docsSelection = { area: 'private' as const, items: [{ path: parsePath('docs') }] };

test('open archives are limited by client and in total, and a closed one makes room for another', async (t) => {
	const { app, viewer } = await withDocs(t);
	const archives = archivesOf(app, { concurrent: { total: 5, perClient: 2 } });
	const open = (client: string) => archives.open(viewer, docsSelection, { client });
	const [first] = [await open('a'), await open('a')];
	const refused = await t.throwsAsync(open('a'), { instanceOf: Failure });
	t.true(isFailure(refused, 'rateLimited'));
	const other = await open('b');
	await open('c');
	t.true(isFailure(await t.throwsAsync(open('d')), 'unavailable'));
	await first?.file.close();
	await other.file.close();
	await t.notThrowsAsync(open('a'));
});

test('many accounts of one network leave archives to those of another network', async (t) => {
	const { app, viewer } = await withDocs(t);
	const archives = archivesOf(app, { concurrent: { total: 8, perClient: 4, reservedPerSite: 1 } });
	const open = (client: string, network: string) => archives.open(viewer, docsSelection, { client, network });
	const [home, strangers] = ['203.0.113.1', '198.51.100.1'];
	await (await open('user ada', home)).file.close();
	for (let n = 0; n < 4; n++) await open(`user eve${n}`, strangers);
	t.true(isFailure(await t.throwsAsync(open('user eve4', strangers)), 'unavailable'));
	for (let n = 0; n < 2; n++) await t.notThrowsAsync(open('user ada', home));
});

test('the memory of the manifests of open archives is limited by client and in total', async (t) => {
	const { app, viewer } = await withDocs(t);
	// One manifest of a few entries takes some 30 kB.
	const memory = { perClient: 100_000, total: 210_000 };
	const archives = archivesOf(app, { memory });
	const open = (client: string) => archives.open(viewer, docsSelection, { client });
	const opened = [await open('a'), await open('a'), await open('a')];
	t.true(isFailure(await t.throwsAsync(open('a')), 'rateLimited'));
	const others = async () => {
		for (let client = 0; client < 10; client++) opened.push(await open(`other ${client}`));
	};
	t.true(isFailure(await t.throwsAsync(others), 'unavailable'));
	t.true(opened.length > 3);
	for (const { file } of opened) await file.close();
	await t.notThrowsAsync(open('c'));
	const tooSmall = archivesOf(app, { memory: { perClient: 10_000, total: 100_000 } });
	const refused = await t.throwsAsync(tooSmall.open(viewer, docsSelection, { client: 'a' }));
	t.true(isFailure(refused, 'tooLarge'), 'one manifest exceeds the limit');
});

test('an archive that can’t be opened makes room for another', async (t) => {
	const { app, viewer } = await withDocs(t);
	const archives = archivesOf(app, { concurrent: { total: 2, perClient: 1 }, maxEntries: 5 });
	const missing = { area: 'private' as const, items: [{ path: parsePath('missing') }] };
	for (let n = 0; n < 5; n++) {
		t.true(isFailure(await t.throwsAsync(archives.open(viewer, missing, { client: 'a' })), 'notFound'));
		t.true(isFailure(await t.throwsAsync(archives.open(viewer, docsSelection, { client: 'a' })), 'tooLarge'));
	}
});

/** Blocks every listing of a folder until `release`, and counts those that wait. */
function blockListings(storage: StorageProvider) {
	let waiting = 0;
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	const { list } = storage;
	storage.list = async function* (folder) {
		waiting++;
		await released;
		yield* list.call(storage, folder);
	};
	if (hasListWithStats(storage)) {
		const { listWithStats } = storage;
		storage.listWithStats = async function* (folder) {
			waiting++;
			await released;
			yield* listWithStats.call(storage, folder);
		};
	}
	return { release, waiting: () => waiting };
}

test('two searches of a client run at once, further ones wait or are refused, and one of another client starts meanwhile', async (t) => {
	const { app, ada } = await withDocs(t);
	const bob = await new Client(app).register('bob');
	await bob.get('/api/browse?type=private');
	const blocked = blockListings(app.services.roots.first.storage);
	const search = (client: Client) => client.get('/api/browse?type=private&search=1');
	const flood = Array.from({ length: 100 }, () => search(ada));
	await until('two searches run', () => blocked.waiting() === 2);
	const other = search(bob);
	await until('the search of the other client runs', () => blocked.waiting() === 3);
	for (let round = 0; round < 50; round++) await setImmediate();
	t.is(blocked.waiting(), 3);
	blocked.release();
	t.is((await other).statusCode, 200);
	const statuses = (await Promise.all(flood)).map(({ statusCode }) => statusCode);
	t.deepEqual(new Set(statuses), new Set([200, 429]));
	t.is(statuses.filter((status) => status === 200).length, 2 + 64);
});

/** Blocks every opening of a file until `release`, and counts those that wait. */
function blockOpening(storage: StorageProvider) {
	let waiting = 0;
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	const { open } = storage;
	storage.open = async (at) => {
		waiting++;
		await released;
		return open.call(storage, at);
	};
	return { release, waiting: () => waiting };
}

const heavyReads = {
	listed: { block: blockListings, range: 'bytes=0-9' },
	'read for their checksums': { block: blockOpening, range: 'bytes=-88' },
};

for (const [reading, { block, range }] of Object.entries(heavyReads)) {
	test(`two archives of a client are ${reading} at once, and one of another client starts meanwhile`, async (t) => {
		const { app, ada, docs } = await withDocs(t, 0);
		const bob = await new Client(app).register('bob');
		// One file in each folder, so that each archive waits for one call at a time.
		const folders = ['a', 'b', 'c', 'd', 'e', 'f'];
		const bobs = path.join(app.filesDir, 'users/bob/docs');
		for (const folder of [...folders.map((name) => path.join(docs, name)), bobs]) {
			mkdirSync(folder);
			writeFileSync(path.join(folder, 'file'), `content of ${folder}`);
		}
		const blocked = block(app.services.roots.first.storage);
		const get = (client: Client, folder: string) => client.get(`/api/download/${folder}?type=private`, { range });
		const many = folders.map((name) => get(ada, `docs/${name}`));
		await until('two archives wait', () => blocked.waiting() >= 2);
		const other = get(bob, 'docs');
		await until('the archive of the other client waits', () => blocked.waiting() >= 3);
		for (let round = 0; round < 50; round++) await setImmediate();
		t.is(blocked.waiting(), 3);
		blocked.release();
		for (const { statusCode } of [await other, ...(await Promise.all(many))]) t.is(statusCode, 206);
	});
}

test('an archive that is closed while it is read for its checksums frees its place, and reads no further file', async (t) => {
	const { app, viewer } = await withDocs(t);
	const archives = archivesOf(app, {});
	const { file } = await archives.open(viewer, docsSelection, { client: 'a' });
	const blocked = blockOpening(app.services.roots.first.storage);
	const { size } = file.item;
	const source = file.read({ start: size - 1, end: size - 1 })[Symbol.asyncIterator]();
	const reading = source.next();
	await until('each of the readers opens a file', () => blocked.waiting() === 8);
	await file.close();
	blocked.release();
	t.is((await t.throwsAsync(async () => reading))?.message, 'The archive is closed.');
	t.is(blocked.waiting(), 8);
	t.is(archives.queue.running, 0);
});

test('visitors who have checksums read take no more than half of the places, however many they are', async (t) => {
	const { app } = await withDocs(t, 0);
	const { queue } = archivesOf(app, {});
	const stop = new AbortController();
	const reading = (_: Turn) => new Promise((_resolve, reject) => stop.signal.addEventListener('abort', reject));
	const begun = Array.from({ length: 300 }, (_, n) => queue.run(`address 198.51.100.${n}`, reading, stop.signal));
	const outcomes = Promise.allSettled(begun);
	await setImmediate();
	t.deepEqual([queue.running, queue.waiting], [4, 200]);
	t.is(await queue.run('user ada', async () => 'read'), 'read');
	stop.abort();
	await outcomes;
	t.is(queue.running, 0);
});

test('a few visitors whose archives are read for checksums for hours make way for another one', async (t) => {
	const { app } = await withDocs(t, 0);
	const { queue } = archivesOf(app, {});
	const stop = new AbortController();
	const reading = async (turn: Turn) => {
		for (;;) {
			stop.signal.throwIfAborted();
			await wait(10);
			if (turn.isOver) await turn.next();
		}
	};
	const begun = Array.from({ length: 4 }, (_, n) => queue.run(`2001:db8:1:${n}::/64`, reading, stop.signal));
	const outcomes = Promise.allSettled(begun);
	t.is(await queue.run('203.0.113.1', async () => 'read'), 'read');
	t.is(queue.running, 4);
	stop.abort();
	await outcomes;
	t.deepEqual([queue.running, queue.waiting], [0, 0]);
});

test('further requests for the last bytes of a ZIP do not read its small files again', async (t) => {
	const { app, ada } = await withDocs(t, 300);
	let opened = 0;
	const { storage } = app.services.roots.first;
	const open = storage.open.bind(storage);
	storage.open = (at) => {
		opened++;
		return open(at);
	};
	const tail = () => ada.get('/api/download/docs?type=private', { range: 'bytes=-88' });
	const first = await tail();
	t.is(first.statusCode, 206);
	t.is(opened, 300);
	for (let n = 0; n < 3; n++) t.true((await tail()).bytes.equals(first.bytes));
	t.is(opened, 300);
});

// It mocks the clock of the whole process.
test.serial('building a long manifest yields to the event loop at every step', async (t) => {
	const { app, viewer } = await withDocs(t, 500);
	const archives = archivesOf(app, {});
	const items = Array.from({ length: 500 }, (_, n) => ({ path: parsePath(`docs/${n}`) }));
	const turns = await turnsDuring(() => archives.open(viewer, { area: 'private', items }, { client: 'a' }));
	// Each item is read, added, named, hashed and laid out.
	t.true(turns >= 4 * 500, `${turns}`);
});

test.serial(
	'chosen folders of a thousand levels take memory for their levels, and not for the path of each level',
	async (t) => {
		const stats = { type: 'directory', size: 0, mtime: 0, version: '' } as const;
		const levels = Array(1000).fill('n'.repeat(60)).join('/');
		const paths = [...Array(8).keys()].map((n) => parsePath(`${n}/${levels}`));
		const files = {
			async *stat(_viewer: unknown, _area: unknown, chosen: Iterable<{ path: string }>) {
				for (const { path } of chosen) yield { ...stats, name: path.slice(-60), id: path, path };
			},
		} as unknown as Files;
		let reserved = 0;
		const dependencies = {
			files,
			viewer: { kind: 'user', id: 'a', username: 'ada' } as const,
			area: 'private' as const,
			reserve(bytes: number) {
				reserved += bytes;
			},
			signal: undefined,
		};
		const chosen = [...paths, parsePath('0'), ...paths].map((path) => ({ path }));
		const before = process.memoryUsage().heapUsed;
		t.is((await statSelected(dependencies, chosen)).length, 8, 'what lies in another one is left out');
		const bytes = process.memoryUsage().heapUsed - before;
		t.true(bytes < 32_000_000, `${bytes}`);
		t.true(reserved > 7 * 1000 * 300 && reserved < 16_000_000, `${reserved}`);
	},
);

test('of several paced tasks one continues in each turn of the event loop, and an aborted one rejects', async (t) => {
	const order: string[] = [];
	const work = async (name: string) => {
		const yielder = new Yielder();
		for (let n = 0; n < 3; n++) {
			await yielder.yield();
			order.push(name);
		}
	};
	const all = Promise.all(['a', 'b', 'c'].map(work));
	let most = 0;
	for (let round = 0; round < 12; round++) {
		const before = order.length;
		await setImmediate();
		most = Math.max(most, order.length - before);
	}
	await all;
	t.deepEqual(order, ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']);
	t.is(most, 1);
	const aborted = AbortSignal.abort(new Error('The request was cancelled.'));
	await t.throwsAsync(new Yielder().yield(aborted), { message: 'The request was cancelled.' });
});

test('a manifest returns its entries sorted by path, reserves a few hundred bytes for each, and drops entries by index', async (t) => {
	let reserved = 0;
	const manifest = new Manifest((bytes) => {
		reserved += bytes;
	});
	const count = 10_000;
	const add = (n: number) => {
		const name = `${'x'.repeat(n % 240)} 📁 ${(n * 7919) % count}`;
		const type = n % 10 === 0 ? ('directory' as const) : ('file' as const);
		const owner = n % 2 === 0 ? 'ada' : null;
		const item = { name, path: parsePath(`docs/${name}`), type, size: n * 2 ** 20, mtime: n, id: `${n}`, version: 'v' };
		manifest.add({ ...item, owner }, 0);
		return { path: item.path, type, size: item.size, mtime: n, owner };
	};
	const added = Array.from({ length: count }, (_, n) => add(n));
	await manifest.sortFrom(1, new Yielder());
	const [first, ...others] = added;
	const byName = [first, ...others.sort((a, b) => (a.path < b.path ? -1 : 1))];
	const listed = Array.from({ length: manifest.count }, (_, index) => {
		const { path: at, type, size, mtime, owner } = manifest.entry(index);
		if (manifest.isFolder(index) !== (type === 'directory')) t.fail(`${at} is a ${type}`);
		return { path: at, type, size, mtime, owner };
	});
	// As text: to compare ten thousand objects takes ten seconds.
	const asText = (entries: readonly unknown[]) => entries.map((entry) => JSON.stringify(entry)).join('\n');
	t.is(asText(listed), asText(byName));
	t.true(reserved > count * 100 && reserved < count * 400, `${reserved}`);
	manifest.drop([0, 2]);
	t.is(manifest.count, count - 2);
	t.is(String(manifest.entry(0).path), String(byName[1]?.path));
});

test('no ticket or cached checksum is stored while the disk of the database is nearly full, and sign-ins and existing tickets work', async (t) => {
	const { app, ada } = await withDocs(t, 1);
	const { database } = app.services;
	const ask = (client: Client) =>
		client.post('/api/downloadTickets', { files: [{ path: 'docs' }], type: 'private', directory: '' });
	const made = json(await ask(ada));
	const bytes = await database.tickets.countBytes();
	t.true(bytes > 1024 && bytes < 2048, `${bytes}`);

	const { freeSpace } = database;
	database.freeSpace = async () => 60 * megabyte;
	const refused = await ask(ada);
	t.is(refused.statusCode, 507);
	t.is(json(refused).message, 'There is not enough free space on the disk of the database.');
	t.is((await new Client(app).post('/api/login', { username: 'ada', password: 'correct horse' })).statusCode, 200);
	t.is((await ada.get(made.url)).statusCode, 200);
	const sums = app.server.keyValues('zip-crc');
	t.true(isFailure(await t.throwsAsync(sums.set('a', 1, 1000)), 'storageFull'));
	t.true(isFailure(await t.throwsAsync(sums.setMany(new Map([['a', 1]]), 1000)), 'storageFull'));
	database.freeSpace = freeSpace;
	t.is((await ask(ada)).statusCode, 201);
	await t.notThrowsAsync(sums.set('a', 1, 1000));
});

test('a large ticket is refused while no space is free for files, and a small one is created', async (t) => {
	const { app, ada, docs } = await withDocs(t, 0);
	// Random names can't be compressed, so the ticket is large.
	const names = Array.from({ length: 1500 }, () => randomBytes(48).toString('hex'));
	for (const name of names) writeFileSync(path.join(docs, name), '');
	const { storage } = app.services.roots.first;
	const { freeSpace } = storage;
	storage.freeSpace = async () => 0;
	const ask = (files: readonly string[]) =>
		ada.post('/api/downloadTickets', {
			files: files.map((name) => ({ path: `docs/${name}` })),
			type: 'private',
			directory: 'docs',
		});
	const refused = await ask(names);
	t.deepEqual([refused.statusCode, json(refused).code], [507, 'STORAGE_FULL']);
	t.is(await app.services.database.tickets.countBytes(), 0);
	t.is((await ask(names.slice(0, 2))).statusCode, 201, 'downloads are possible on a full disk');
	storage.freeSpace = freeSpace;
	t.is((await ask(names)).statusCode, 201);
});
