import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parsePath, type StoragePath, type Viewer } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { type MariaDb, startMariadb } from '../../../database/test/mariadb.js';
import { createEncryption } from '../../src/events/encryption.js';
import type { RootMark } from '../../src/search/marks.js';
import { NodeChanges } from '../../src/search/NodeChanges.js';
import { SearchIndex } from '../../src/search/SearchIndex.js';
import { Client, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

let mariadb: MariaDb;

test.before(async () => {
	mariadb = await startMariadb();
});

test.after.always(() => mariadb?.close());

/** Nodes with an index each, over one storage root. */
async function site(t: ExecutionContext) {
	const databaseUrl = await mariadb.createDatabase();
	const root = await mkdtemp(path.join(os.tmpdir(), 'stowage-nodes-'));
	t.teardown(() => rm(root, { recursive: true, force: true }));
	return (node: string, more: Record<string, string> = {}): Promise<TestApp> =>
		testApp(t, {
			...{ '--database-url': databaseUrl, '--node': node, '--search-index': 'true' },
			'--session-key': 'one key for both of these nodes, longer than 32',
			'--plugins': JSON.stringify({ '@stowage/storage-local': { root } }),
			...more,
		});
}

/** The paths that a search of a user at a node answers. */
async function foundAt({ services }: TestApp, username: string, term: string): Promise<string[]> {
	const user = await services.database.users.find(username);
	const viewer: Viewer = { kind: 'user', id: user?.id ?? '', username };
	const { entries } = await services.files.search(viewer, { area: 'private', path: '' as never }, { term });
	return entries.map(({ path }) => path).sort();
}

test.serial('a search finds what another node has changed within seconds, though each has its own index', async (t) => {
	const open = await site(t);
	const [one, two] = [await open('one'), await open('two')];
	const ada = await new Client(one).register('ada');
	const call = async (url: string, body: object) => t.is((await ada.post(url, body)).statusCode, 200, url);
	await call('/api/createFolder', { directory: '', folderName: 'trips', type: 'private' });
	await call('/api/createFolder', { directory: 'trips', folderName: 'far', type: 'private' });
	for (const { services } of [one, two]) await services.searchIndex.settled();
	await until('both nodes ask for what the other one changes', async () => {
		const rows = await one.services.database.events.listeners(60_000, '');
		return rows.filter(({ pollsFolders }) => pollsFolders).length === 2;
	});
	// None of what follows is found by comparing folders with the disk, which begins with an index and then once an hour.
	for (const { services } of [one, two]) await services.searchIndex.check(false);
	await call('/api/createFile', { directory: 'trips/far', fileName: 'holiday.txt', type: 'private' });
	t.deepEqual(await foundAt(one, 'ada', 'holiday'), ['trips/far/holiday.txt']);
	await until('the other node finds it', async () => (await foundAt(two, 'ada', 'holiday')).length === 1);
	await call('/api/renameItem', { oldPath: 'trips', newName: 'journeys', type: 'private' });
	await until(
		'and where it is once a folder above it has another name',
		async () => `${await foundAt(two, 'ada', 'holiday')}` === 'journeys/far/holiday.txt',
	);
	await two.services.searchIndex.settled();
	t.deepEqual(await foundAt(two, 'ada', 'holiday'), ['journeys/far/holiday.txt']);
	t.deepEqual(await foundAt(two, 'ada', 'trips'), []);
});

test.serial('a node finds what was changed at another one while it did not run', async (t) => {
	const open = await site(t);
	const one = await open('one');
	const ada = await new Client(one).register('ada');
	const two = await open('two');
	await two.services.searchIndex.settled();
	await two.stop();
	t.is(
		(await ada.post('/api/createFile', { directory: '', fileName: 'holiday.txt', type: 'private' })).statusCode,
		200,
	);
	const again = await open('two', { '--data-dir': two.dataDir });
	await until('it is found', async () => (await foundAt(again, 'ada', 'holiday')).length === 1);
});

test.serial('a comparison that is asked for before the index has begun is made then', async (t) => {
	const one = await testApp(t, { '--search-index': 'true' });
	await new Client(one).register('ada');
	// A folder that has just changed is compared again soon in any case.
	await wait(3000);
	await one.services.searchIndex.check(true);
	await one.services.searchIndex.settled();
	await one.stop();
	await writeFile(path.join(one.filesDir, 'users/ada/holiday.txt'), '');
	const { config, log } = one.services;
	const identity = { name: 'early', hasEnded: async () => false, canTell: () => true };
	await new SearchIndex({ config, identity, log, now: Date.now }).requestCheck();
	const again = await testApp(t, { '--search-index': 'true', '--data-dir': one.dataDir });
	const found = await until('it is found', async () => `${await foundAt(again, 'ada', 'holiday')}`);
	t.is(found, 'holiday.txt');
});

const changes = (index = { note: (_marks: readonly RootMark[]) => {}, requestCheck: async () => {} }) => {
	const has = { otherNodes: true };
	const config = { search: { index: true, exclude: [], checkEvery: 0 } };
	const one = new NodeChanges({
		config,
		isLeader: () => true,
		hasOtherNodes: () => has.otherNodes,
		index: () => index,
	});
	return { one, has };
};

const rows = (text: string): RootMark => ({ rootId: 'r', kind: 'rows', path: parsePath(text) });

test('what is told to other nodes is bounded: of very many folders the homes are, and of very many homes the root', (t) => {
	const { one } = changes();
	for (let n = 0; n < 1000; n++) one.add([rows(`users/ada/${n}`), rows(`users/ada/${n}`)]);
	const parts = one.take();
	t.is(parts.flat().length, 1000);
	t.true(parts.every((part) => JSON.stringify(part).length < 40_000));
	t.false(one.isWaiting);
	// What could not be sent is told later, with what has come since.
	one.putBack(parts);
	t.true(one.isWaiting);
	one.add([rows('users/bob/more')]);
	t.deepEqual(one.take(), [
		[
			['r', 'tree', 'users/ada' as StoragePath],
			['r', 'tree', 'users/bob' as StoragePath],
		],
	]);
	for (let n = 0; n < 1001; n++) one.add([rows(`users/user${n}/a`)]);
	t.deepEqual(one.take(), [[['r', 'tree', '' as StoragePath]]]);
	t.deepEqual(one.take(), []);
	const long = 'x'.repeat(200);
	for (let n = 0; n < 500; n++) one.add([rows(`users/ada/${long}${n}`)]);
	for (const part of one.take()) t.true(JSON.stringify(part).length < 20_000);
});

test('each part that is told to other nodes has room in a row, whatever the paths are', (t) => {
	const { one } = changes();
	const { encrypt } = createEncryption('events', 'secret');
	const rootId = 'f'.repeat(32);
	const mark = (path: string): RootMark => ({ rootId, kind: 'rows', path: parsePath(path) });
	const assertFit = (marks: number) => {
		const parts = one.take();
		t.is(parts.flat().length, marks);
		for (const part of parts) t.true(encrypt(JSON.stringify({ kind: 'index', part })).length < 60_000);
	};
	for (let n = 0; n < 1000; n++) one.add([mark(`users/ada/${n}`)]);
	assertFit(1000);
	for (let n = 0; n < 300; n++) one.add([mark(`users/ada/${'旅'.repeat(80)}/${n}`)]);
	assertFit(300);
	for (let n = 0; n < 100; n++) one.add([mark(`users/ada/${n}/${'"'.repeat(250)}`)]);
	assertFit(100);
	const deep = Array.from({ length: 250 }, () => 'x'.repeat(249)).join('/');
	one.add([mark(`users/ada/${deep}`)]);
	const above = `users/ada/${deep.slice(0, 3 * 250 - 1)}` as StoragePath;
	t.deepEqual(one.take(), [[[rootId, 'tree', above]]]);
});

test('a process without other nodes notes nothing of theirs', (t) => {
	const noted: string[] = [];
	const { one, has } = changes({
		note: (marks) => noted.push(...marks.map(({ path: noted }) => noted)),
		requestCheck: async () => {},
	});
	one.receive([['r', 'rows', parsePath('users/ada')]]);
	has.otherNodes = false;
	one.receive([['r', 'rows', parsePath('users/bob')]]);
	t.deepEqual(noted, ['users/ada']);
	t.false(one.follows());
});
