import { EventEmitter, once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { FileVersion, ItemRef } from '@stowage/plugin-api';
import { Failure, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { type AppOptions, recoverTrash } from '../../src/index.js';
import type { TrashParts } from '../../src/trees/trash/trashParts.js';
import { superfluous } from '../../src/trees/trash/versions/superfluous.js';
import { VersionPaths } from '../../src/trees/trash/versions/VersionPaths.js';
import { Versions } from '../../src/trees/trash/versions/Versions.js';
import { Client, field, file, json, reportSpace, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const day = 24 * 60 * 60_000;

interface Listed {
	id: string;
	size: number;
	mtime: number;
	replacedAt: number;
	replacedBy: string;
	expiresAt: number;
}

interface Fixture {
	app: TestApp;
	ada: Client;
	home: string;
	/** The content of a file of the home. */
	read(name: string): Promise<string>;
	/** Uploads each content over the one before. */
	write(name: string, ...contents: string[]): Promise<void>;
	list(name: string, type?: string): Promise<Listed[]>;
	/** The contents of all versions, the newest first. */
	contents(name: string, type?: string): Promise<string[]>;
	/** Makes a call that succeeds. */
	call(method: string, url: string, payload: unknown): Promise<ReturnType<typeof json>>;
	restore(filePath: string, id: string): Promise<ReturnType<typeof json>>;
	/** The items in the trash of the disk. */
	onDisk(): Promise<string[]>;
	/** Resolves once all that was replaced is recorded. */
	settled(): Promise<unknown>;
}

async function setUp(
	t: ExecutionContext,
	flags: Record<string, string> = {},
	options: AppOptions = {},
): Promise<Fixture> {
	const app = await testApp(t, flags, options);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	await mkdir(path.join(home, 'docs'), { recursive: true });
	const call: Fixture['call'] = async (method, url, payload) => {
		const answer = await ada.call(method, url, payload);
		t.is(answer.statusCode, 200, answer.payload);
		return json(answer);
	};
	const list: Fixture['list'] = async (name, type = 'private') => {
		const answer = await ada.get(`/api/versions/${encodeURI(name)}?type=${type}`);
		t.is(answer.statusCode, 200, answer.payload);
		return json(answer).versions;
	};
	return {
		app,
		ada,
		home,
		call,
		list,
		read: (name) => readFile(path.join(home, name), 'utf8'),
		async write(name, ...contents) {
			for (const content of contents) {
				const directory = field('directory', path.dirname(name) === '.' ? '' : path.dirname(name));
				const parts = [directory, field('onConflict', 'replace'), file(path.basename(name), content)];
				const answer = await ada.upload('/api/upload', parts);
				t.is(answer.statusCode, 200, answer.payload);
			}
		},
		async contents(name, type = 'private') {
			const found: string[] = [];
			for (const { id } of await list(name, type))
				found.push((await ada.get(`/api/download/${encodeURI(name)}?type=${type}&version=${id}`)).payload);
			return found;
		},
		restore: (filePath, id) => call('POST', '/api/versions/restore', { filePath, type: 'private', id }),
		async onDisk() {
			const found = await readdir(path.join(app.filesDir, '.stowage/trash')).catch(() => []);
			return found.filter((name) => /^[0-9a-f]{32}$/.test(name));
		},
		settled: () =>
			until(
				'all has arrived',
				async () => (await app.services.database.trash.inState('moving', { limit: 1 })).length === 0,
			),
	};
}

const type = 'private';

test('the former content of a file that is replaced can be listed, downloaded and restored', async (t) => {
	const { app, ada, home, read, write, list, contents, restore, onDisk } = await setUp(t);
	await write('docs/a b.txt', 'one');
	t.deepEqual(await list('docs/a b.txt'), []);
	await utimes(path.join(home, 'docs/a b.txt'), 1_500_000_000, 1_500_000_000);
	await write('docs/a b.txt', 'two two', 'three');
	t.deepEqual(await contents('docs/a b.txt'), ['two two', 'one']);
	const [two, one] = await list('docs/a b.txt');
	t.like(one, { size: 3, mtime: 1_500_000_000_000, replacedBy: 'ada' });
	t.is((one?.expiresAt ?? 0) - (one?.replacedAt ?? 0), 30 * day);
	t.true((two?.replacedAt ?? 0) >= (one?.replacedAt ?? 0));

	const url = `/api/download/docs/a%20b.txt?type=private&version=${two?.id}`;
	const whole = await ada.get(url);
	t.is(whole.statusCode, 200);
	t.true(whole.headers['content-disposition']?.includes('a b.txt'));
	t.is((await ada.call('HEAD', url)).headers['content-length'], '7');
	t.is((await ada.get(url, { range: 'bytes=4-' })).payload, 'two');
	t.is((await ada.get(url, { 'if-none-match': String(whole.headers.etag) })).statusCode, 304);
	t.true((await ada.get(`${url}&inline=1`)).headers['content-disposition']?.startsWith('inline'));

	t.like((await restore('docs/a b.txt', one?.id ?? '')).entry, {
		path: 'docs/a b.txt',
		size: 3,
		mtime: 1_500_000_000_000,
	});
	t.is(await read('docs/a b.txt'), 'one');
	t.deepEqual(await contents('docs/a b.txt'), ['three', 'two two']);
	t.is((await onDisk()).length, 2);
	t.is((await app.services.database.trash.totals({})).entries, 2);
	const again = await ada.post('/api/versions/restore', { filePath: 'docs/a b.txt', type, id: one?.id });
	t.is(again.statusCode, 404);
});

test('a version that is restored while it is being recorded is not taken for kept if the process ends then', async (t) => {
	const { app, read, write, list, restore } = await setUp(t);
	const { trash } = app.services.database;
	const { settle, beginLeaving } = trash;
	const steps = new EventEmitter();
	const [recording, leaving] = [once(steps, 'recording'), once(steps, 'leaving')];
	trash.settle = async (ids, from) => {
		steps.emit('recording');
		await leaving;
		return settle(ids, from);
	};
	trash.beginLeaving = async (id) => {
		const result = await beginLeaving(id);
		steps.emit('leaving');
		return result;
	};
	// As if the process ended before it.
	trash.remove = async () => {
		throw new Error('The database is away.');
	};
	await write('a.txt', 'one', 'two');
	await recording;
	const [version] = await list('a.txt');
	await restore('a.txt', version?.id ?? '');
	t.is(await read('a.txt'), 'one');
	await app.services.trashBin.recordAll();
	t.is((await trash.get(version?.id ?? ''))?.state, 'leaving');
	t.deepEqual((await list('a.txt')).map(({ id }) => id).includes(version?.id ?? ''), false);
});

test('what a copy or a move replaces becomes a version too, and a moved file keeps its own', async (t) => {
	const { call, read, write, contents } = await setUp(t);
	await write('a', 'a1', 'a2');
	await write('docs/b', 'b1', 'b2');
	await write('c', 'c1');
	await call('POST', '/api/copyItem', { fromPath: 'a', toPath: 'c', type, onConflict: 'replace' });
	t.is(await read('c'), 'a2');
	t.deepEqual(await contents('c'), ['c1']);
	await call('POST', '/api/moveItem', { fromPath: 'a', toPath: 'docs/b', type, onConflict: 'replace' });
	t.is(await read('docs/b'), 'a2');
	t.deepEqual((await contents('docs/b')).sort(), ['a1', 'b1', 'b2']);
});

test('versions follow their file when it is renamed, moved, put in the trash and restored', async (t) => {
	const { ada, call, write, contents } = await setUp(t);
	const counts = async (directory: string) =>
		json(await ada.get(`/api/browse?type=private&directory=${directory}`)).entries.map(
			(entry: { name: string; versions?: number }) => `${entry.name} ${entry.versions ?? 0}`,
		);
	await write('docs/a', 'one', 'two', 'three');
	await write('docs/none', 'x');
	t.deepEqual((await counts('docs')).sort(), ['a 2', 'none 0']);
	await call('POST', '/api/renameItem', { oldPath: 'docs/a', newName: 'ä', type });
	t.deepEqual(await contents('docs/ä'), ['two', 'one']);
	await call('POST', '/api/renameItem', { oldPath: 'docs', newName: 'papers', type });
	t.deepEqual((await counts('papers')).sort(), ['none 0', 'ä 2']);
	await call('POST', '/api/moveItem', { fromPath: 'papers', toPath: 'in/papers', type });
	t.deepEqual(await contents('in/papers/ä'), ['two', 'one']);
	const { trashId } = await call('DELETE', '/api/deleteItem', { filePath: 'in/papers', type });
	const trash = json(await ada.get('/api/trash'));
	t.deepEqual(
		trash.entries.map(({ path: was }: { path: string }) => was),
		['in/papers'],
	);
	await call('POST', '/api/trash/restore', { ids: [trashId] });
	t.deepEqual((await counts('in/papers')).sort(), ['none 0', 'ä 2']);
	t.deepEqual(await contents('in/papers/ä'), ['two', 'one']);
});

test('versions end with their file: deleted for good, purged with the trash, or made public', async (t) => {
	const { app, call, write, contents, onDisk } = await setUp(t);
	const { database, trashBin } = app.services;
	for (const name of ['docs/a', 'docs/b', 'other', 'kept']) await write(name, 'one', 'two');
	await call('DELETE', '/api/deleteItem', { filePath: 'docs/a', type, permanent: true });
	t.is((await database.trash.totals({ kind: 'version' })).entries, 3);
	const { trashId } = await call('DELETE', '/api/deleteItem', { filePath: 'docs', type });
	await call('DELETE', `/api/trash/${trashId}`, undefined);
	await trashBin.removePurged();
	t.is((await database.trash.totals({ kind: 'version' })).entries, 2);
	await call('POST', '/api/moveItem', { fromPath: 'other', toPath: 'Public/other', type });
	await trashBin.removePurged();
	t.deepEqual(await contents('Public/other'), []);
	await call('DELETE', '/api/trash', undefined);
	await trashBin.removePurged();
	t.deepEqual(await contents('kept'), ['one'], 'emptying the trash leaves versions alone');
	t.is((await onDisk()).length, 1);
});

for (const [title, isFull] of [
	['', false],
	[', also where the database has no room to plan it', true],
] as const)
	test(`what is restored keeps its versions though the trash is emptied before that is recorded${title}`, async (t) => {
		const { app, call, write, contents, onDisk } = await setUp(t);
		const { database, trashBin } = app.services;
		for (const name of ['docs/a', 'docs/b']) await write(name, 'one', 'two', 'three');
		const { trashId } = await call('DELETE', '/api/deleteItem', { filePath: 'docs', type });
		await call('GET', '/api/trash', undefined);
		if (isFull) {
			const set = () => Promise.reject(new Failure('storageFull', 'full'));
			app.services.databaseReserve.optional = (store) => ({ ...store, set });
		}
		const { move } = database.versions;
		database.versions.move = async (...values) => {
			database.versions.move = move;
			await call('DELETE', '/api/trash', undefined);
			await trashBin.removePurged();
			return move(...values);
		};
		const { restored } = await call('POST', '/api/trash/restore', { ids: [trashId] });
		t.deepEqual(restored, [{ id: trashId, path: 'docs' }]);
		await trashBin.removePurged();
		t.deepEqual(await contents('docs/a'), ['two', 'one']);
		t.deepEqual(await contents('docs/b'), ['two', 'one']);
		t.is((await onDisk()).length, 4);
		t.is((await database.trash.totals({ kind: 'item' })).entries, 0);
	});

test('what is moved out of a folder while that is deleted for good keeps its versions', async (t) => {
	const { app, call, write, contents, onDisk } = await setUp(t);
	const { database, trashBin } = app.services;
	for (const name of ['docs/a', 'docs/b']) await write(name, 'one', 'two', 'three');
	const { countsWithin } = database.versions;
	const { hasAny } = database.links;
	database.versions.countsWithin = async (...values) => {
		database.versions.countsWithin = countsWithin;
		// Asked once the files are known, before the folder is removed.
		database.links.hasAny = async (ownerId) => {
			database.links.hasAny = hasAny;
			await call('POST', '/api/moveItem', { fromPath: 'docs/a', toPath: 'a', type });
			return hasAny(ownerId);
		};
		return countsWithin(...values);
	};
	await call('DELETE', '/api/deleteItem', { filePath: 'docs', type, permanent: true });
	await trashBin.removePurged();
	t.deepEqual(await contents('a'), ['two', 'one']);
	t.is((await onDisk()).length, 2, 'those of what was deleted are gone');
});

test('what was moved out of a folder that is deleted for good keeps its versions before they are said to have moved', async (t) => {
	const { app, call, write, contents } = await setUp(t);
	const { database, trashBin } = app.services;
	await write('docs/a', 'one', 'two', 'three');
	const steps = new EventEmitter();
	const [moved, deleted] = [once(steps, 'moved'), once(steps, 'deleted')];
	const { move, countsWithin } = database.versions;
	const { hasAny } = database.links;
	database.versions.move = async (...values) => {
		database.versions.move = move;
		steps.emit('moved');
		// It ends by then, unless that waits for this.
		await Promise.race([deleted, wait(200)]);
		return move(...values);
	};
	let moving: Promise<unknown> = Promise.resolve();
	database.versions.countsWithin = async (...values) => {
		database.versions.countsWithin = countsWithin;
		// Asked once the files are known, before the folder is removed.
		database.links.hasAny = async (ownerId) => {
			database.links.hasAny = hasAny;
			moving = call('POST', '/api/moveItem', { fromPath: 'docs/a', toPath: 'a', type });
			await moved;
			return hasAny(ownerId);
		};
		return countsWithin(...values);
	};
	await call('DELETE', '/api/deleteItem', { filePath: 'docs', type, permanent: true });
	steps.emit('deleted');
	await moving;
	await trashBin.removePurged();
	t.deepEqual(await contents('a'), ['two', 'one']);
});

test('a version that is chosen to give way before its content has arrived leaves no content without a row', async (t) => {
	const { app, write, read, onDisk } = await setUp(t);
	const { database, trashBin } = app.services;
	await write('a', 'one');
	const steps = new EventEmitter();
	const [recorded, removing] = [once(steps, 'recorded'), once(steps, 'removing')];
	const { add, remove, settle } = database.trash;
	let purged: Promise<void> = Promise.resolve();
	database.trash.add = async (record) => {
		await add(record);
		t.is(await database.trash.beginPurging({ ids: [record.id] }), 1);
		purged = trashBin.removePurged();
		await removing;
	};
	database.trash.remove = async (ids) => {
		database.trash.remove = remove;
		steps.emit('removing');
		await recorded;
		await remove(ids);
	};
	database.trash.settle = async (ids, from) => {
		const settled = await settle(ids, from);
		setTimeout(() => steps.emit('recorded'), 200);
		return settled;
	};
	await write('a', 'two');
	await purged;
	t.is(await read('a'), 'two');
	await trashBin.removePurged();
	t.deepEqual(await onDisk(), []);
	t.deepEqual(await database.trash.inState('purging', { limit: 1 }), []);
});

test('a file of the public tree has versions, which nobody else sees', async (t) => {
	const { app, ada, call, write, list, contents } = await setUp(t, { '--public-listing': 'everyone' });
	await write('Public/a', 'one', 'two');
	t.deepEqual(await contents('a', 'public'), ['one']);
	const [version] = await list('a', 'public');
	const bob = await new Client(app).register('bob');
	const visitor = new Client(app);
	const rows = async (client: Client, url: string) => json(await client.get(url)).entries;
	t.is((await rows(ada, '/api/browse?type=public&directory='))[0].versions, 1);
	t.is((await rows(bob, '/api/browse?type=public&directory='))[0].versions, undefined);
	for (const client of [bob, visitor]) {
		const answer = await client.get(`/api/download/a?type=public&owner=ada&version=${version?.id}`);
		t.true([401, 403].includes(answer.statusCode), answer.payload);
	}
	t.is((await bob.get('/api/versions/a?type=public')).statusCode, 404);
	t.is((await visitor.get('/api/versions/a?type=public')).statusCode, 401);
	await call('DELETE', `/api/versions/${version?.id}`, undefined);
	t.deepEqual(await list('a', 'public'), []);
});

test('hits of a search say how many versions their files have, and only to their owner', async (t) => {
	const { app, ada, write } = await setUp(t, { '--public-listing': 'everyone' });
	await write('a hit.txt', 'one', 'two', 'three');
	await write('docs/a hit.txt', 'one', 'two');
	await write('docs/hit without.txt', 'one');
	await write('Public/public hit.txt', 'one', 'two');
	const hits = async (client: Client, type: string) => {
		const { entries } = json(await client.get(`/api/browse${type}search=hit`));
		return entries.map((entry: { path: string; versions?: number }) => `${entry.path} ${entry.versions}`).sort();
	};
	const own = ['Public/public hit.txt 1', 'a hit.txt 2', 'docs/a hit.txt 1', 'docs/hit without.txt undefined'];
	t.deepEqual(await hits(ada, '?type=private&'), own);
	t.deepEqual(await hits(ada, '?type=public&'), ['public hit.txt 1']);
	const bob = await new Client(app).register('bob');
	t.deepEqual(await hits(bob, '?type=public&'), ['public hit.txt undefined']);
	t.deepEqual(await hits(new Client(app), '/public?'), ['public hit.txt undefined']);
});

/** What fails once `docs` was moved on the disk, until the returned function is called. */
function failAfterMoves({ services }: TestApp, fails: { disk: boolean; database: boolean }): () => void {
	const { versions } = services.database;
	const { storage } = services.roots.first;
	const [move, moveRows] = [storage.move, versions.move];
	const away = () => new Failure('unavailable', 'away');
	storage.move = async (from, to, options) => {
		const moved = await move.call(storage, from, to, options);
		if (fails.disk && from.endsWith('docs')) throw away();
		return moved;
	};
	versions.move = async (...args) => {
		if (fails.database) throw away();
		return moveRows(...args);
	};
	return () => {
		storage.move = move;
		versions.move = moveRows;
	};
}

for (const [title, fails] of [
	['though the sync after it has failed', { disk: true, database: false }],
	['though the database was away just after it', { disk: false, database: true }],
	['though its process ended just after it', { disk: true, database: true }],
] as const) {
	test(`versions follow a folder that is moved ${title}, and are of no other file`, async (t) => {
		const { app, ada, home, call, write, contents } = await setUp(t);
		const { database } = app.services;
		await write('docs/a', 'private', 'two');
		const recover = failAfterMoves(app, fails);
		const renamed = await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'former', type });
		t.is(renamed.statusCode, fails.disk ? 503 : 200);
		recover();

		await call('POST', '/api/createFolder', { directory: '', folderName: 'docs', type });
		await write('docs/a', 'another');
		const bob = await new Client(app).register('bob');
		await call('PUT', '/api/members', { path: 'docs', members: [{ username: 'bob', role: 'edit' }] });
		t.deepEqual(json(await bob.get('/api/versions/docs/a?type=shared')).versions, []);
		await write('docs/a', 'changed');
		t.deepEqual(await contents('docs/a'), ['another']);
		t.deepEqual(await contents('former/a'), ['private']);
		t.is(
			await database.keyValues('version-moves').get(String((await app.services.accounts.find('ada'))?.id)),
			undefined,
		);
		t.deepEqual((await readdir(home)).sort(), ['Public', 'docs', 'former']);
	});

	test(`versions of a folder that is moved ${title} go with the home to another root`, async (t) => {
		const { app, ada, write, contents } = await setUp(t);
		const { rootAdministration, homeMoves, jobs, accounts } = app.services;
		const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
		// The server still writes there for a moment.
		t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
		await rootAdministration.add('big', 'local', path.join(disk, 'root'));
		await write('docs/a', 'one', 'two');
		const recover = failAfterMoves(app, fails);
		await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'former', type });
		recover();
		const job = await homeMoves.start('ada', 'big');
		const owner = { ...(await accounts.find('ada')), kind: 'user' as const };
		t.like(await jobs.waitForEnd(owner, job.id, 5 * 60_000), { status: 'completed' });
		t.deepEqual(await contents('former/a'), ['one']);
	});

	test(`versions of a folder that is deleted ${title} are in the trash with it, and end with it`, async (t) => {
		const { app, ada, call, write, contents } = await setUp(t);
		const { trash, versions, users } = app.services.database;
		await write('docs/a', 'private', 'two');
		const recover = failAfterMoves(app, fails);
		const deleted = await ada.call('DELETE', '/api/deleteItem', { filePath: 'docs', type });
		t.is(deleted.statusCode, fails.disk ? 503 : 200);
		recover();
		// Before the deleted folder has a row.
		await write('other', 'one', 'two');
		await call('POST', '/api/createFolder', { directory: '', folderName: 'docs', type });
		await write('docs/a', 'another');
		const bob = await new Client(app).register('bob');
		await call('PUT', '/api/members', { path: 'docs', members: [{ username: 'bob', role: 'edit' }] });
		t.deepEqual(json(await bob.get('/api/versions/docs/a?type=shared')).versions, []);
		await write('docs/a', 'changed');
		t.deepEqual(await contents('docs/a'), ['another']);
		const ownerId = (await users.find('ada'))?.id ?? '';
		t.true(await versions.hasWithin(ownerId, parsePath(':trash')));
		await call('DELETE', '/api/trash', undefined);
		const items = async () => (await trash.count(ownerId, 'version')).items;
		await until('only those of the other files are left', async () => (await items()) === 2);
		t.deepEqual(await contents('docs/a'), ['another']);
	});
}

/** Lets another process hold the right to move files of ada with versions, until the returned function is called. */
async function holdMoves({
	services,
}: TestApp): Promise<{ ownerId: string; release(): Promise<void>; isAsked(): Promise<boolean> }> {
	const { leases, users } = services.database;
	const ownerId = (await users.find('ada'))?.id ?? '';
	const name = `versions ${ownerId}`;
	const lease = await leases.acquire(name, 'another process', 60_000);
	if (lease === undefined) throw new Error('Something is being moved.');
	return {
		ownerId,
		release: () => leases.release(lease),
		isAsked: async () => (await leases.find(name))?.isRequested === true,
	};
}

test('versions are not used by paths that an interrupted move has left while another process holds up its completion', async (t) => {
	const { app, ada, home, call, write, contents } = await setUp(t);
	await write('docs/a', 'private', 'two');
	await write('other', 'one', 'two');
	const recover = failAfterMoves(app, { disk: false, database: true });
	await call('POST', '/api/renameItem', { oldPath: 'docs', newName: 'former', type });
	const { release } = await holdMoves(app);
	recover();
	await call('POST', '/api/createFolder', { directory: '', folderName: 'docs', type });
	await write('docs/a', 'another');
	const changed = [field('directory', 'docs'), field('onConflict', 'replace'), file('a', 'changed')];
	const refused = await Promise.all([
		ada.get(`/api/versions/docs/a?type=${type}`),
		ada.upload('/api/upload', changed),
		ada.call('DELETE', '/api/deleteItem', { filePath: 'former', type, permanent: true }),
	]);
	t.deepEqual(
		refused.map(({ statusCode }) => statusCode),
		[423, 423, 423],
	);
	t.deepEqual((await readdir(home)).sort(), ['Public', 'docs', 'former', 'other']);
	// Nothing else is held up.
	await write('other', 'three');
	t.deepEqual(await contents('other'), ['two', 'one']);
	t.deepEqual(await contents('former/a'), ['private']);
	await release();
	await write('docs/a', 'changed');
	t.deepEqual(await contents('docs/a'), ['another']);
	t.deepEqual(await contents('former/a'), ['private']);
});

test('a file that was moved where another process holds up the completion is not replaced, or its versions would be those of its former path', async (t) => {
	const { app, ada, call, write, contents } = await setUp(t);
	await write('a', 'private', 'two');
	const recover = failAfterMoves(app, { disk: false, database: true });
	await call('POST', '/api/renameItem', { oldPath: 'a', newName: 'former', type });
	const { release } = await holdMoves(app);
	recover();
	const changed = [field('directory', ''), field('onConflict', 'replace'), file('former', 'changed')];
	t.is((await ada.upload('/api/upload', changed)).statusCode, 423);
	await release();
	await write('former', 'changed');
	await write('a', 'another');
	t.deepEqual(await contents('a'), []);
	t.deepEqual(await contents('former'), ['two', 'private']);
});

test('an interrupted move is completed later where the database was full as it should have been', async (t) => {
	const { app, ada, call, write, contents } = await setUp(t);
	const { versions } = app.services.database;
	await write('docs/a', 'private', 'two');
	const recover = failAfterMoves(app, { disk: false, database: true });
	await call('POST', '/api/renameItem', { oldPath: 'docs', newName: 'former', type });
	recover();
	const move = versions.move;
	versions.move = async () => {
		throw new Failure('storageFull', 'full');
	};
	t.is((await ada.get(`/api/versions/docs/a?type=${type}`)).statusCode, 404);
	await write('other', 'one', 'two');
	versions.move = move;
	await call('POST', '/api/createFolder', { directory: '', folderName: 'docs', type });
	await write('docs/a', 'another');
	t.deepEqual(await contents('docs/a'), []);
	t.deepEqual(await contents('former/a'), ['private']);
});

test('a folder without versions gets the name of one that was moved where that was interrupted', async (t) => {
	const { app, call, write, contents } = await setUp(t);
	await write('docs/a', 'private', 'two');
	const recover = failAfterMoves(app, { disk: false, database: true });
	await call('POST', '/api/renameItem', { oldPath: 'docs', newName: 'former', type });
	recover();
	await call('POST', '/api/createFolder', { directory: '', folderName: 'new', type });
	await write('new/a', 'another');
	await call('POST', '/api/renameItem', { oldPath: 'new', newName: 'docs', type });
	t.deepEqual(await contents('docs/a'), []);
	t.deepEqual(await contents('former/a'), ['private']);
});

test('a move by a process that loses the right to it before it sets the paths of versions where nobody has', async (t) => {
	const clock = { jump: 0 };
	const { app, ada, write, contents } = await setUp(t, {}, { monotonic: () => performance.now() + clock.jump });
	const { versions, users, leases, keyValues } = app.services.database;
	const ownerId = (await users.find('ada'))?.id ?? '';
	await write('docs/a', 'private', 'two');
	const { storage } = app.services.roots.first;
	const move = storage.move.bind(storage);
	storage.move = (from, to, options) => {
		storage.move = move;
		const beforeNaming = async (name: string) => {
			await options?.beforeNaming?.(name);
			clock.jump = 3_600_000;
			// As another process has found it where it is still, which had the right by then.
			await keyValues('version-moves').remove(ownerId);
			await leases.revoke(`versions ${ownerId}`);
		};
		return move(from, to, { ...options, beforeNaming });
	};
	await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'former', type });
	t.true(await versions.hasWithin(ownerId, parsePath('former')));
	t.deepEqual(await contents('former/a'), ['private']);
});

test('a move by a process that loses the right to it meanwhile leaves the paths of versions to others', async (t) => {
	const clock = { jump: 0 };
	const { app, ada, call, write, contents } = await setUp(t, {}, { monotonic: () => performance.now() + clock.jump });
	const { versions, users, leases, keyValues } = app.services.database;
	const ownerId = (await users.find('ada'))?.id ?? '';
	await write('docs/a', 'private', 'two');
	const { storage } = app.services.roots.first;
	const move = storage.move.bind(storage);
	storage.move = async (from, to, options) => {
		const moved = await move(from, to, options);
		storage.move = move;
		clock.jump = 3_600_000;
		// As another process completes it, which has the right now.
		await leases.revoke(`versions ${ownerId}`);
		await leases.acquire(`versions ${ownerId}`, 'another process', 600_000);
		await versions.move(ownerId, parsePath('docs'), parsePath('former'));
		await keyValues('version-moves').remove(ownerId);
		await call('POST', '/api/createFolder', { directory: '', folderName: 'docs', type });
		await write('docs/a', 'another', 'its own');
		return moved;
	};
	await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'former', type });
	t.true(await versions.hasWithin(ownerId, parsePath('docs')));
	t.deepEqual(await contents('docs/a'), ['another']);
	t.deepEqual(await contents('former/a'), ['private']);
});

test('what is chosen to be removed from the trash stays there until its versions have its path, and takes them with it', async (t) => {
	const { app, call, write, onDisk } = await setUp(t);
	const { trashBin, database } = app.services;
	await write('docs/a', 'one', 'two');
	await write('b', 'one');
	const recover = failAfterMoves(app, { disk: false, database: true });
	await call('DELETE', '/api/deleteItem', { filePath: 'docs', type });
	const { release } = await holdMoves(app);
	recover();
	await call('DELETE', '/api/deleteItem', { filePath: 'b', type });
	await call('DELETE', '/api/trash', undefined);
	await trashBin.removePurged();
	const [left, ...others] = await database.trash.inState('purging', { limit: 9 });
	t.like(left, { path: 'docs' });
	t.deepEqual(others, []);
	t.is((await onDisk()).length, 2);
	await release();
	await trashBin.removePurged();
	t.deepEqual(await onDisk(), []);
});

test('what an interrupted move leads to is moved on once that is completed, and takes its versions with it', async (t) => {
	const { app, ada, home, call, write, contents } = await setUp(t);
	const { versions } = app.services.database;
	await write('docs/a', 'one', 'two');
	const recover = failAfterMoves(app, { disk: false, database: true });
	await call('POST', '/api/renameItem', { oldPath: 'docs', newName: 'former', type });
	const { ownerId, release, isAsked } = await holdMoves(app);
	recover();
	const moving = ada.post('/api/renameItem', { oldPath: 'former', newName: 'last', type });
	await until('it waits', isAsked);
	t.true((await readdir(home)).includes('former'));
	await release();
	t.is((await moving).statusCode, 200);
	const within = (name: string) => versions.hasWithin(ownerId, parsePath(name));
	t.deepEqual([await within('last/a'), await within('former'), await within('docs')], [true, false, false]);
	t.deepEqual(await contents('last/a'), ['one']);
});

test('a home is not copied to another root where a move of files with versions can’t be completed', async (t) => {
	const { app, ada, write } = await setUp(t);
	const { rootAdministration, homeMoves, jobs, accounts, roots } = app.services;
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	await rootAdministration.add('big', 'local', path.join(disk, 'root'));
	await write('docs/a', 'one', 'two');
	const recover = failAfterMoves(app, { disk: false, database: true });
	await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'former', type });
	const { storage } = roots.first;
	const open = storage.open.bind(storage);
	let read = 0;
	storage.open = (at) => {
		read++;
		return open(at);
	};
	const job = await homeMoves.start('ada', 'big');
	const owner = { ...(await accounts.find('ada')), kind: 'user' as const };
	t.like(await jobs.waitForEnd(owner, job.id, 5 * 60_000), { status: 'failed' });
	t.is(read, 0);
	recover();
});

test('versions of what was removed from the trash by a process that ended just after it end with later sweeps', async (t) => {
	const clock = { ms: Date.now() };
	const { app, call, write, onDisk } = await setUp(t, {}, { now: () => clock.ms });
	const { database, trashBin } = app.services;
	await write('docs/a', 'one', 'two');
	await call('DELETE', '/api/deleteItem', { filePath: 'docs', type });
	failOnce(database.versions, 'beginPurging');
	await call('DELETE', '/api/trash', undefined);
	await until('the folder is gone', async () => {
		await trashBin.removePurged();
		return (await onDisk()).length === 1;
	});
	clock.ms += 2 * day;
	for (let sweeps = 0; sweeps < 2; sweeps++) await trashBin.sweep();
	t.deepEqual(await onDisk(), []);
	t.deepEqual(await database.trash.inState('purging', { limit: 9 }), []);
});

test('a move that goes on is completed by nobody else, as the disk may undo it', async (t) => {
	const { app, ada, write, contents } = await setUp(t);
	await write('docs/a', 'one', 'two');
	const { storage } = app.services.roots.first;
	const move = storage.move.bind(storage);
	storage.move = async (from, to, options) => {
		const moved = await move(from, to, options);
		if (!from.endsWith('docs')) return moved;
		// A replacement completes what was interrupted.
		await write('former/b', 'content', 'another');
		await move(to, from);
		throw new Failure('unavailable', 'undone');
	};
	t.is((await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'former', type })).statusCode, 503);
	storage.move = move;
	const { versions, users } = app.services.database;
	const owner = (await users.find('ada'))?.id ?? '';
	t.true(await versions.hasWithin(owner, parsePath('docs/a')));
	t.false(await versions.hasWithin(owner, parsePath('former/a')));
	t.deepEqual(await contents('docs/a'), ['one']);
});

test('a version is only given for its own file and to its owner', async (t) => {
	const { app, ada, write, list, read } = await setUp(t);
	await write('a', 'secret', 'two');
	await write('b', 'one', 'two');
	const [ofA] = await list('a');
	const bob = await new Client(app).register('bob');
	await bob.upload('/api/upload', [file('a', 'bobs')]);
	const restore = (client: Client, filePath: string, id: unknown) =>
		client.post('/api/versions/restore', { filePath, type, id });
	t.is((await ada.get(`/api/download/b?type=private&version=${ofA?.id}`)).statusCode, 404);
	t.is((await bob.get(`/api/download/a?type=private&version=${ofA?.id}`)).statusCode, 404);
	t.is((await restore(ada, 'b', ofA?.id)).statusCode, 404);
	t.is((await restore(bob, 'a', ofA?.id)).statusCode, 404);
	t.is((await bob.call('DELETE', `/api/versions/${ofA?.id}`)).statusCode, 404);
	t.is((await restore(ada, 'docs', ofA?.id)).statusCode, 404);
	t.is((await restore(ada, 'a', 'x')).statusCode, 400);
	t.is((await ada.get('/api/versions/docs?type=private')).statusCode, 404);
	t.is((await ada.get('/api/versions/none?type=private')).statusCode, 404);
	// By the ways of the trash it is not reached either.
	t.is(json(await ada.post('/api/trash/restore', { ids: [ofA?.id] })).failed.length, 1);
	t.is((await ada.call('DELETE', `/api/trash/${ofA?.id}`)).statusCode, 404);
	t.is(await read('a'), 'two');
	t.is((await list('a')).length, 1);
});

test('links to a file work on when it is replaced and when a version is restored', async (t) => {
	const { app, ada, call, write, list, restore } = await setUp(t);
	await write('docs/a', 'one');
	const { token } = await call('POST', '/api/generateTempLink', { filePath: 'docs/a', expiration: '1h' });
	const follow = async () => (await new Client(app).get(`/api/temp/${token}`)).payload;
	t.is(await follow(), 'one');
	await write('docs/a', 'two');
	t.is(await follow(), 'two');
	await restore('docs/a', (await list('docs/a'))[0]?.id ?? '');
	t.is(await follow(), 'one');
	await call('POST', '/api/renameItem', { oldPath: 'docs/a', newName: 'b', type });
	t.is(await follow(), 'one');
	await write('docs/taken', 'taken');
	t.is((await ada.post('/api/renameItem', { oldPath: 'docs/b', newName: 'taken', type })).statusCode, 409);
	await write('docs/b', 'three');
	t.is(await follow(), 'three', 'also after a rename that has failed');
});

test('the trash and quotas count versions, which give way before what was deleted', async (t) => {
	const { app, ada, call, write, contents, settled } = await setUp(t, { '--quotas-user-bytes': '1000' });
	const { database, trashBin } = app.services;
	await write('a', 'x'.repeat(100), 'y'.repeat(200));
	await write('deleted', 'z'.repeat(300));
	await call('DELETE', '/api/deleteItem', { filePath: 'deleted', type });
	await write('a', 'w'.repeat(150));
	await settled();
	t.is(json(await ada.get('/api/trash')).size, 300, 'what is deleted');
	t.is((await trashBin.totals({})).bytes, 600);
	// 750 bytes are in use.
	await write('b', 'b'.repeat(300));
	t.deepEqual(
		(await contents('a')).map((text) => text.length),
		[200],
		'the oldest version has given way',
	);
	t.is(json(await ada.get('/api/trash')).entries.length, 1);
	const tooLarge = await ada.upload('/api/upload', [field('directory', ''), file('c', 'c'.repeat(900))]);
	t.is(tooLarge.statusCode, 507);
	t.is((await database.trash.totals({})).entries, 2, 'nothing gives way in vain');
	await write('c', 'c'.repeat(500));
	t.is((await database.trash.totals({})).entries, 0, 'both were needed');
});

test('without versions a replaced file is gone at once, and its bytes are free', async (t) => {
	const { app, ada, write, list, onDisk } = await setUp(t, {
		'--versions-keep-for': '0',
		'--quotas-user-bytes': '1000',
	});
	await write('a', 'x'.repeat(400), 'y'.repeat(400), 'z'.repeat(400));
	t.deepEqual(await list('a'), []);
	t.deepEqual(await onDisk(), []);
	t.is(json(await ada.get('/api/capabilities')).versionsKeepFor, 0);
	await write('b', 'b'.repeat(600));
	t.is((await app.services.database.trash.totals({})).entries, 0);
});

test('versions expire by their own setting, which can change while the server runs', async (t) => {
	const clock = { ms: Date.now() };
	const { app, ada, call, write, list } = await setUp(
		t,
		{ '--versions-keep-for': '2 days' },
		{ now: () => clock.ms, monotonic: () => clock.ms },
	);
	const { trashBin, config } = app.services;
	await write('a', 'one', 'two');
	await write('gone', 'x');
	await call('DELETE', '/api/deleteItem', { filePath: 'gone', type });
	clock.ms += day;
	await write('a', 'three');
	clock.ms += day;
	await trashBin.sweep();
	t.is((await list('a')).length, 1);
	t.is(json(await ada.get('/api/trash')).entries.length, 1);
	config.versions.keepFor = 0;
	await trashBin.sweep();
	t.is((await app.services.database.trash.totals({ kind: 'version' })).entries, 0);
	t.is(json(await ada.get('/api/trash')).entries.length, 1);
});

test('of many versions the one that is closest to its neighbours in time goes, never the first or the last', async (t) => {
	const left = async (times: readonly number[], most: number) => {
		const versions = times.map((deletedAt) => ({ deletedAt }));
		const removed = (await superfluous(versions, most)).map(({ deletedAt }) => deletedAt);
		return times.filter((time) => !removed.includes(time));
	};
	t.deepEqual(await left([1, 2, 3], 3), [1, 2, 3]);
	t.deepEqual(await left([0, 10, 11, 20, 30], 4), [0, 10, 20, 30]);
	t.deepEqual(await left([0, 10, 11, 20, 30], 3), [0, 20, 30]);
	t.deepEqual(await left([0, 1, 2, 3, 100], 2), [0, 100]);
	t.deepEqual(await left([100, 3, 2, 1, 0], 2), [100, 0], 'in any order');
	// As by looking for the closest one each time.
	let seed = 7;
	const times = Array.from({ length: 200 }, () => {
		seed = (seed * 48_271) % 2_147_483_647;
		return seed % 5_000;
	}).sort((one, other) => one - other);
	for (let most = 199; most > 2; most -= 28) {
		const kept = times.map((time, at) => ({ time, at }));
		while (kept.length > most) {
			const gaps = kept.map((_, at) => (kept[at + 1]?.time ?? Infinity) - (kept[at - 1]?.time ?? -Infinity));
			kept.splice(gaps.indexOf(Math.min(...gaps)), 1);
		}
		const all = times.map((deletedAt, at) => ({ deletedAt, at }));
		const removed = await superfluous(all, most);
		t.deepEqual(
			all.filter((each) => !removed.includes(each)).map(({ at }) => at),
			kept.map(({ at }) => at),
		);
	}
});

test('of very many versions of one file those that go are found by few steps, between which others have their turn', async (t) => {
	const count = 50_000;
	let [reads, turns, isDone] = [0, 0, false];
	const versions = Array.from({ length: count }, (_, n) => ({
		get deletedAt() {
			reads++;
			return (n * n) % 1_000_003;
		},
	}));
	const others = (async () => {
		for (; !isDone; turns++) await turn();
	})();
	const removed = await superfluous(versions, 50);
	isDone = true;
	await others;
	t.is(removed.length, count - 50);
	t.true(reads < 100 * count, `${reads}`);
	t.true(turns > 1, `${turns}`);
});

/** Versions as they follow each other, by the member who is known to have written each: `-` where none is. */
const writtenBy = (names: string) =>
	[...names].map((name, deletedAt) => ({ deletedAt, ...(name === '-' ? {} : { writtenBy: name }) }));

test('a replacement by a member ends no content but those that this member is known to have written', async (t) => {
	const left = async (names: string, most: number, thinning?: Parameters<typeof superfluous>[2]) => {
		const versions = writtenBy(names);
		const removed = await superfluous(versions, most, thinning);
		return [...names].map((name, at) => (removed.some(({ deletedAt }) => deletedAt === at) ? '' : name)).join('');
	};
	t.is(await left('--bbbbb', 4, { member: 'b' }), '--bb');
	t.is(await left('-b-b-bb', 2, { member: 'b' }), '---b');
	t.is(await left('---ccbbb', 2, { member: 'b' }), '---ccb');
	t.is(await left('----------', 2, { member: 'b' }), '----------');
	t.is((await left('---ccbbb', 2)).length, 2, 'by the owner');
	t.is(await left('---ccbbb', 4), '--cb', 'what members have added goes first');
	t.is(await left('----------', 4, { least: 8 }), '---------'.slice(1), 'no more at once than that');
});

test('members who take turns in replacing a file make no more than four times as many versions, and end none of the owner’s', async (t) => {
	let versions: { writtenBy?: string; deletedAt: number }[] = [];
	for (let time = 0; time < 300; time++) {
		const member = ['b', 'c'][time % 2] ?? '';
		versions.push({ deletedAt: time, ...(time < 5 ? {} : { writtenBy: ['b', 'c'][(time + 1) % 2] ?? '' }) });
		const removed = await superfluous(versions, 5, { member: time < 5 ? undefined : member });
		versions = versions.filter((each) => !removed.includes(each));
		t.true(versions.length <= 20);
	}
	const times = versions.map(({ deletedAt }) => deletedAt);
	t.deepEqual(times.slice(0, 5), [0, 1, 2, 3, 4], 'what the owner has replaced, and written');
	t.is(times.at(-1), 299);
});

test('members go on with a file whose former contents are of nobody known, as older servers have left them', async (t) => {
	let versions: { writtenBy?: string; deletedAt: number }[] = [];
	for (let deletedAt = 0; deletedAt < 20; deletedAt++) versions.push({ deletedAt });
	for (let time = 20; time < 200; time++) {
		const member = time % 2 === 0 ? 'b' : 'c';
		const former = time % 2 === 0 ? 'c' : 'b';
		versions.push({ deletedAt: time, ...(time === 20 ? {} : { writtenBy: former }) });
		const removed = await superfluous(versions, 5, { member });
		versions = versions.filter((each) => !removed.includes(each));
		t.true(versions.length <= 22, `${versions.length}`);
	}
	t.deepEqual(
		versions.slice(0, 21).map(({ deletedAt }) => deletedAt),
		Array.from({ length: 21 }, (_, n) => n),
	);
});

test('of the versions of a user few are looked up at the same time, however many lists are asked for', async (t) => {
	const rows = Array.from({ length: 50 }, (_, n) => ({ id: `${n}`, rootId: 'root', path: 'a' }));
	let [now, most] = [0, 0];
	const stat = async () => {
		most = Math.max(most, ++now);
		await turn();
		now--;
		return {};
	};
	const parts = {
		config: { versions: { keepFor: 1 } },
		versions: { hasAny: async () => true, unfinished: async () => [], of: async () => rows },
		moves: { get: async () => undefined },
		storage: () => ({ mounts: () => [{ storage: { rootId: 'root', stat } }] }),
	} as unknown as TrashParts;
	const versions = new Versions(parts, {} as never);
	const item = { id: '1', mayReuseId: false } as never;
	const lists = await Promise.all(Array.from({ length: 20 }, () => versions.list('ada', parsePath('a'), item)));
	t.true(lists.every((list) => list.length === 50));
	t.true(most <= 16, `${most}`);
});

/** Has the database's disk refuse what is asked for, in bytes, until it gives room. */
function refuseRoom({ services: { databaseReserve } }: Pick<TestApp, 'services'>): {
	asked: number[];
	giveRoom(): void;
} {
	const asked: number[] = [];
	const { assertRoom } = databaseReserve;
	databaseReserve.assertRoom = async (bytes) => {
		asked.push(bytes);
		throw new Failure('storageFull', 'There is not enough free space on the disk of the database.');
	};
	return {
		asked,
		giveRoom() {
			databaseReserve.assertRoom = assertRoom;
		},
	};
}

test('nothing is replaced whose former content would take the last room of the database', async (t) => {
	const { app, ada, call, read, write, list, contents, onDisk } = await setUp(t);
	await write('docs/a', 'one', 'two');
	const [version] = await list('docs/a');
	const { asked, giveRoom } = refuseRoom(app);
	const parts = [field('directory', 'docs'), field('onConflict', 'replace'), file('a', 'three')];
	const answer = await ada.upload('/api/upload', parts);
	t.is(answer.statusCode, 507);
	t.is(json(answer).message, 'There is not enough free space on the disk of the database.');
	const restored = await ada.post('/api/versions/restore', { filePath: 'docs/a', type, id: version?.id });
	t.is(restored.statusCode, 507);
	t.true(asked.length === 2 && asked.every((bytes) => bytes > 4 * 'docs/a'.length), `${asked}`);
	t.is(await read('docs/a'), 'two');
	t.deepEqual(await contents('docs/a'), ['one']);
	t.is((await onDisk()).length, 1);
	await call('POST', '/api/createFile', { directory: 'docs', fileName: 'new.txt', type });
	t.is(asked.length, 2, 'what replaces nothing asks for none');
	giveRoom();
	await call('POST', '/api/versions/restore', { filePath: 'docs/a', type, id: version?.id });
	t.deepEqual([await read('docs/a'), await contents('docs/a')], ['one', ['two']]);
});

test('a folder is not moved where the longer paths of its versions would take the last room of the database', async (t) => {
	const { app, ada, call, write, contents } = await setUp(t);
	await write('docs/a', 'one', 'two');
	const names = ['x', 'y'].map((name) => name.repeat(120));
	for (const [level, folderName] of names.entries())
		await call('POST', '/api/createFolder', { directory: names.slice(0, level).join('/'), folderName, type });
	const { asked, giveRoom } = refuseRoom(app);
	const move = (fromPath: string, toPath: string) => ada.post('/api/moveItem', { fromPath, toPath, type });
	const deep = `${names.join('/')}/docs`;
	t.is((await move('docs', deep)).statusCode, 507);
	t.true(asked.length === 1 && asked.every((bytes) => bytes >= 4 * (deep.length - 4)), `${asked}`);
	t.deepEqual(await contents('docs/a'), ['one']);
	t.is((await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'papers', type })).statusCode, 200);
	t.is(asked.length, 1, 'short paths need no room');
	giveRoom();
	t.is((await move('papers', deep)).statusCode, 200);
	t.deepEqual(await contents(`${deep}/a`), ['one']);
});

test('a file with versions is put back where its path is long also while the database has little room', async (t) => {
	const { app, ada, call, write, contents } = await setUp(t);
	const names = ['x', 'y'].map((name) => name.repeat(120));
	for (const [level, folderName] of names.entries())
		await call('POST', '/api/createFolder', { directory: names.slice(0, level).join('/'), folderName, type });
	const deep = `${names.join('/')}/a`;
	await write(deep, 'one', 'two');
	const { trashId } = await call('DELETE', '/api/deleteItem', { filePath: deep, type });
	refuseRoom(app);
	const answer = await ada.post('/api/trash/restore', { ids: [trashId] });
	t.deepEqual(json(answer), { restored: [{ id: trashId, path: deep }], failed: [] });
	t.deepEqual(await contents(deep), ['one']);
	t.is((await ada.post('/api/renameItem', { oldPath: deep, newName: 'a longer one', type })).statusCode, 507);
});

test('versions that follow a folder into one that is very deep take no more of the database than a user may have', async (t) => {
	const { app } = await setUp(t);
	const { database, trashBin, storage } = app.services;
	const ownerId = (await database.users.find('ada'))?.id ?? '';
	const { rootId } = (await storage.home('ada').mount()).storage;
	const recordOf = (n: number, folder: string): FileVersion => ({
		...{ kind: 'version', id: n.toString(16).padStart(32, '0'), ownerId, ownerName: 'ada', rootId, type: 'file' },
		...{ path: parsePath(`${folder}/${n}`), size: { bytes: 1, entries: 1 }, deletedAt: n, deletedBy: 'ada' },
		...{ state: 'kept', mtime: 1, versionOf: `file-${n}`, replacedId: `was-${n}` },
	});
	await database.trash.addMissing(Array.from({ length: 1_300 }, (_, n) => recordOf(n, 'docs')));
	const other = recordOf(2_000, 'other');
	await database.trash.add(other);
	const deep = parsePath(Array(950).fill('d'.repeat(62)).join('/'));
	const paths = new VersionPaths({ versions: database.versions } as TrashParts, trashBin, async () => {});
	const { storage: disk } = app.services.roots.first;
	const stat = disk.stat.bind(disk);
	let answer = () => {};
	const isAnswering = new Promise<void>((resolve) => {
		answer = resolve;
	});
	disk.stat = async (at) => {
		await isAnswering;
		return stat(at);
	};
	await paths.moved(ownerId, parsePath('docs'), deep, undefined);
	const { items, pathBytes } = await database.trash.count(ownerId, 'version');
	t.true(pathBytes < 72 * 1024 ** 2 && pathBytes > 56 * 1024 ** 2, `${items} with ${pathBytes} bytes`);
	const purging = await database.trash.inState('purging', { limit: 2_000 });
	t.is(purging.length, 1_300 - items + 1, 'the others wait for a disk that does not answer, and the move did not');
	t.true(
		purging.every(({ path }) => path === ''),
		'and take little room until then',
	);
	answer();
	await until('they are removed', async () => (await database.trash.inState('purging', { limit: 1 })).length === 0);
	t.is((await database.trash.get(other.id))?.state, 'kept');
});

test('a file has no more than 50 versions', async (t) => {
	const clock = { ms: Date.now() };
	const { write, contents, list, onDisk } = await setUp(t, {}, { now: () => clock.ms });
	await write('a', 'first');
	for (let n = 1; n <= 55; n++) {
		clock.ms += n < 40 ? 1_000 : 60_000;
		await write('a', `content ${n}`);
	}
	t.is((await list('a')).length, 50);
	const kept = await contents('a');
	t.is(kept.at(-1), 'first');
	t.is(kept[0], 'content 54');
	t.true(kept.includes('content 45'));
	await until('the others are removed', async () => (await onDisk()).length === 50);
});

test('of many uploads of one name at once each content is the file or among its versions', async (t) => {
	const { write, contents, read, restore, list } = await setUp(t);
	await write('a', 'content 0');
	await Promise.all(Array.from({ length: 20 }, (_, n) => write('a', `content ${n + 1}`)));
	const [first] = await list('a');
	await restore('a', first?.id ?? '');
	t.deepEqual(
		[await read('a'), ...(await contents('a'))].sort(),
		Array.from({ length: 21 }, (_, n) => `content ${n}`).sort(),
	);
});

/** Lets a call of a store fail once. */
function failOnce<Key extends string>(
	store: { [key in Key]: (...args: never[]) => Promise<unknown> },
	name: Key,
): void {
	const method = store[name];
	Object.assign(store, {
		[name]: async () => {
			Object.assign(store, { [name]: method });
			throw new Error('the process ends here');
		},
	});
}

test('a version that was not bound to its file any more, as after a crash, is found and bound later', async (t) => {
	const clock = { ms: Date.now() };
	const { app, call, write, contents, settled } = await setUp(t, {}, { now: () => clock.ms });
	const { database, trashBin } = app.services;
	const { token } = await (async () => {
		await write('docs/a', 'one');
		return call('POST', '/api/generateTempLink', { filePath: 'docs/a', expiration: '1h' });
	})();
	const follow = async () => (await new Client(app).get(`/api/temp/${token}`)).payload;
	for (const [interrupted, how] of [
		[{ store: database.versions, name: 'bind' }, 'list'],
		[{ store: database.versions, name: 'bind' }, 'sweep'],
		[{ store: database.links, name: 'rebind' }, 'sweep'],
	] as const) {
		clock.ms += 1_000;
		await write('docs/a', 'before');
		clock.ms += 1_000;
		await settled();
		const former = await contents('docs/a');
		failOnce(interrupted.store as never, interrupted.name as never);
		await write('docs/a', `after ${how}`);
		if (how === 'sweep') {
			// Meanwhile it is moved.
			await call('POST', '/api/renameItem', { oldPath: 'docs', newName: 'papers', type });
			clock.ms += 2 * 60_000;
			await trashBin.sweep();
			await settled();
			await call('POST', '/api/renameItem', { oldPath: 'papers', newName: 'docs', type });
		}
		t.deepEqual(await contents('docs/a'), ['before', ...former], `${interrupted.name}, ${how}`);
		t.is(await follow(), `after ${how}`, interrupted.name);
	}
});

test('a version whose file is gone when it is completed becomes an item of the trash, with the older ones', async (t) => {
	const clock = { ms: Date.now() };
	const { app, ada, home, call, read, write, settled } = await setUp(t, {}, { now: () => clock.ms });
	const { database, trashBin } = app.services;
	await write('docs/a', 'one', 'two');
	await settled();
	clock.ms += 1_000;
	failOnce(database.versions, 'bind');
	await write('docs/a', 'three');
	await rename(path.join(home, 'docs/a'), path.join(app.dataDir, 'moved by another program'));
	clock.ms += 2 * 60_000;
	await trashBin.sweep();
	const { entries } = json(await ada.get('/api/trash'));
	t.deepEqual(
		entries.map((entry: { path: string }) => entry.path),
		['docs/a', 'docs/a'],
	);
	await call('POST', '/api/trash/restore', { ids: entries.map(({ id }: { id: string }) => id) });
	t.deepEqual([await read('docs/a'), await read('docs/a (1)')], ['two', 'one']);
});

test('a replacement that did not take place leaves no version', async (t) => {
	const { app, ada, write, contents, onDisk } = await setUp(t);
	const { database } = app.services;
	await write('a', 'one', 'two');
	const answer = await ada.upload('/api/upload', [
		field('directory', ''),
		field('onConflict', 'replace'),
		field('ifMatch', '"another"'),
		file('a', 'three'),
	]);
	t.is(answer.statusCode, 412);
	failOnce(database.trash, 'add');
	const failed = await ada.upload('/api/upload', [
		field('directory', ''),
		field('onConflict', 'replace'),
		file('a', '3'),
	]);
	t.is(failed.statusCode, 500);
	t.deepEqual(await contents('a'), ['one']);
	t.is((await onDisk()).length, 1);
	t.is((await database.trash.totals({})).entries, 1);
	// A row of a process that ended before the exchange.
	const record = await database.trash.list({ order: 'oldest', limit: 1 });
	t.is(record.length, 1);
});

test('a copy over a file counts a version once it replaces it, and none where it is refused or stopped before', async (t) => {
	const { app, home, write, contents } = await setUp(t);
	const { database, files, roots } = app.services;
	await write('a', 'one');
	await write('b', 'two');
	const owner = await database.users.find('ada');
	const viewer = { kind: 'user', id: String(owner?.id), username: 'ada' } as const;
	const entries = async () => (await database.trash.totals({})).entries;
	const copy = (options: Parameters<typeof files.copy>[3] = {}) => {
		const [from, to] = ['b', 'a'].map((name) => ({ area: type, path: parsePath(name) }) as const);
		return files.copy(viewer, from as ItemRef, to as ItemRef, { onConflict: { kind: 'replace' }, ...options });
	};
	const stops = [
		new Failure('storageFull', 'The disk is full.'),
		new Failure('unavailable', 'The disk is away.'),
		new Error('It was stopped.'),
	];
	for (const stop of stops) {
		const beforeItem = async () => {
			t.is(await entries(), 0);
			throw stop;
		};
		t.is(await t.throwsAsync(copy({ beforeItem })), stop as Error);
		t.is(await entries(), 0);
	}

	// Once there is a row.
	const { storage } = roots.first;
	const plain = storage.copy;
	for (const stop of stops) {
		storage.copy = async (_from, _to, { beforeNaming } = {}) => {
			await beforeNaming?.('a');
			t.is(await entries(), 1);
			throw stop;
		};
		t.is(await t.throwsAsync(copy()), stop as Error);
		t.is(await entries(), 0, 'the file is still there');
	}
	storage.copy = async (_from, _to, { beforeNaming } = {}) => {
		await beforeNaming?.('a');
		await rename(path.join(home, 'a'), path.join(home, 'held back'));
		throw new Failure('unavailable', 'The disk is away.');
	};
	await t.throwsAsync(copy());
	t.is(await entries(), 1, 'the disk may hold it back');
	await rename(path.join(home, 'held back'), path.join(home, 'a'));
	await database.trash.remove((await database.trash.inState('moving', { limit: 9 })).map(({ id }) => id));
	storage.copy = plain;
	await copy();
	t.is(await entries(), 1);
	t.deepEqual(await contents('a'), ['one']);
});

test('versions go with the home to another root, and are restored there', async (t) => {
	const { app, call, read, write, contents, list, restore, settled } = await setUp(t);
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	// The server still writes there for a moment.
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	const { rootAdministration, homeMoves, jobs, accounts } = app.services;
	await rootAdministration.add('big', 'local', path.join(disk, 'root'));
	await write('docs/a', 'one', 'two', 'three');
	await write('docs/trashed', 'four', 'five');
	await settled();
	const { trashId } = await call('DELETE', '/api/deleteItem', { filePath: 'docs/trashed', type });
	const { token } = await call('POST', '/api/generateTempLink', { filePath: 'docs/a', expiration: '1h' });
	const job = await homeMoves.start('ada', 'big');
	const owner = { ...(await accounts.find('ada')), kind: 'user' as const };
	t.like(await jobs.waitForEnd(owner, job.id, 5 * 60_000), { status: 'completed' });
	const onRoot = async (root: string) =>
		(await readdir(path.join(root, '.stowage/trash'))).filter((name) => /^[0-9a-f]{32}$/.test(name)).length;
	t.is(await onRoot(app.filesDir), 0);
	t.is(await onRoot(path.join(disk, 'root')), 4);
	t.deepEqual(await contents('docs/a'), ['two', 'one']);
	await restore('docs/a', (await list('docs/a'))[1]?.id ?? '');
	t.is(await readFile(path.join(disk, 'root/users/ada/docs/a'), 'utf8'), 'one');
	await t.throwsAsync(read('docs/a'));
	t.deepEqual(await contents('docs/a'), ['three', 'two']);
	t.is((await new Client(app).get(`/api/temp/${token}`)).payload, 'one');
	await call('POST', '/api/trash/restore', { ids: [trashId] });
	t.deepEqual(await contents('docs/trashed'), ['four']);
});

test('versions that the database does not know are recovered by the notes, as items of the trash if their file is not there', async (t) => {
	const { app, ada, call, write, contents, settled } = await setUp(t);
	const { database, roots, storage } = app.services;
	await write('docs/a', 'one', 'two', 'three');
	await write('docs/b', 'four', 'five');
	await settled();
	await call('POST', '/api/renameItem', { oldPath: 'docs/b', newName: 'c', type });
	const folder = path.join(app.filesDir, '.stowage/trash');
	const noted = async () => {
		const names = (await readdir(folder)).filter((name) => name.startsWith('notes-'));
		const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
		return texts.join('').trim().split('\n').length;
	};
	await until('all are noted', async () => (await noted()) === 3);
	const all = await database.trash.list({ order: 'oldest', limit: 9 });
	await database.trash.remove(all.map(({ id }) => id));
	t.deepEqual(await contents('docs/a'), []);
	const stores = { store: database.trash, users: database.users, storage };
	t.deepEqual(await recoverTrash(stores, roots.first), {
		recovered: 3,
		unknown: [],
		withoutAccount: [],
		given: new Map(),
	});
	t.deepEqual((await contents('docs/a')).sort(), ['one', 'two']);
	t.deepEqual(
		json(await ada.get('/api/trash')).entries.map(({ path: was }: { path: string }) => was),
		['docs/b'],
	);
});

test('room on the disk is made by versions before what was deleted', async (t) => {
	const { app, ada, call, write, list, settled } = await setUp(t, { '--uploads-free-space-reserve': '1000' });
	let free = async () => 10_000;
	// From the beginning: while there is plenty of room, it is not asked for each time.
	reportSpace(app, { freeSpace: () => free() });
	await write('a', 'x'.repeat(500), 'y');
	await write('b', 'z'.repeat(500));
	await call('DELETE', '/api/deleteItem', { filePath: 'b', type });
	await settled();
	free = async () => 1_000 + 200 + ((await list('a')).length === 0 ? 500 : 0);
	await write('c', 'c'.repeat(600));
	t.deepEqual(await list('a'), []);
	t.is(json(await ada.get('/api/trash')).entries.length, 1);
});

test('a file that another program puts in the place of the former one has its versions', async (t) => {
	const { ada, home, read, write, contents, list, restore } = await setUp(t);
	await write('docs/a', 'one', 'two');
	await writeFile(path.join(home, 'docs/saved'), 'by another program');
	await rename(path.join(home, 'docs/saved'), path.join(home, 'docs/a'));
	t.deepEqual(await contents('docs/a'), ['one']);
	const { entries } = json(await ada.get('/api/browse?type=private&directory=docs'));
	t.like(entries, [{ name: 'a', versions: 1 }]);
	await restore('docs/a', (await list('docs/a'))[0]?.id ?? '');
	t.is(await read('docs/a'), 'one');
	t.deepEqual(await contents('docs/a'), ['by another program']);
	// A file that is moved by another program is found by its identity.
	await rename(path.join(home, 'docs/a'), path.join(home, 'docs/b'));
	t.deepEqual(await contents('docs/b'), ['by another program']);
	t.is(json(await ada.get('/api/browse?type=private&directory=docs')).entries[0].versions, 1);
});

test('versions of a public file that is deleted are there when it is restored', async (t) => {
	const { call, write, contents } = await setUp(t);
	await write('Public/a', 'one', 'two');
	const { trashId } = await call('DELETE', '/api/deleteItem', { filePath: 'a', type: 'public' });
	await call('POST', '/api/trash/restore', { ids: [trashId] });
	t.deepEqual(await contents('a', 'public'), ['one']);
	await call('POST', '/api/moveItem', { fromPath: 'Public/a', toPath: 'docs/a', type });
	t.deepEqual(await contents('docs/a'), ['one'], 'and when it is made private');
});
