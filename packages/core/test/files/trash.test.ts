import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { TrashCount, TrashedItem } from '@stowage/plugin-api';
import { anonymousOwner, baseName, Failure, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { type AppOptions, assignTrash, findOwnersByName, recoverTrash, unknownTrash } from '../../src/index.js';
import { MemberAllowance } from '../../src/trees/trash/limits/MemberAllowance.js';
import { TrashLimits } from '../../src/trees/trash/limits/TrashLimits.js';
import { withTrashFolder } from '../../src/trees/trash/moveTrash.js';
import { PurgedRemoval } from '../../src/trees/trash/purging/PurgedRemoval.js';
import { TrashEviction } from '../../src/trees/trash/purging/TrashEviction.js';
import { TrashPurge } from '../../src/trees/trash/purging/TrashPurge.js';
import { TrashRoom } from '../../src/trees/trash/purging/TrashRoom.js';
import { readNotes, trashContents, writeNotes } from '../../src/trees/trash/recording/TrashNotes.js';
import { TrashSizes } from '../../src/trees/trash/TrashSizes.js';
import type { TrashParts, UncompletedMoves } from '../../src/trees/trash/trashParts.js';
import { openEvents } from '../openEvents.js';
import { cutAfterFirstBytes } from '../rawRequest.js';
import { scheduledTime } from '../scheduledTime.js';
import { serversOfRun } from '../severalApps.js';
import { Client, field, file, json, recordsOf, reportSpace, type TestApp, testApp } from '../testApp.js';
import { begin, create, patch } from '../tusClient.js';
import { until } from '../until.js';

const day = 24 * 60 * 60_000;

interface Fixture {
	app: TestApp;
	ada: Client;
	home(name: string): string;
	/** Deletes an item of the private area and resolves to its id in the trash. */
	remove(filePath: string): Promise<string>;
	restore(
		...ids: string[]
	): Promise<{ restored: { id: string; path: string }[]; failed: { id: string; code: string }[] }>;
	trash(client?: Client): Promise<TrashAnswer>;
	/** The items in the trash of the disk. */
	onDisk(): Promise<string[]>;
}

interface TrashAnswer {
	entries: {
		id: string;
		name: string;
		path: string;
		type: string;
		size: number;
		deletedAt: number;
		expiresAt: number;
		deletedBy: string;
	}[];
	size: number;
	keepFor: number;
	truncated?: true;
}

async function setUp(
	t: ExecutionContext,
	flags: Record<string, string> = {},
	clock: AppOptions = {},
): Promise<Fixture> {
	const app = await testApp(t, flags, clock);
	const ada = await new Client(app).register('ada');
	const home = (name: string) => path.join(app.filesDir, 'users/ada', name);
	await mkdir(home('docs/deep'), { recursive: true });
	await writeFile(home('docs/fox.txt'), 'The quick brown fox');
	await writeFile(home('docs/deep/dog.txt'), 'lazy');
	const trash = async (client = ada) => json(await client.get('/api/trash')) as TrashAnswer;
	return {
		app,
		ada,
		home,
		trash,
		async remove(filePath) {
			const answer = await ada.call('DELETE', '/api/deleteItem', { filePath, type: 'private' });
			t.is(answer.statusCode, 200, answer.payload);
			t.regex(json(answer).trashId, /^[0-9a-f]{32}$/);
			return json(answer).trashId;
		},
		async restore(...ids) {
			const answer = await ada.post('/api/trash/restore', { ids });
			t.is(answer.statusCode, 200, answer.payload);
			return json(answer);
		},
		async onDisk() {
			await app.services.trashBin.recordAll();
			const found = await readdir(path.join(app.filesDir, '.stowage/trash')).catch(() => []);
			return found.filter((name) => /^[0-9a-f]{32}$/.test(name));
		},
	};
}

test('a deleted file is in the trash with its place, and restored to it as it was', async (t) => {
	const { home, remove, restore, trash, onDisk } = await setUp(t);
	await utimes(home('docs/fox.txt'), 1_500_000_000, 1_500_000_000);
	const before = await stat(home('docs/fox.txt'));
	const id = await remove('docs/fox.txt');
	t.deepEqual(await readdir(home('docs')), ['deep']);
	t.deepEqual(await onDisk(), [id]);
	const { entries, size, keepFor } = await trash();
	t.is(keepFor, 30 * day);
	t.is(size, 19);
	t.like(entries[0], { id, name: 'fox.txt', path: 'docs/fox.txt', type: 'file', size: 19, deletedBy: 'ada' });
	t.is(entries[0]?.expiresAt, (entries[0]?.deletedAt ?? 0) + 30 * day);
	t.deepEqual(await restore(id), { restored: [{ id, path: 'docs/fox.txt' }], failed: [] });
	const after = await stat(home('docs/fox.txt'));
	t.deepEqual([after.ino, after.mtimeMs], [before.ino, before.mtimeMs]);
	t.deepEqual(await trash(), { entries: [], size: 0, keepFor });
	t.deepEqual(
		(await restore(id)).failed.map(({ code }) => code),
		['NOT_FOUND'],
	);
});

test('a deleted folder is in the trash with the size of all in it, and is restored whole', async (t) => {
	const { home, remove, restore, trash } = await setUp(t);
	const id = await remove('docs');
	// It is measured after the answer, which a busy machine may take long for.
	await until('it is measured', async () => (await trash()).entries[0]?.size === 23);
	t.like(await trash(), { entries: [{ id, name: 'docs', type: 'directory', size: 23 }], size: 23 });
	t.deepEqual(await restore(id), { restored: [{ id, path: 'docs' }], failed: [] });
	t.is(await readFile(home('docs/deep/dog.txt'), 'utf8'), 'lazy');
});

test('a folder that takes long to be measured is listed without its size, and pages are notified of that', async (t) => {
	const { app, ada, remove, trash } = await setUp(t);
	let measure = () => {};
	const mayMeasure = new Promise<void>((resolve) => {
		measure = resolve;
	});
	const { storage } = app.services.roots.first;
	const list = storage.list.bind(storage);
	storage.list = async function* (at) {
		if (/^\.stowage\/trash\/[0-9a-f]{32}/.test(at)) await mayMeasure;
		yield* list(at);
	};
	const id = await remove('docs');
	t.like(await trash(), { entries: [{ id, size: 0 }], size: 0 });
	const page = await openEvents(app, '?type=private', ada.cookie);
	await page.quiet();
	const started = scheduledTime();
	measure();
	await page.next(({ event, at }) => event === 'trash' && at >= started);
	t.like(await trash(), { entries: [{ id, size: 23 }], size: 23 });
	page.close();
});

test('missing folders are made for what is restored, and a taken name gets a number', async (t) => {
	const { home, remove, restore } = await setUp(t);
	const dog = await remove('docs/deep/dog.txt');
	const fox = await remove('docs/fox.txt');
	await remove('docs');
	t.deepEqual((await restore(dog)).restored, [{ id: dog, path: 'docs/deep/dog.txt' }]);
	await writeFile(home('docs/fox.txt'), 'another');
	t.deepEqual((await restore(fox)).restored, [{ id: fox, path: 'docs/fox (1).txt' }]);
	t.is(await readFile(home('docs/fox.txt'), 'utf8'), 'another');
	t.is(await readFile(home('docs/fox (1).txt'), 'utf8'), 'The quick brown fox');
});

test('a public file is restored to the public folder', async (t) => {
	const { ada, home, restore, trash } = await setUp(t);
	await writeFile(home('Public/a.txt'), 'public');
	const answer = await ada.call('DELETE', '/api/deleteItem', { filePath: 'a.txt', type: 'public' });
	t.is((await trash()).entries[0]?.path, 'Public/a.txt');
	await restore(json(answer).trashId);
	t.is(await readFile(home('Public/a.txt'), 'utf8'), 'public');
});

test('what is deleted for good is not in the trash, and so is everything where there is no trash', async (t) => {
	const { app, ada, home, trash, onDisk } = await setUp(t);
	const forGood = { filePath: 'docs/fox.txt', type: 'private', permanent: true };
	t.deepEqual(json(await ada.call('DELETE', '/api/deleteItem', forGood)), { message: 'Deleted.' });
	t.deepEqual((await trash()).entries, []);
	app.services.config.trash.keepFor = 0;
	// A page that was opened before has said that it would go to the trash.
	const promised = await ada.call('DELETE', '/api/deleteItem', { filePath: 'docs', type: 'private', permanent: false });
	t.is(promised.statusCode, 409);
	t.is(json(promised).message, 'There is no trash: docs can only be deleted forever.');
	t.deepEqual(await readdir(home('docs')), ['deep']);
	t.deepEqual(json(await ada.call('DELETE', '/api/deleteItem', { filePath: 'docs', type: 'private' })), {
		message: 'Deleted.',
	});
	t.deepEqual(await readdir(home('')), ['Public']);
	t.deepEqual(await onDisk(), []);
	t.is(json(await ada.get('/api/capabilities')).trashKeepFor, 0);
});

test('the trash of a user is seen, restored and emptied by nobody else', async (t) => {
	const { app, remove, trash } = await setUp(t);
	const id = await remove('docs');
	const bob = await new Client(app).register('bob');
	t.deepEqual((await trash(bob)).entries, []);
	const restored = json(await bob.post('/api/trash/restore', { ids: [id] }));
	t.deepEqual([restored.restored, restored.failed[0]?.code], [[], 'NOT_FOUND']);
	t.is((await bob.call('DELETE', `/api/trash/${id}`)).statusCode, 404);
	t.is((await bob.call('DELETE', '/api/trash')).statusCode, 200);
	t.is((await trash()).entries.length, 1);
	const visitor = new Client(app);
	t.is((await visitor.get('/api/trash')).statusCode, 401);
	t.is((await visitor.post('/api/trash/restore', { ids: [id] })).statusCode, 401);
	t.is((await visitor.call('DELETE', '/api/trash')).statusCode, 401);
	t.is((await visitor.call('DELETE', `/api/trash/${id}`)).statusCode, 401);
});

test('what users have deleted and replaced themselves is theirs also under another name', async (t) => {
	const { app, ada, remove, trash } = await setUp(t);
	await remove('docs/fox.txt');
	const replacing = [field('directory', 'docs/deep'), field('onConflict', 'replace'), file('dog.txt', 'eager')];
	t.is((await ada.upload('/api/upload', replacing)).statusCode, 200);
	await app.services.accounts.rename('ada', 'lovelace');
	const lovelace = new Client(app);
	await lovelace.post('/api/login', { username: 'lovelace', password: 'correct horse' });
	t.like((await trash(lovelace)).entries, [{ path: 'docs/fox.txt', deletedBy: 'lovelace' }]);
	t.like(json(await lovelace.get('/api/versions/docs/deep/dog.txt')).versions, [{ replacedBy: 'lovelace' }]);
});

test('one item or all of the trash is removed for good', async (t) => {
	const { ada, remove, trash, onDisk } = await setUp(t);
	const fox = await remove('docs/fox.txt');
	const docs = await remove('docs');
	t.is((await ada.call('DELETE', `/api/trash/${fox}`)).statusCode, 200);
	t.deepEqual(
		(await trash()).entries.map(({ id }) => id),
		[docs],
	);
	t.is((await ada.call('DELETE', `/api/trash/${fox}`)).statusCode, 404);
	t.is((await ada.call('DELETE', '/api/trash/..%2Fx')).statusCode, 404);
	t.is((await ada.call('DELETE', '/api/trash')).statusCode, 200);
	t.deepEqual((await trash()).entries, []);
	await until('the disk is free', async () => (await onDisk()).length === 0);
});

test('what is deleted for good while it is restored is said to be gone, by no name of a file of the trash', async (t) => {
	const { app, ada, home, remove, onDisk } = await setUp(t);
	for (const content of ['one', 'two'])
		await ada.upload('/api/upload', [field('onConflict', 'replace'), file('a.txt', content)]);
	const [{ id: version }] = json(await ada.get('/api/versions/a.txt?type=private')).versions;
	const trashId = await remove('docs/fox.txt');
	// As another tab, or room that is needed, may have it once it has begun to leave.
	const { storage } = app.services.roots.first;
	const { move } = storage;
	let purging = '';
	storage.move = async (...args) => {
		if (path.basename(args[0]) === purging) {
			await app.services.trashBin.purge({ ids: [purging] });
			await app.services.trashBin.removePurged();
		}
		return move.apply(storage, args);
	};
	purging = trashId;
	const [failed] = json(await ada.post('/api/trash/restore', { ids: [trashId] })).failed;
	t.deepEqual(failed, { id: trashId, code: 'NOT_FOUND', message: 'This is not in the trash any more.' });

	purging = version;
	const restored = await ada.post('/api/versions/restore', { filePath: 'a.txt', type: 'private', id: version });
	t.is(restored.statusCode, 404);
	t.is(json(restored).message, 'There is no such version of this file any more.');
	t.is(await readFile(home('a.txt'), 'utf8'), 'two');
	t.deepEqual(await onDisk(), []);
});

test('a temporary link answers 404 while its item is in the trash, and works again once it is restored', async (t) => {
	const { app, ada, home, remove, restore } = await setUp(t);
	const visitor = new Client(app);
	const link = async (filePath: string) =>
		`/api/temp/${json(await ada.post('/api/generateTempLink', { filePath, expiration: '1h' })).token}`;
	const [fox, dog, docs] = [await link('docs/fox.txt'), await link('docs/deep/dog.txt'), await link('docs')];
	const statuses = async () => [
		(await visitor.get(fox)).statusCode,
		(await visitor.get(dog)).statusCode,
		(await visitor.get(docs)).statusCode,
	];
	t.deepEqual(await statuses(), [200, 200, 200]);
	const id = await remove('docs');
	t.deepEqual(await statuses(), [404, 404, 404]);
	t.deepEqual(json(await ada.get('/api/links')), []);
	// Nothing under the old name is given away, and the links of another item there stay its own.
	await mkdir(home('docs'));
	await writeFile(home('docs/fox.txt'), 'another fox');
	const other = await link('docs/fox.txt');
	t.is(await app.services.links.purge(), 0);
	t.deepEqual(await statuses(), [404, 404, 404]);
	t.is((await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'papers', type: 'private' })).statusCode, 200);
	t.deepEqual((await restore(id)).restored, [{ id, path: 'docs' }]);
	t.deepEqual(await statuses(), [200, 200, 200]);
	t.is((await visitor.get(dog)).payload, 'lazy');
	t.is((await visitor.get(other)).payload, 'another fox');
	t.is((await visitor.get(fox)).payload, 'The quick brown fox');
});

async function bytesBelow(folder: string): Promise<number> {
	let sum = 0;
	for (const name of await readdir(folder, { recursive: true })) {
		const found = await stat(path.join(folder, name)).catch(() => undefined);
		if (found?.isFile()) sum += found.size;
	}
	return sum;
}

/** Closes the audit log and resolves to how many items were removed for good for each reason. */
async function purgesIn(app: TestApp): Promise<Record<string, number>> {
	await app.services.audit.close();
	const purges: Record<string, number> = {};
	for (const { action, entries = 0, detail = '' } of await recordsOf(app))
		if (action === 'purgeTrash') purges[detail] = (purges[detail] ?? 0) + entries;
	return purges;
}

test('the trash counts in the quota and gives way to what would not fit, the oldest first and only if that is enough', async (t) => {
	const { app, ada, remove, trash } = await setUp(t, { '--quotas-user-bytes': '3 MB' });
	const put = (name: string, kb: number) => ada.upload('/api/upload', [file(name, Buffer.alloc(kb * 1024, 7))]);
	const names = async () => (await trash()).entries.map(({ name }) => name);
	for (const name of ['a', 'b', 'c']) t.is((await put(name, 900)).statusCode, 200);
	for (const name of ['a', 'b', 'c']) await remove(name);
	t.is((await put('small', 100)).statusCode, 200);
	t.deepEqual(await names(), ['c', 'b', 'a']);
	t.is((await put('large', 1000)).statusCode, 200);
	t.deepEqual(await names(), ['c', 'b']);
	t.is((await create(ada, 3000 * 1024, { filename: 'too large', type: 'private' })).statusCode, 507);
	t.deepEqual(await names(), ['c', 'b'], 'nothing is taken for what is refused all the same');
	t.is((await put('all', 1900)).statusCode, 200);
	t.deepEqual(await names(), []);
	t.deepEqual(await purgesIn(app), { space: 3 });
});

test('the trash of all homes gives way to the reserve of the disk', async (t) => {
	const { app, ada, remove, trash } = await setUp(t, { '--uploads-free-space-reserve': '1 MB' });
	const bob = await new Client(app).register('bob');
	const put = (client: Client, name: string, kb: number) =>
		client.upload('/api/upload', [file(name, Buffer.alloc(kb * 1024, 7))]);
	let free = async () => 100 * 1024 ** 2;
	// From the beginning: while there is plenty of room, it is not asked for each time.
	reportSpace(app, { freeSpace: () => free() });
	t.is((await put(ada, 'a', 3000)).statusCode, 200);
	await remove('a');
	await bob.call('DELETE', '/api/deleteItem', { filePath: 'nothing', type: 'private' });
	const onDisk = path.join(app.filesDir, '.stowage/trash');
	const isFull = async () => (await readdir(onDisk)).some((name) => /^[0-9a-f]{32}$/.test(name));
	free = async () => ((await isFull()) ? 1.5 * 1024 ** 2 : 4.5 * 1024 ** 2);
	t.is((await trash()).entries.length, 1);
	t.is((await create(bob, 5000 * 1024, { filename: 'too large', type: 'private' })).statusCode, 507);
	t.is((await trash()).entries.length, 1);
	t.is((await put(bob, 'b', 2000)).statusCode, 200);
	t.deepEqual((await trash()).entries, []);
	await app.services.audit.close();
	const [purged] = (await recordsOf(app)).filter(({ action }) => action === 'purgeTrash');
	t.like(purged, { account: 'ada', entries: 1, detail: 'space' });
	t.false('user' in (purged ?? {}) || 'address' in (purged ?? {}), 'bob has not emptied the trash of ada');
	const cause = (await recordsOf(app)).find(({ action, user }) => action === 'upload' && user === 'bob');
	t.is(purged?.request, cause?.request);
});

/** A disk that is full to its reserve by twelve items in the trash. What others `write` uses the reserve. */
async function fillTrash(t: ExecutionContext, put: (name: string) => Promise<void>) {
	const reserve = 1024 ** 2;
	const { app, ada, home, remove, trash } = await setUp(t, { '--uploads-free-space-reserve': `${reserve}` });
	for (let n = 0; n < 12; n++) {
		await put(home(`${n}`));
		await remove(`${n}`);
	}
	await trash();
	const full = await bytesBelow(app.filesDir);
	let others = 0;
	reportSpace(app, { freeSpace: async () => reserve + full - (await bytesBelow(app.filesDir)) - others });
	return {
		app,
		ada,
		upload: async (name: string) => (await ada.upload('/api/upload', [file(name, 'x')])).statusCode,
		left: async () => (await trash()).entries.length,
		write(bytes: number) {
			others = bytes;
		},
	};
}

test('of twenty uploads that meet a disk without room only as much of the trash gives way as all of them need', async (t) => {
	const { upload, left, write } = await fillTrash(t, (name) => writeFile(name, Buffer.alloc(100_000)));
	write(150_000);
	const statuses = await Promise.all(Array.from({ length: 20 }, (_, n) => upload(`new ${n}`)));
	t.deepEqual([...new Set(statuses)], [200]);
	t.is(await left(), 10);
});

test('an upload waits until a deleted folder that gives way to it is really gone, and takes no other one', async (t) => {
	const { app, upload, left } = await fillTrash(t, async (name) => {
		await mkdir(name);
		for (let n = 0; n < 10; n++) await writeFile(path.join(name, `${n}`), Buffer.alloc(10_000));
	});
	const { disk } = app.services.roots.first.storage as unknown as {
		disk: { calls: { readNames(folder: unknown): AsyncIterable<unknown> } };
	};
	const { readNames } = disk.calls;
	let isSlow = true;
	disk.calls.readNames = async function* (folder) {
		if (isSlow) await wait(200);
		yield* readNames(folder);
	};
	t.is(await upload('new'), 200);
	isSlow = false;
	t.is(await left(), 11);
});

test('where what gives way frees nothing, as with copies that share its bytes, little of the trash is lost', async (t) => {
	const { app, ada, upload, left } = await fillTrash(t, (name) => writeFile(name, Buffer.alloc(100_000)));
	reportSpace(app, { freeSpace: async () => 1024 ** 2 });
	t.is(await upload('new'), 507);
	const after = await left();
	t.true(after >= 10, `${after} of 12 are left`);
	for (let n = 0; n < 3; n++) t.is(await upload(`again ${n}`), 507);
	t.is((await create(ada, 50_000, { filename: 'announced', type: 'private' })).statusCode, 507);
	t.is(await left(), after);
});

test('where what gives way has freed nothing, no other process tries it for some minutes', async (t) => {
	const { app } = await fillTrash(t, (name) => writeFile(name, Buffer.alloc(10_000)));
	const { database } = app.services;
	const left = async () => (await database.trash.list({ order: 'oldest', limit: 100, kind: 'item' })).length;
	const lackNow = async () => ({ bytes: 1000, entries: 0 });
	const { rootId } = app.services.roots.first.storage;
	const given: unknown[] = [];
	for (let n = 0; n < 3; n++) {
		const { eviction } = purging(purgeParts(app));
		given.push([await eviction.giveWay({ rootId }, lackNow), await left()]);
	}
	t.deepEqual(given, [
		[false, 10],
		[false, 10],
		[false, 10],
	]);
});

test('what gives way is recorded by the name that its owner has by then, and by none that is another account’s', async (t) => {
	const { app, ada, remove } = await setUp(t);
	const { accounts, database, trashBin, audit } = app.services;
	const ownerId = (await database.users.find('ada'))?.id ?? '';
	for (const name of ['a', 'b', 'c', 'd']) {
		t.is((await ada.upload('/api/upload', [file(name, 'x')])).statusCode, 200);
		await remove(name);
	}
	const givesWay = async () => {
		const { entries } = await trashBin.totals({ ownerId });
		const lackNow = async () => ({ bytes: 0, entries: (await trashBin.totals({ ownerId })).entries - entries + 1 });
		t.true(await trashBin.eviction.giveWay({ ownerId }, lackNow));
	};
	await givesWay();
	await accounts.rename('ada', 'lovelace');
	await givesWay();
	await accounts.remove('lovelace', { kind: 'move', to: await accounts.create('bob', 'correct horse') });
	await givesWay();
	await new Client(app).register('ada');
	await givesWay();
	await audit.close();
	const purges = (await recordsOf(app)).filter(({ action }) => action === 'purgeTrash');
	t.deepEqual(
		purges.map(({ account }) => account),
		['ada', 'lovelace', 'ada', undefined],
	);
});

test('an announced upload takes nothing from the trash: what gives way does so to bytes as they arrive', async (t) => {
	const { app, ada, remove, trash } = await setUp(t, {
		'--uploads-free-space-reserve': '1 MB',
		'--quotas-user-bytes': '6 MB',
	});
	const mb = 1024 ** 2;
	const eve = await new Client(app).register('eve');
	const put = (client: Client, name: string, size: number) =>
		client.upload('/api/upload', [file(name, Buffer.alloc(size, 7))]);
	for (const [client, name] of [
		[ada, 'a'],
		[eve, 'e'],
	] as const)
		t.is((await put(client, name, 3 * mb)).statusCode, 200);
	await remove('a');
	await eve.call('DELETE', '/api/deleteItem', { filePath: 'e', type: 'private' });
	// By the disk, which has no room beside the trash of both, and by the quota.
	reportSpace(app, { freeSpace: async () => 9 * mb - (await bytesBelow(app.filesDir)) });
	const location = await begin(eve, 3.5 * mb, { filename: 'x', type: 'private' });
	const kept = async () => [(await trash()).entries.length, (await trash(eve)).entries.length];
	t.deepEqual(await kept(), [1, 1], 'of another user, and one’s own');
	const form = `--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`;
	await cutAfterFirstBytes(
		app,
		`POST /api/upload HTTP/1.1\r\nhost: a\r\ncookie: ${eve.cookie}\r\nexpect: 100-continue\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: ${3.5 * mb}\r\n\r\n${form}`,
	);
	t.deepEqual(await kept(), [1, 1], 'nor by a form whose body does not come');
	t.is((await patch(eve, location, 0, Buffer.alloc(mb / 2))).statusCode, 204);
	t.deepEqual(await kept(), [1, 1], 'these bytes have room');
	const rest = await patch(eve, location, mb / 2, Buffer.alloc(3 * mb));
	t.is(rest.statusCode, 204, rest.payload);
	t.is((await kept())[1], 0, 'by the quota');
});

test('announcements of more than there is have the trash summed a few times, however many they are', async (t) => {
	const { app, ada, remove } = await setUp(t, { '--uploads-free-space-reserve': '1 MB' });
	await remove('docs/fox.txt');
	await app.services.trashBin.totals({});
	reportSpace(app, { freeSpace: async () => 3 * 1024 ** 2 });
	const { trash } = app.services.database;
	const { totals } = trash;
	let sums = 0;
	trash.totals = async (selection) => {
		sums++;
		await wait(20);
		return totals(selection);
	};
	const began = performance.now();
	const announce = () => create(ada, 1024 ** 4, { filename: 'x', type: 'private' });
	for (let round = 0; round < 5; round++) {
		const answers = await Promise.all(Array.from({ length: 20 }, announce));
		t.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [507]);
	}
	const took = performance.now() - began;
	// Each server counts its own.
	t.true(sums <= (1 + took / 300) * serversOfRun, `${sums} sums of 20 ms within ${took.toFixed()} ms`);
});

test('what is older than it is kept is removed by the sweep', async (t) => {
	const clock = { ms: Date.now() };
	const { app, remove, trash, onDisk } = await setUp(t, {}, { now: () => clock.ms, monotonic: () => clock.ms });
	await remove('docs/fox.txt');
	clock.ms += day;
	const docs = await remove('docs');
	await app.services.trashBin.sweep();
	t.is((await trash()).entries.length, 2);
	clock.ms += 29 * day;
	await app.services.trashBin.sweep();
	t.deepEqual(await onDisk(), [docs]);
	const ada = await app.services.database.users.find('ada');
	t.deepEqual(
		(await app.services.trashBin.list(ada?.id ?? '', 9)).items.map(({ id }) => id),
		[docs],
	);
	t.deepEqual(await purgesIn(app), { expired: 1 });
});

test('an interrupted deletion or restoration is completed by what the disk says', async (t) => {
	const clock = { ms: Date.now() };
	const { app, home, remove, trash } = await setUp(t, {}, { now: () => clock.ms });
	const { database, trashBin } = app.services;
	const ada = await database.users.find('ada');
	const kept = {
		kind: 'item' as const,
		ownerId: ada?.id ?? '',
		ownerName: 'ada',
		rootId: app.services.storage.rootId,
		path: 'docs/fox.txt' as never,
		type: 'file' as const,
		size: { bytes: 19, entries: 1 },
		deletedBy: 'ada',
	};
	// Interrupted before the rename: in its place, and not in the trash.
	const before = { ...kept, id: 'a'.repeat(32), deletedAt: clock.ms, state: 'moving' as const };
	await database.trash.add(before);
	t.deepEqual((await trash()).entries, []);
	// Interrupted after it, and before that was recorded.
	const after = await remove('docs/deep/dog.txt');
	await until('it is recorded', async () => (await database.trash.get(after))?.state === 'kept');
	t.true(await database.trash.beginLeaving(after));
	t.deepEqual(
		(await trash()).entries.map(({ id }) => id),
		[after],
	);
	clock.ms += 2 * 60_000;
	await trashBin.sweep();
	t.is((await database.trash.get(after))?.state, 'kept');
	t.truthy(await database.trash.get(before.id));
	clock.ms += 2 * day;
	await trashBin.sweep();
	t.is(await database.trash.get(before.id), undefined);
	t.is(await readFile(home('docs/fox.txt'), 'utf8'), 'The quick brown fox');
	t.is((await database.trash.get(after))?.state, 'kept');
});

test('an item that cannot be restored stays in the trash, and the others are restored', async (t) => {
	const { home, remove, restore, trash } = await setUp(t);
	const dog = await remove('docs/deep/dog.txt');
	const fox = await remove('docs/fox.txt');
	await rm(home('docs/deep'), { recursive: true });
	await writeFile(home('docs/deep'), 'a file where the folder was');
	const { restored, failed } = await restore(dog, fox);
	t.deepEqual(restored, [{ id: fox, path: 'docs/fox.txt' }]);
	t.like(failed[0], { id: dog, code: 'ALREADY_EXISTS' });
	t.deepEqual(
		(await trash()).entries.map(({ id }) => id),
		[dog],
	);
});

test('what is in the trash is in no listing, search, count or archive', async (t) => {
	const { ada, remove } = await setUp(t);
	await remove('docs/fox.txt');
	const names = async (url: string) => json(await ada.get(url)).entries.map(({ name }: { name: string }) => name);
	t.deepEqual(await names('/api/browse?type=private&directory=docs'), ['deep']);
	t.deepEqual(await names('/api/browse?type=private&search=fox'), []);
	t.is((await ada.get('/api/download/docs/fox.txt?type=private')).statusCode, 404);
	t.is((await ada.get('/api/download/.stowage/trash?type=private')).statusCode, 404);
	t.is((await ada.get('/api/browse/public?directory=.stowage%2Ftrash')).statusCode, 404);
});

test('a clock that is set ahead removes nothing from the trash for a day', async (t) => {
	const clock = { ms: Date.now(), monotonic: 0 };
	const clocks = { now: () => clock.ms, monotonic: () => clock.monotonic };
	const { app, remove, onDisk } = await setUp(t, {}, clocks);
	const { trashBin } = app.services;
	const id = await remove('docs');
	const hours = (count: number, jump = 0) => {
		clock.monotonic += count * 60 * 60_000;
		clock.ms += count * 60 * 60_000 + jump;
	};
	hours(1, 365 * day);
	await trashBin.sweep();
	hours(23);
	await trashBin.sweep();
	t.deepEqual(await onDisk(), [id]);
	hours(2);
	await trashBin.sweep();
	t.deepEqual(await onDisk(), []);
});

test('what a lost database does not know is listed again by the notes beside the items', async (t) => {
	const { app, remove, restore, trash, onDisk } = await setUp(t);
	const { database, roots } = app.services;
	const [fox, docs] = [await remove('docs/fox.txt'), await remove('docs')];
	const folder = path.join(app.filesDir, '.stowage/trash');
	const notes = async () => (await readdir(folder)).filter((name) => name.startsWith('notes-'));
	// Rows and notes are written.
	await app.services.trashBin.close();
	await database.trash.remove([fox, docs]);
	await mkdir(path.join(folder, 'e'.repeat(32)));
	t.deepEqual((await trash()).entries, []);
	t.deepEqual((await unknownTrash(database.trash, roots.first)).sort(), [...(await onDisk())].sort());
	const stores = { store: database.trash, users: database.users, storage: app.services.storage };
	// What other programs may have written there: no time of these has a date.
	const planted = { id: 'e'.repeat(32), ownerId: 'a', ownerName: 'ada', path: 'a', type: 'file', deletedBy: 'ada' };
	const times = [1e308, -1, 0.5, 8.64e15].map((deletedAt) => JSON.stringify({ ...planted, deletedAt }));
	const lines = ['{"id":1}', 'no JSON', ...times, ''].join('\n');
	await writeFile(path.join(folder, (await notes())[0] ?? ''), lines, { flag: 'a' });
	t.deepEqual(await recoverTrash(stores, roots.first), {
		...{ recovered: 2, unknown: ['e'.repeat(32)], withoutAccount: [], given: new Map() },
	});
	t.deepEqual(await recoverTrash(stores, roots.first), {
		...{ recovered: 0, unknown: ['e'.repeat(32)], withoutAccount: [], given: new Map() },
	});
	await until('both are measured', async () => (await trash()).size === 23);
	t.deepEqual((await trash()).entries.map(({ name, size }) => [name, size]).sort(), [
		['docs', 4],
		['fox.txt', 19],
	]);
	t.deepEqual(
		(await restore(docs, fox)).restored.map(({ path: at }) => at),
		['docs', 'docs/fox.txt'],
	);
});

test('what the notes say was of an account that is gone is of none by its name, unless that is ordered and one account had it', async (t) => {
	const { app, remove, onDisk, trash } = await setUp(t);
	const { database, roots, storage, trashBin, accounts } = app.services;
	const { trash: store, users } = database;
	const stores = { store, users, storage };
	const forget = async () => {
		await trashBin.close();
		await store.remove(await onDisk());
	};
	const first = await users.find('ada');
	const bob = await accounts.create('bob', 'correct horse');
	await remove('docs/fox.txt');
	await trashBin.close();
	await accounts.remove('ada', { kind: 'move', to: bob });
	const second = await new Client(app).register('ada');
	await forget();
	t.deepEqual(await recoverTrash(stores, roots.first), {
		recovered: 1,
		unknown: [],
		withoutAccount: ['ada'],
		given: new Map(),
	});
	t.deepEqual((await trash(second)).entries, []);
	const [record] = await store.list({ order: 'oldest', limit: 2 });
	t.like(record, { ownerId: first?.id, ownerName: 'ada' });

	// As after the database was lost: what was listed already, and what is not yet.
	const byName = async () => findOwnersByName({ users }, roots.all());
	t.deepEqual((await byName()).refused, []);
	t.deepEqual([...(await assignTrash(store, await byName())).values()], [1]);
	t.deepEqual(
		(await trash(second)).entries.map(({ name }) => name),
		['fox.txt'],
	);
	await forget();
	t.like(await recoverTrash(stores, roots.first, await byName()), { recovered: 1, withoutAccount: [] });
	t.is((await trash(second)).entries.length, 1);

	// Another one of this name is gone as well.
	await second.upload('/api/upload', [file('b.txt', 'B')]);
	await second.call('DELETE', '/api/deleteItem', { filePath: 'b.txt', type: 'private' });
	await trashBin.close();
	await accounts.remove('ada', { kind: 'move', to: bob });
	const third = await new Client(app).register('ada');
	await forget();
	const owners = await byName();
	t.deepEqual(owners.refused, [{ username: 'ada', accounts: 2, items: 2 }]);
	t.like(await recoverTrash(stores, roots.first, owners), { recovered: 2, withoutAccount: ['ada'] });
	t.is((await assignTrash(store, owners)).size, 0);
	t.deepEqual((await trash(third)).entries, []);
});

test('notes of many deletions are put together, without those of items that are gone', async (t) => {
	const { app, ada, home, remove, onDisk } = await setUp(t);
	const { trashBin } = app.services;
	const folder = path.join(app.filesDir, '.stowage/trash');
	const notes = async () => (await readdir(folder)).filter((name) => name.startsWith('notes-'));
	for (let n = 0; n < 60; n++) {
		await writeFile(home(`${n}`), `${n}`);
		await remove(`${n}`);
		await trashBin.close();
	}
	t.is((await ada.call('DELETE', `/api/trash/${(await onDisk())[0]}`)).statusCode, 200);
	await trashBin.sweep();
	t.is((await notes()).length, 1);
	const lines = (await readFile(path.join(folder, (await notes())[0] ?? ''), 'utf8')).trim().split('\n');
	t.deepEqual(lines.map((line) => JSON.parse(line).id).sort(), (await onDisk()).sort());
});

test('notes of very many long paths can all be read again', async (t) => {
	const { app } = await setUp(t);
	const { storage } = app.services.roots.first;
	const folder = Array(900).fill('d'.repeat(62)).join('/');
	const recordOf = (n: number): TrashedItem => ({
		...{ kind: 'item', id: String(n).padStart(32, '0'), ownerId: 'ada', ownerName: 'ada', rootId: storage.rootId },
		...{
			path: parsePath(`${folder}/${n}`),
			type: 'file',
			size: undefined,
			deletedAt: n,
			deletedBy: 'ada',
			state: 'kept',
		},
	});
	await withTrashFolder(storage, () =>
		writeNotes(
			storage,
			Array.from({ length: 650 }, (_, n) => recordOf(n)),
		),
	);
	const { notes } = await trashContents(storage);
	const found = new Set<string>();
	for (const path of notes) for (const { id } of await readNotes(storage, path)) found.add(id);
	t.is(found.size, 650);
});

test('notes that are put together are also those of items that an older database does not know, each as it was noted last', async (t) => {
	const { app, home, remove } = await setUp(t);
	const { trashBin, database, roots, storage } = app.services;
	const folder = path.join(app.filesDir, '.stowage/trash');
	const ids: string[] = [];
	for (let n = 0; n < 60; n++) {
		await writeFile(home(`${n}`), `${n}`);
		ids.push(await remove(`${n}`));
		await trashBin.close();
	}
	const [lost = ''] = ids;
	const { rootId: _, ...noted } = (await database.trash.get(lost)) as TrashedItem;
	const [earlier, later] = [8, 9].map((digit) => path.join(folder, `notes-${String(digit).repeat(32)}.jsonl`));
	for (const [file = '', name, day] of [
		[later, 'now', 2_000],
		[earlier, 'before', 1_000],
	] as const) {
		await writeFile(file, `${JSON.stringify({ ...noted, path: name })}\n`);
		await utimes(file, day, day);
	}
	const old = path.join(folder, `notes-${'7'.repeat(32)}.jsonl`);
	await writeFile(old, `${JSON.stringify({ ...noted, id: 'f'.repeat(32) })}\n`);
	for (const name of await readdir(folder)) {
		const text = name.startsWith('notes-') ? await readFile(path.join(folder, name), 'utf8') : '';
		if (text.includes(lost) && !/[89]{32}/.test(name)) await rm(path.join(folder, name));
	}
	await database.trash.remove(ids.slice(0, 50));
	await trashBin.sweep();
	const names = (await readdir(folder)).filter((name) => name.startsWith('notes-'));
	t.is(names.length, 2);
	const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
	t.false(texts.join('').includes('f'.repeat(32)), 'that of an item that is gone goes');
	const stores = { store: database.trash, users: database.users, storage };
	t.deepEqual(await recoverTrash(stores, roots.first), {
		recovered: 50,
		unknown: [],
		withoutAccount: [],
		given: new Map(),
	});
	t.is((await database.trash.get(lost))?.path, parsePath('now'));
});

const noMoves: UncompletedMoves = { leadFrom: () => false, leadTo: () => false, endAt: () => false };

const purgeParts = ({ services: { config, database, databaseReserve, log, storage } }: TestApp) => ({
	...{ config, databaseReserve, log, store: database.trash, storage: () => storage },
	...{ versions: database.versions, users: database.users, inVain: database.keyValues('trash-in-vain') },
	...{ creators: database.keyValues('file-creators'), moves: database.keyValues('version-moves') },
	...{ leases: { acquire: async () => undefined }, completeMoves: async () => noMoves },
	...{ plannedMoves: async () => noMoves },
	...{ now: Date.now, monotonic: () => 0 },
	...{ onEnded: async () => {}, onChanged: () => {}, onPurged: () => {} },
	...{ onMovedAcross: async () => {}, onReplaced: async () => {} },
});

/** What removes from the trash for good, as a process has it. */
function purging(parts: TrashParts) {
	const room = new TrashRoom(new TrashSizes(parts));
	const removal = new PurgedRemoval(parts, room);
	const purge = new TrashPurge(parts, removal);
	return {
		removal,
		purge,
		eviction: new TrashEviction(parts, { recordIfPossible: async () => {} }, room, removal, purge),
	};
}

test('moves of versions are completed once for all items of a user that are removed together', async (t) => {
	const { app } = await setUp(t);
	const { trash, users } = app.services.database;
	const ownerId = (await users.find('ada'))?.id ?? '';
	const { rootId } = (await app.services.storage.home('ada').mount()).storage;
	const recordOf = (n: number): TrashedItem => ({
		...{ kind: 'item', id: String(n).padStart(32, '0'), ownerId, ownerName: 'ada', rootId, deletedAt: 1 },
		...{ path: parsePath(`${n}`), type: 'file', size: { bytes: 1, entries: 1 }, deletedBy: 'ada', state: 'kept' },
	});
	await trash.addMissing(Array.from({ length: 20 }, (_, n) => recordOf(n)));
	const completed: string[] = [];
	const completeMoves = async (id: string) => {
		completed.push(id);
		return noMoves;
	};
	const { purge, removal } = purging({ ...purgeParts(app), completeMoves } as TrashParts);
	t.is(await purge.purge({ ownerId }), 20);
	await removal.removePurged();
	t.deepEqual(await trash.inState('purging', { limit: 1 }), []);
	t.deepEqual(completed, [ownerId]);
});

test('a large trash is emptied in small parts, with what the clock was ahead for, and without what is deleted meanwhile', async (t) => {
	const { app } = await setUp(t);
	const { trash, users } = app.services.database;
	const ownerId = (await users.find('ada'))?.id ?? '';
	const { storage: root } = await app.services.storage.home('ada').mount();
	const recordOf = (n: number, deletedAt: number): TrashedItem => ({
		...{ kind: 'item', id: String(n).padStart(32, '0'), ownerId, ownerName: 'ada', rootId: root.rootId, deletedAt },
		...{ path: parsePath(`${n}`), type: 'file', size: { bytes: 1, entries: 1 }, deletedBy: 'ada', state: 'kept' },
	});
	const now = Date.now();
	await trash.addMissing(Array.from({ length: 1_000 }, (_, n) => recordOf(n, now - 5_000 + n)));
	await trash.addMissing([recordOf(2_000, now + day)]);
	const parts: number[] = [];
	let time = now;
	const store = {
		...trash,
		async beginPurging(selection: Parameters<typeof trash.beginPurging>[0]) {
			time += 10;
			if (parts.push(selection.ids.length) === 1) await trash.add(recordOf(3_000, time));
			return trash.beginPurging(selection);
		},
	};
	const all = { ...purgeParts(app), store, now: () => time };
	const { purge, removal } = purging(all);
	t.is(await purge.purge({ kind: 'item', ownerId }), 1_001);
	t.true(parts.every((length) => length <= 200) && parts.length > 5, parts.join());
	t.is((await trash.get(recordOf(3_000, 0).id))?.state, 'kept');
	await removal.removePurged();
	t.is((await trash.count(ownerId, 'item')).items, 1);
});

test('the sizes of folders that are deleted by the dozen are written together, one write after another', async (t) => {
	const { app, home, remove, trash } = await setUp(t);
	const { trash: store } = app.services.database;
	const { setSizes } = store;
	const names = Array.from({ length: 30 }, (_, n) => `folder ${n}`);
	const written: number[] = [];
	let running = 0;
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	store.setSizes = async (sizes) => {
		written.push(sizes.size);
		t.is(++running, 1);
		await held;
		await setSizes(sizes);
		running--;
	};
	for (const name of names) {
		await mkdir(home(name));
		await remove(name);
	}
	// It waits for the sizes for two seconds, in which the others are measured.
	t.is((await trash()).entries.length, names.length);
	release();
	await until('all are measured', async () => written.reduce((sum, count) => sum + count, 0) === names.length);
	t.true(written.length < 10, written.join());
});

test('of a trash with long paths as many of the newest are listed as others do not have to wait for', async (t) => {
	const { app, trash } = await setUp(t);
	const { database, storage } = app.services;
	const owner = await database.users.find('ada');
	const folder = Array.from({ length: 16 }, () => 'd'.repeat(250)).join('/');
	const records = Array.from({ length: 1000 }, (_, n): TrashedItem => {
		const path = parsePath(`${folder}/${n}`);
		const made = { ownerId: owner?.id ?? '', ownerName: 'ada', deletedBy: 'ada', rootId: storage.rootId };
		const size = { bytes: 1, entries: 1 };
		return {
			...made,
			...{ path, size },
			id: `${n}`.padStart(32, '0'),
			kind: 'item',
			type: 'file',
			state: 'kept',
			deletedAt: n,
		};
	});
	await database.trash.addMissing(records.slice(0, 400));
	t.is((await trash()).entries.length, 400);
	t.is((await trash()).truncated, undefined);
	await database.trash.addMissing(records.slice(400));
	const { entries, truncated, size } = await trash();
	t.true(truncated);
	t.is(entries[0]?.id, records.at(-1)?.id);
	t.true(entries.length > 400 && entries.length < 1000, `${entries.length}`);
	t.is(size, 1000);
});

test('what is deleted takes no row from the last room of the database, and is deleted forever there', async (t) => {
	const { app, ada, home, remove, restore, trash } = await setUp(t);
	// No name says this path.
	const folder = `docs/${'d'.repeat(200)}`;
	await mkdir(home(folder));
	for (const name of ['a', 'b', 'c']) await writeFile(home(`${folder}/${name}`), name);
	const kept = await remove(`${folder}/a`);
	const asked: number[] = [];
	app.services.databaseReserve.assertRoom = async (bytes) => {
		asked.push(bytes);
		throw new Failure('storageFull', 'There is not enough free space on the disk of the database.');
	};
	const refused = await ada.call('DELETE', '/api/deleteItem', { filePath: `${folder}/b`, type: 'private' });
	t.is(refused.statusCode, 507);
	t.true((asked[0] ?? 0) > 2 * folder.length, `${asked}`);
	t.is(await readFile(home(`${folder}/b`), 'utf8'), 'b');
	t.is((await trash()).entries.length, 1);
	const forGood = { filePath: `${folder}/b`, type: 'private', permanent: true };
	t.is((await ada.call('DELETE', '/api/deleteItem', forGood)).statusCode, 200);
	const viewer = { kind: 'user', ...(await app.services.database.users.find('ada')) } as never;
	const ref = { area: 'private', path: parsePath(`${folder}/c`) } as const;
	await app.services.files.remove(viewer, ref, { isForGood: true, isMeant: async () => true });
	t.deepEqual(await readdir(home(folder)), []);
	t.deepEqual((await restore(kept)).failed, [], 'what is there can be restored');
	t.is(asked.length, 1);
});

test('of more items than a user may keep the oldest go', async (t) => {
	const { app, home, remove, trash } = await setUp(t);
	const { database } = app.services;
	for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
		await writeFile(home(name), name);
		await remove(name);
	}
	const ended: string[] = [];
	const onEnded: TrashParts['onEnded'] = async (kind, entries, reason, owner) =>
		void ended.push(`${kind} ${entries} ${reason} ${owner?.ownerName}`);
	const parts = { ...purgeParts(app), onEnded };
	const { purge } = purging(parts);
	const limits = new TrashLimits(parts, purge, {
		kept: { items: 3, pathBytes: 1_000 },
		uncounted: { items: 2, pathBytes: 1_000 },
	});
	const names = async () => (await trash()).entries.map(({ name }) => name).join('');
	const ada = await database.users.find('ada');
	const added = { ownerId: ada?.id ?? '', kind: 'item', path: parsePath('a') } as const;
	t.is(await limits.added(added), 0);
	t.is(await names(), 'fedcba', 'they are not counted for each one');
	t.is(await limits.added(added), 3);
	t.is(await names(), 'fed');
	t.deepEqual(ended, ['item 3 number ada']);
});

/** Limits of so many items and bytes of paths, with a user's items in the trash, each by its path and who has deleted it. */
async function limitedTrash(
	t: ExecutionContext,
	kept: TrashCount,
	records: readonly [path: string, deletedBy: string][],
) {
	const { app } = await setUp(t);
	const { database, storage } = app.services;
	let ms = 0;
	const parts = { ...purgeParts(app), monotonic: () => ms };
	const { purge } = purging(parts);
	const limits = new TrashLimits(parts, purge, { kept, uncounted: { items: 1, pathBytes: 100 } });
	const ownerId = (await database.users.find('ada'))?.id ?? '';
	let count = 0;
	const recordOf = (at: string, deletedBy: string): TrashedItem => {
		const id = `${++count}`.padStart(32, '0');
		const whose = { ownerId, ownerName: 'ada', deletedBy, rootId: storage.rootId, deletedAt: count };
		const kind = { kind: 'item', type: 'file', state: 'kept', size: { bytes: 1, entries: 1 } } as const;
		return { ...whose, ...kind, id, path: parsePath(at) };
	};
	await database.trash.addMissing(records.map(([at, deletedBy]) => recordOf(at, deletedBy)));
	return {
		app,
		ownerId,
		limits,
		allowance: new MemberAllowance(parts, kept),
		recordOf,
		store: database.trash,
		later: (by: number) => {
			ms += by;
		},
		paths: async () =>
			(await database.trash.list({ order: 'oldest', limit: 999, ownerId }))
				.map(({ path: at }) => baseName(at))
				.join(' '),
	};
}

test('what members have deleted ends nothing of the owner, and what the owner deletes ends nothing of theirs', async (t) => {
	const own = Array.from({ length: 7 }, (_, n) => [`a${n}`, 'ada'] as const);
	const bobs = Array.from({ length: 8 }, (_, n) => [`b${n}`, 'bob'] as const);
	const mixed = own.flatMap((each, n) => [[...each], [...(bobs[n] ?? each)]] as [string, string][]);
	const { limits, recordOf, paths } = await limitedTrash(t, { items: 5, pathBytes: 1_000 }, mixed);
	t.is(await limits.added(recordOf('b9', 'bob')), 2);
	t.is(await paths(), 'b0 b1 a2 b2 a3 b3 a4 b4 a5 b5 a6 b6');
	t.is(await limits.added(recordOf('a9', 'ada')), 0);
});

test('a member puts no more into the trash than half of what the others leave, also before it has rows', async (t) => {
	const { allowance, recordOf, store, later } = await limitedTrash(t, { items: 8, pathBytes: 1_000 }, [
		['a1', 'ada'],
		['b1', 'bob'],
	]);
	const adds = async (by: string, at = 'x') =>
		(await Promise.allSettled(Array.from({ length: 9 }, () => allowance.assertRoom(recordOf(at, by))))).filter(
			({ status }) => status === 'fulfilled',
		).length;
	t.is(await adds('bob'), 3, 'with the one that he has already');
	t.is(await adds('carol'), 2);
	t.is(await adds('dave'), 1);
	t.is(await adds('ada'), 9, 'the owner is not limited by them');
	later(3_000);
	t.is(await adds('bob'), 0, 'what has no row yet counts');
	later(5_000);
	t.is(await adds('bob'), 3, 'and what has failed does not for long');
	await store.addMissing(Array.from({ length: 3 }, () => recordOf('b', 'bob')));
	later(30_000);
	t.is(await adds('bob'), 0);
	const refused = await t.throwsAsync(allowance.assertRoom(recordOf('b', 'bob')));
	t.like(refused, { kind: 'storageFull' });
	t.is(await adds('carol', 'd'.repeat(250)), 1, 'by the bytes of paths');
	t.is(await adds('dave', 'd'.repeat(250)), 1);
});

test('short paths of members leave the owner the room for long ones', async (t) => {
	const long = 'd'.repeat(200);
	const short = Array.from({ length: 90 }, (_, n) => [`short ${n}`, 'bob'] as [string, string]);
	const { limits, recordOf, paths } = await limitedTrash(t, { items: 100, pathBytes: 700 }, [
		[`${long}/a`, 'ada'],
		[`${long}/b`, 'ada'],
		[`${long}/c`, 'ada'],
		...short,
	]);
	t.is(await limits.added(recordOf(`${long}/d`, 'bob')), 0);
	t.true((await paths()).startsWith('a b c short 0'));
	const ownerId = recordOf('a', 'ada').ownerId;
	// The owner's own moves may make paths of members' versions longer.
	t.is(await limits.lengthened(ownerId, 100), 0);
});

test('half of a long list of the trash is for what the owner has deleted, however much members delete after it', async (t) => {
	const own = Array.from({ length: 450 }, (_, n) => [`a${n}`, 'ada'] as [string, string]);
	const bobs = Array.from({ length: 3_000 }, (_, n) => [`b${n}`, 'bob'] as [string, string]);
	const records = [...own, ...bobs.slice(0, 2_500), ['last', 'ada'] as [string, string], ...bobs.slice(2_500)];
	const { app, ownerId } = await limitedTrash(t, { items: 9, pathBytes: 9 }, records);
	const list = async (limit: number, maxCharacters?: number) => {
		const { items, isAll } = await app.services.trashBin.list(ownerId, limit, maxCharacters);
		t.false(isAll);
		t.deepEqual(
			items.map(({ deletedAt }) => deletedAt),
			items.map(({ deletedAt }) => deletedAt).sort((one, other) => other - one),
			'the newest first',
		);
		return items.map(({ path: at }) => at as string);
	};
	t.deepEqual(await list(6), ['b2999', 'b2998', 'b2997', 'last', 'a449', 'a448']);
	const many = await list(1_000);
	t.deepEqual([many.length, many.filter((at) => !at.startsWith('b')).length, many.at(-1)], [1_000, 451, 'a0']);
	const short = await list(3_000, 1_000);
	t.true(short.filter((at) => at.startsWith('a')).length >= 100, `${short}`);
	t.true(short.join('').length < 3_000, `${short.join('').length}`);
	t.is((await list(501)).length, 501);
});

test('what gives way to others is recorded for each user whose it was, also where the oldest are of many', async (t) => {
	const { app } = await setUp(t);
	const { database, audit, storage } = app.services;
	await new Client(app).register('bob');
	const idOf = async (name: string) => (await database.users.find(name))?.id ?? '';
	const owners = [
		{ ownerId: await idOf('ada'), ownerName: 'ada' },
		{ ownerId: await idOf('bob'), ownerName: 'bob' },
		// Another account has the name by now.
		{ ownerId: 'gone', ownerName: 'ada' },
		{ ownerId: anonymousOwner, ownerName: anonymousOwner },
	] as const;
	await database.trash.addMissing(
		Array.from({ length: 12 }, (_, n): TrashedItem => {
			const owner = owners[n % 4] ?? owners[0];
			const made = { ...owner, deletedBy: owner.ownerName, rootId: storage.rootId, deletedAt: n };
			const kept = { kind: 'item', type: 'file', state: 'kept', size: { bytes: 10, entries: 1 } } as const;
			return { ...made, ...kept, id: `${n}`.padStart(32, '0'), path: parsePath(`${n}`) };
		}),
	);
	const lacks = [100, 100, 0];
	const isThere = await app.services.trashBin.eviction.giveWay({ rootId: storage.rootId }, async () => ({
		...{ bytes: lacks.length > 1 ? (lacks.shift() ?? 0) : 0, entries: 0 },
	}));
	t.true(isThere);
	await audit.close();
	const lines = (await recordsOf(app)).filter(({ action }) => action === 'purgeTrash');
	t.true(lines.every(({ detail, user }) => detail === 'space' && user === undefined));
	t.deepEqual(
		lines.map(({ account, accountId, owner, entries }) => ({ account, accountId, owner, entries })),
		[
			{ account: 'ada', accountId: owners[0].ownerId, owner: undefined, entries: 3 },
			{ account: 'bob', accountId: owners[1].ownerId, owner: undefined, entries: 3 },
			{ account: undefined, accountId: 'gone', owner: undefined, entries: 2 },
			{ account: undefined, accountId: undefined, owner: anonymousOwner, entries: 2 },
		],
	);
});

test('of more bytes of paths than a user may keep the oldest long ones go, and no others', async (t) => {
	const { app, home, remove, trash } = await setUp(t);
	const { database } = app.services;
	const deep = Array(4).fill('d'.repeat(60)).join('/');
	await mkdir(home(deep), { recursive: true });
	for (const name of ['a', `${deep}/b`, `${deep}/c`, 'd', `${deep}/e`]) {
		await writeFile(home(name), name);
		await remove(name);
	}
	const names = async () => (await trash()).entries.map(({ name }) => name).join('');
	t.is(await names(), 'edcba');
	const parts = purgeParts(app);
	const limits = new TrashLimits(parts, purging(parts).purge, {
		kept: { items: 100, pathBytes: 600 },
		uncounted: { items: 1_000, pathBytes: 500 },
	});
	const added = (path: string) => limits.added({ ownerId: id, kind: 'item', path: parsePath(path) });
	const id = (await database.users.find('ada'))?.id ?? '';
	t.is(await added(`${deep}/b`), 0);
	t.is(await added(`${deep}/c`), 0);
	t.is(await names(), 'edcba', 'they are not counted for each one');
	t.deepEqual(await Promise.all([added(`${deep}/e`), limits.lengthened(id, 500)]), [1, 0]);
	t.is(await names(), 'edca');
});

test('long paths that are too many are looked for once, and not again past those that stay', async (t) => {
	const asked: unknown[] = [];
	const store = {
		count: async () => ({ items: 3, pathBytes: 140, ofOthers: new Map() }),
		async list({ after }: { after?: TrashedItem }) {
			asked.push(after?.id);
			return [{ id: `after ${after?.id}`, path: parsePath('d'.repeat(20)) }];
		},
	};
	const purge = { endSuperfluous: async (records: readonly unknown[]) => records.length };
	const limits = new TrashLimits({ store } as never, purge, {
		kept: { items: 10, pathBytes: 100 },
		uncounted: { items: 1, pathBytes: 100 },
	});
	t.is(await limits.added({ ownerId: 'ada', kind: 'item', path: parsePath('a') }), 2);
	t.deepEqual(asked, [undefined, 'after undefined']);
});

test('what members have put in goes only where moves make its paths too long, whatever they add', async (t) => {
	const asked: unknown[] = [];
	const ofOthers = new Map([['bob', { items: 3, pathBytes: 300 }]]);
	let counted = 0;
	const store = {
		async count() {
			counted++;
			return { items: 3, pathBytes: 300, ofOthers };
		},
		async list({ deletedBy }: { deletedBy?: string }) {
			asked.push(deletedBy);
			return [{ id: 'b', path: parsePath('d'.repeat(150)) }];
		},
	};
	const purge = { endSuperfluous: async (records: readonly unknown[]) => records.length };
	const limits = new TrashLimits({ store } as never, purge, {
		kept: { items: 10, pathBytes: 100 },
		uncounted: { items: 1, pathBytes: 100 },
	});
	t.is(await limits.added({ ownerId: 'ada', kind: 'version', path: parsePath('d'.repeat(150)) }), 0);
	t.deepEqual(asked, []);
	t.is(await limits.lengthened('ada', 100), 1);
	t.deepEqual(asked, ['others']);
	t.is(counted, 2, 'once for either side');
});

test('what a member’s moves make longer counts at once, for either side', async (t) => {
	const parts = { store: { count: async () => ({ items: 0, pathBytes: 0, ofOthers: new Map() }) }, monotonic: () => 0 };
	const allowance = new MemberAllowance(parts as never, { items: 10, pathBytes: 1_000 });
	const long = { ownerId: 'ada', ownerName: 'ada', kind: 'version', path: parsePath('d'.repeat(150)) } as const;
	const refused = { instanceOf: Failure, message: /no room/ };
	await allowance.assertRoom({ ...long, deletedBy: 'bob' });
	await allowance.assertRoomForVersionPaths('ada', 'bob', 300);
	await t.throwsAsync(allowance.assertRoom({ ...long, deletedBy: 'bob' }), refused);
	await t.throwsAsync(allowance.assertRoomForVersionPaths('ada', 'carol', 250), refused, 'they may be of the owner');
	await allowance.assertRoom({ ...long, deletedBy: 'carol' }, { isOnlyAsked: true });
	await allowance.assertRoom({ ...long, deletedBy: 'carol' });
	await t.throwsAsync(allowance.assertRoom({ ...long, deletedBy: 'carol' }), refused);
});

test('what lies on a disk of its own says that it can only be deleted forever, and stays', async (t) => {
	const { app, ada, home, trash } = await setUp(t);
	Object.assign(app.services.roots.first.storage, {
		async move() {
			throw new Failure('conflict', 'fox.txt lies on another disk than the rest of the storage.');
		},
	});
	const answer = await ada.call('DELETE', '/api/deleteItem', { filePath: 'docs/fox.txt', type: 'private' });
	t.is(answer.statusCode, 409);
	t.is(
		json(answer).message,
		'fox.txt lies on another disk than the rest of the storage. It can’t be moved to the trash, but deleted forever.',
	);
	t.deepEqual((await trash()).entries, []);
	t.is(await readFile(home('docs/fox.txt'), 'utf8'), 'The quick brown fox');
	const forGood = { filePath: 'docs/fox.txt', type: 'private', permanent: true };
	t.is((await ada.call('DELETE', '/api/deleteItem', forGood)).statusCode, 200);
});

test('items that can’t be removed or completed, as those of a root that is away, hold up no others', async (t) => {
	const clock = { ms: Date.now() };
	const { app, remove, onDisk } = await setUp(t, {}, { now: () => clock.ms, monotonic: () => clock.ms });
	const { database, roots, trashBin } = app.services;
	const [fox, dog] = [await remove('docs/fox.txt'), await remove('docs/deep/dog.txt')];
	await until('both are recorded', async () => (await database.trash.get(dog))?.state === 'kept');
	const record = await database.trash.get(fox);
	if (record === undefined) return t.fail();
	const { storage } = roots.first;
	const stat = storage.stat.bind(storage);
	Object.assign(storage, {
		async stat(at: string) {
			if (/\/away/.test(at)) throw new Failure('unavailable', 'This disk is away.');
			return stat(at as never);
		},
	});
	for (const state of ['purging', 'moving'] as const) {
		for (let n = 0; n < 250; n++)
			await database.trash.add({ ...record, id: `away-${state}-${n}`, state, deletedAt: clock.ms });
	}
	clock.ms += 1000;
	t.true(await database.trash.beginLeaving(dog));
	t.is(await trashBin.purge({ ids: [fox] }), 1);
	await trashBin.removePurged();
	t.deepEqual(await onDisk(), [dog]);
	clock.ms += 2 * 60_000;
	await trashBin.sweep();
	t.is((await database.trash.get(dog))?.state, 'kept');
	t.is((await database.trash.inState('purging', { limit: 999 })).length, 250);
});
