import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { LinkStore } from '@stowage/plugin-api';
import { Failure, joinPath, PathSet, parsePath, type StoragePath, type Viewer } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { linksWithin } from '../../../conformance/src/repositories/rules.js';
import { clientKey } from '../../src/http/requests/proxy.js';
import { RestoredFiles } from '../../src/links/RestoredFiles.js';
import { trackItems } from '../../src/links/trackItems.js';
import { identityOf } from '../../src/trees/identity.js';
import { trashedLinkPath } from '../../src/trees/trash/trashPaths.js';
import { Client, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const most = 1_000;
const hourMs = 60 * 60_000;

interface Fixture {
	app: TestApp;
	ada: Client;
	viewer: Viewer & { kind: 'user' };
	home(name: string): string;
	clock: { now: number };
	make(): ReturnType<Client['post']>;
	/** Looks up a path in the storage. */
	lookUps: string[];
}

/** Ada has so many links to files in `docs`, the first of them for an hour and the others for a day. */
async function withLinks(t: ExecutionContext, count: number): Promise<Fixture> {
	const clock = { now: Date.now() };
	const app = await testApp(t, {}, { now: () => clock.now });
	const ada = await new Client(app).register('ada');
	const user = await app.services.database.users.find('ada');
	const viewer = { kind: 'user', id: user?.id ?? '', username: 'ada' } as const;
	const home = (name: string) => path.join(app.filesDir, 'users/ada', name);
	const { storage, database } = app.services;
	await mkdir(home('docs'));
	for (const name of ['docs/a', 'docs/b', 'free']) await writeFile(home(name), name);
	const ids = await Promise.all(
		['docs/a', 'docs/b'].map(async (name) => identityOf(await storage.stat(parsePath(`users/ada/${name}`)))),
	);
	for (let n = 0; n < count; n++) {
		const link = { tokenHash: `hash ${n}`, ownerId: viewer.id, path: parsePath(n % 2 === 0 ? 'docs/a' : 'docs/b') };
		const expiresAt = clock.now + (n === 0 ? hourMs : 24 * hourMs);
		await database.links.add({ ...link, itemId: ids[n % 2] ?? '', expiresAt }, most);
		clock.now++;
	}
	const lookUps: string[] = [];
	const { stat } = storage;
	storage.stat = (at) => {
		lookUps.push(at);
		return stat.call(storage, at);
	};
	const make = () => ada.post('/api/generateTempLink', { filePath: 'free', expiration: '1d' });
	return { app, ada, viewer, home, clock, make, lookUps };
}

test('a user has at most 1,000 temporary links, of which expired ones and those whose items are gone are none', async (t) => {
	const { app, viewer, home, clock, make } = await withLinks(t, most);
	const refused = await make();
	t.is(refused.statusCode, 429, refused.payload);
	t.like(json(refused), {
		code: 'RATE_LIMITED',
		message: 'You have 1,000 temporary links, and more are not possible. Please revoke some.',
	});
	clock.now += hourMs;
	t.is((await make()).statusCode, 200, 'the first one has expired');
	t.is((await make()).statusCode, 429);
	await rm(home('docs/a'));
	t.is((await make()).statusCode, 200);
	const left = await app.services.database.links.page({ ownerId: viewer.id, limit: 2 * most });
	t.is(left.length, most / 2 + 2);
});

test('a page of links looks up the items of that page only, and a list without pages has all', async (t) => {
	const { ada, lookUps } = await withLinks(t, 250);
	const all = json(await ada.get('/api/links')) as { id: string; createdAt: number }[];
	t.is(all.length, 250);
	const found: typeof all = [];
	for (const length of [100, 100, 50]) {
		const last = found.at(-1);
		const after = last === undefined ? '' : `&after=${last.createdAt}-${last.id}`;
		lookUps.length = 0;
		found.push(...json(await ada.get(`/api/links?limit=100${after}`)));
		t.is(lookUps.length, length);
	}
	t.deepEqual(found, all);
	const last = found.at(-1);
	t.deepEqual(json(await ada.get(`/api/links?limit=100&after=${last?.createdAt}-${last?.id}`)), []);
	for (const query of ['limit=0', 'limit=101', 'limit=x', 'after=x', `after=${last?.id}`, 'after=1-%00'])
		t.is((await ada.get(`/api/links?${query}`)).statusCode, 400, query);
});

test('a page of links has as many as are asked for, also where the items of others are gone', async (t) => {
	const { ada, home } = await withLinks(t, 30);
	await rm(home('docs/b'));
	t.is(json(await ada.get('/api/links?limit=10')).length, 10);
	t.is(json(await ada.get('/api/links')).length, 15);
});

test('lists of links wait in the queue of walks, and other work has its turn between the links', async (t) => {
	const { app, ada, viewer } = await withLinks(t, most);
	const { walkQueue } = app.services;
	const client = clientKey(viewer, '127.0.0.1');
	const leave = await Promise.all([walkQueue.enter(client), walkQueue.enter(client)]);
	let isAnswered = false;
	const answer = ada.get('/api/links').finally(() => {
		isAnswered = true;
	});
	await until('the list waits', () => walkQueue.waiting === 1);
	t.false(isAnswered);
	const others = Array.from({ length: walkQueue.limits.waitingPerClient }, () => ada.get('/api/links'));
	const refused = await Promise.race(others);
	t.is(refused.statusCode, 429, 'one too many waits');
	let turns = 0;
	const timer = setInterval(() => turns++, 0);
	for (const each of leave) each();
	t.is(json(await answer).length, most);
	clearInterval(timer);
	t.true(turns > 1, `${turns}`);
	const statuses = (await Promise.all(others)).map(({ statusCode }) => statusCode);
	t.is(statuses.filter((status) => status === 200).length, others.length - 1);
});

/** Calls of the store and the links that they return. */
function counting(store: LinkStore): { store: LinkStore; calls: string[]; read: () => number } {
	const calls: string[] = [];
	let rows = 0;
	const counted = Object.entries(store).map(([name, call]) => [
		name,
		async (...values: unknown[]) => {
			calls.push(name);
			const result: unknown = await (call as (...values: unknown[]) => Promise<unknown>)(...values);
			rows += Array.isArray(result) ? result.length : 0;
			return result;
		},
	]);
	const eachWithin: LinkStore['eachWithin'] = async (ownerId, at, use) => {
		calls.push('eachWithin');
		await store.eachWithin(ownerId, at, async (some) => {
			rows += some.length;
			await use(some);
		});
	};
	return { store: { ...Object.fromEntries(counted), eachWithin } as LinkStore, calls, read: () => rows };
}

test('a rename or a deletion reads the links to its item only, however many its user has', async (t) => {
	const { app, viewer, lookUps } = await withLinks(t, 400);
	const { database, databaseReserve, leases, log, storage } = app.services;
	const { store, calls, read } = counting(database.links);
	const tracker = trackItems({ links: store, databaseReserve, storage: () => storage, leases, log });
	lookUps.length = 0;
	await tracker.moving(viewer, parsePath('users/ada/free'), async (before) => {
		await before(parsePath('users/ada/other'));
	});
	await tracker.removing(viewer, parsePath('users/ada/free'), async () => {});
	t.deepEqual([calls, read(), lookUps], [['hasAny', 'eachWithin', 'hasAny', 'eachWithin'], 0, []]);
	calls.length = 0;
	await tracker.moving(viewer, parsePath('users/ada/docs/a'), async (before) => {
		await before(parsePath('users/ada/docs/c'));
		await storage.move(parsePath('users/ada/docs/a'), parsePath('users/ada/docs/c'));
	});
	t.deepEqual([calls, read(), lookUps], [['hasAny', 'eachWithin', 'planMoves', 'setPaths'], 200, []]);
	t.is((await linksWithin(database.links, viewer.id, parsePath('docs/c'))).length, 200);
});

const longFolder = parsePath(Array.from({ length: 200 }, () => 'n'.repeat(254)).join('/'));

/** A tracker of so many linked items in the folder `from`, and what is written of them. */
function trackerOf(
	count: number,
	from: StoragePath,
	{ pathBytes = 0, mayWrite = true, inside = '', heldFor = Infinity } = {},
) {
	const written: { call: string; items: number; characters: number }[] = [];
	const asked: number[] = [];
	const read: number[] = [];
	const places = new Map<string, { path: StoragePath; nextPath?: StoragePath }>();
	for (let n = 0; n < count; n++) places.set(`${n}`, { path: joinPath(from, inside, `${n}`) });
	const get = async (ids: readonly string[]) => {
		read.push(ids.length);
		return ids.flatMap((id) => (places.has(id) ? { id, ...places.get(id) } : []));
	};
	const note = (call: string, paths: string[]) =>
		written.push({ call, items: paths.length, characters: paths.reduce((sum, { length }) => sum + length, 0) });
	const links = {
		hasAny: async () => true,
		eachWithin: async (_owner: string, _path: string, use: (some: unknown[]) => Promise<void>) => {
			for (const [id, place] of places) await use([{ id, ...place }]);
		},
		get,
		pathBytes: async () => pathBytes,
		planMoves: async (plan: Map<string, { path: StoragePath; nextPath: StoragePath }>) => {
			for (const [id, place] of plan) places.set(id, place);
			note(
				'plan',
				[...plan.values()].map(({ nextPath }) => nextPath),
			);
		},
		setPaths: async (paths: Map<string, StoragePath>) => {
			for (const [id, path] of paths) places.set(id, { path });
			note('set', [...paths.values()]);
		},
	} as unknown as LinkStore;
	const databaseReserve = {
		async assertRoom(bytes: number) {
			asked.push(bytes);
			if (!mayWrite) throw new Failure('storageFull', 'full');
		},
	};
	const isHeld = () => written.length < heldFor;
	const leases = { acquire: async () => ({ isHeld, async release() {} }) } as never;
	const tracker = trackItems({ links, databaseReserve, storage: () => ({}) as never, leases, log: {} as never });
	const move = (to: StoragePath) =>
		tracker.moving({ kind: 'user', id: 'a', username: 'ada' }, joinPath(parsePath('users/ada'), from), (before) =>
			before(joinPath(parsePath('users/ada'), to)),
		);
	return { move, written, asked, read, places };
}

test('a folder with thousands of shared items is renamed in parts, between which others have turns', async (t) => {
	const { move, written } = trackerOf(5000, joinPath(longFolder, 'q'));
	let turns = 0;
	const turn = () => {
		turns++;
		next = setImmediate(turn);
	};
	let next = setImmediate(turn);
	await move(joinPath(longFolder, 'r')).finally(() => clearImmediate(next));
	t.true(turns > 2, `${turns} turns`);
	for (const call of ['plan', 'set']) {
		const parts = written.filter((each) => each.call === call);
		t.is(
			parts.reduce((sum, { items }) => sum + items, 0),
			5000,
		);
		t.true(parts.every(({ characters }) => characters < 5_000_000));
	}
});

test('of linked items with very long paths a move keeps few in memory, and each of them gets to its new place', async (t) => {
	const [from, to] = [joinPath(longFolder, 'q'), joinPath(longFolder, 'r')];
	const { move, read, places } = trackerOf(500, from);
	await move(to);
	t.true(read.length > 3 && read.every((ids) => ids <= 100), `${read}`);
	t.true(read.reduce((sum, ids) => sum + ids, 0) > 3 * 400, 'most are read again for each step');
	t.deepEqual(
		[...places],
		Array.from({ length: 500 }, (_, n) => [`${n}`, { path: joinPath(to, `${n}`) }]),
	);
	const few = trackerOf(500, parsePath('q'));
	await few.move(parsePath('r'));
	t.deepEqual(few.read, [], 'ordinary paths are read once');
});

test('paths that would get long are refused before anything of a move is written where their owner has too many, or the disk is full', async (t) => {
	const megabyte = 1024 * 1024;
	const [short, long] = [parsePath('q'), joinPath(longFolder, 'q')];
	const refused = { instanceOf: Failure, message: /no room for more long paths/ };
	const full = trackerOf(100, short, { pathBytes: 60 * megabyte });
	await t.throwsAsync(full.move(long), refused);
	t.deepEqual(full.written, []);
	const many = trackerOf(2000, short);
	await t.throwsAsync(many.move(long), refused);
	const withoutReserve = trackerOf(1, short, { mayWrite: false });
	await t.throwsAsync(withoutReserve.move(long), { message: 'full' });
	t.deepEqual([many.written, withoutReserve.written], [[], []]);
	// What an owner has can be moved elsewhere, and does not get longer.
	for (const [from, to] of [
		[long, short],
		[long, joinPath(longFolder, 'r')],
	] as const) {
		const moved = trackerOf(2000, from, { pathBytes: 200 * megabyte });
		await moved.move(to);
		t.true(moved.written.length > 1);
	}
	const { move, asked } = trackerOf(1000, short, { mayWrite: false });
	await move(parsePath('docs/r'));
	await move(parsePath(`docs/${'資料'.repeat(40)}/${'報告'.repeat(20)}`));
	t.deepEqual(asked, [], 'short paths need no room');
	const some = trackerOf(10, short);
	await some.move(long);
	t.true((some.asked[0] ?? 0) > 10 * longFolder.length);
});

test('a process that has lost the lease of a move writes no further part of it', async (t) => {
	const [from, to] = [joinPath(longFolder, 'q'), joinPath(longFolder, 'r')];
	const whole = trackerOf(500, from);
	await whole.move(to);
	const calls = whole.written.map(({ call }) => call);
	const planned = calls.filter((call) => call === 'plan').length;
	t.true(planned > 2 && calls.length > planned + 2);
	const planning = trackerOf(500, from, { heldFor: 2 });
	await t.throwsAsync(planning.move(to), { message: /is being moved right now/ });
	t.is(planning.written.length, 2);
	const settling = trackerOf(500, from, { heldFor: planned + 1 });
	await settling.move(to);
	t.is(settling.written.length, planned + 1);
});

test('what is deleted needs no room for its long paths, nor what is put back a little of the reserve', async (t) => {
	const [short, long] = [parsePath('q'), joinPath(longFolder, 'q')];
	const trashed = trashedLinkPath('0'.repeat(36));
	const most = { pathBytes: 64 * 1024 * 1024, mayWrite: false };
	for (const from of [short, long]) {
		const deleted = trackerOf(10, from, { ...most, inside: longFolder.slice(0, 600) });
		await deleted.move(trashed);
		t.deepEqual(
			deleted.written.map(({ call }) => call),
			['plan', 'set'],
		);
	}
	const back = trackerOf(10, trashed, { mayWrite: false });
	await back.move(long);
	t.is(back.written.length, 2);
	await t.throwsAsync(trackerOf(10, trashed, { ...most, mayWrite: true }).move(long), { message: /no room for more/ });
	// So many would take the last room from others.
	const many = trackerOf(2000, short, { ...most, inside: longFolder.slice(0, 600) });
	await t.throwsAsync(many.move(trashed), { message: 'full' });
	t.deepEqual(many.written, []);
});

test.serial('files with very long paths are told apart quickly when their links are bound again', async (t) => {
	const paths = Array.from({ length: 1500 }, (_, n) => joinPath(longFolder, `${10_000 + n}`));
	const asked: StoragePath[] = [];
	const stat = async (at: StoragePath) => {
		asked.push(at);
		throw new Failure('notFound', 'gone');
	};
	const ms = await usualMs(async () => {
		const files = new RestoredFiles({ stat } as never, new PathSet(paths));
		for (const path of paths) files.add({ path, size: 1, sha256: 'a' });
		for (const path of paths) t.is(await files.identityAt(path), undefined);
	});
	t.is(asked.length, 1500);
	// A Map takes 15 seconds.
	t.true(ms < 6000, `${ms} ms`);
});

test('a file of another size than before is not read when its link is bound again: it may have no end', async (t) => {
	const [same, endless] = [joinPath(longFolder, 'same'), joinPath(longFolder, 'endless')];
	const content = Buffer.from('content');
	const read: StoragePath[] = [];
	const storage = {
		stat: async () => ({ type: 'file' }),
		open: async (at: StoragePath) => ({
			item: { id: '1', size: at === same ? content.length : 4e12 },
			read: async function* () {
				read.push(at);
				yield content;
			},
			isChanged: async () => false,
			close: async () => undefined,
		}),
	};
	const files = new RestoredFiles(storage as never, new PathSet([same, endless]));
	const sha256 = createHash('sha256').update(content).digest('hex');
	for (const path of [same, endless]) files.add({ path, size: content.length, sha256 });
	t.truthy(await files.identityAt(same));
	t.is(await files.identityAt(endless), undefined);
	t.deepEqual(read, [same]);
});

test('nothing with a long path is shared by who has no room for more of these, and what has a short one is', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await new Client(app).register('bob');
	const names = ['x', 'y'].map((name) => name.repeat(240));
	for (const [level, folderName] of [...names, 'short'].entries()) {
		const directory = level > 1 ? '' : names.slice(0, level).join('/');
		t.is((await ada.post('/api/createFolder', { directory, folderName, type: 'private' })).statusCode, 200);
	}
	const { links } = app.services.database;
	const { pathBytes } = links;
	const statusesOf = async (path: string) => [
		(await ada.post('/api/generateTempLink', { filePath: path, expiration: '1d' })).statusCode,
		(await ada.post('/api/shares', { items: [{ path }], mode: 'view' })).statusCode,
		(await ada.call('PUT', '/api/members', { path, members: [{ username: 'bob', role: 'view' }] })).statusCode,
	];
	links.pathBytes = async () => 64 * 1024 ** 2;
	t.deepEqual(await statusesOf(names.join('/')), [507, 507, 507]);
	t.deepEqual(await statusesOf('short'), [200, 201, 200]);
	// There is room for one and a half more of them.
	const room = 1.5 * names.join('/').length;
	const had = await pathBytes((await app.services.database.users.find('ada'))?.id ?? '');
	links.pathBytes = async (id) => 64 * 1024 ** 2 - room - had + (await pathBytes(id));
	const statuses = (await Promise.all([1, 2, 3].map(() => statusesOf(names.join('/'))))).flat();
	t.is(statuses.filter((status) => status === 507).length, 8, `of what is shared at once one has room: ${statuses}`);
	links.pathBytes = pathBytes;
	t.deepEqual(await statusesOf(names.join('/')), [200, 201, 200]);
});
