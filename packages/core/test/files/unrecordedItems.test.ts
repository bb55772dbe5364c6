import { EventEmitter, once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Failure, joinPath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import type { AppOptions } from '../../src/index.js';
import { assertNoTrash } from '../../src/trees/roots/assertUnused.js';
import { unrecordedName } from '../../src/trees/trash/recording/unrecordedNames.js';
import { unrecordedFolder } from '../../src/trees/trash/trashPaths.js';
import { logLines } from '../logLines.js';
import { Client, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

async function setUp(t: ExecutionContext, options: AppOptions = {}) {
	const app = await testApp(t, {}, options);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	const arriving = path.join(app.filesDir, '.stowage/trash/arriving');
	return {
		app,
		ada,
		home,
		arriving,
		/** Makes a file of the private area, deletes it and resolves to its id. */
		async remove(filePath: string): Promise<string> {
			await mkdir(path.dirname(path.join(home, filePath)), { recursive: true });
			await writeFile(path.join(home, filePath), filePath);
			const answer = await ada.call('DELETE', '/api/deleteItem', { filePath, type: 'private' });
			t.is(answer.statusCode, 200, answer.payload);
			return json(answer).trashId;
		},
		async names(client = ada): Promise<string[]> {
			const { entries } = json(await client.get('/api/trash')) as { entries: { name: string }[] };
			return entries.map(({ name }) => name).sort();
		},
		/** As if the process had ended just after the rename of a deletion. */
		async interrupt(filePath: string, id: string): Promise<void> {
			const owner = await app.services.database.users.find('ada');
			const kept = { ownerId: owner?.id ?? '', ownerName: 'ada', deletedBy: 'ada', deletedAt: Date.now() };
			const name = unrecordedName({ ...kept, id, path: filePath as never });
			await mkdir(arriving, { recursive: true });
			await rename(path.join(home, filePath), path.join(arriving, name ?? ''));
		},
	};
}

/** A second server on the same files and database. */
async function second(t: ExecutionContext, { dataDir, filesDir }: TestApp): Promise<{ app: TestApp; ada: Client }> {
	const app = await testApp(t, { '--data-dir': dataDir });
	const ada = new Client({ ...app, filesDir } as TestApp);
	await ada.post('/api/login', { username: 'ada', password: 'correct horse' });
	return { app, ada };
}

test('a deletion is one rename: nothing is written to the database before it is answered', async (t) => {
	const { app, arriving, remove, names } = await setUp(t);
	const { trash: store } = app.services.database;
	const calls: string[] = [];
	for (const call of ['add', 'addMissing'] as const) {
		const plain = store[call].bind(store) as (...given: unknown[]) => Promise<void>;
		Object.assign(store, { [call]: (...given: unknown[]) => calls.push(call) && plain(...given) });
	}
	const id = await remove('docs/a.txt');
	t.deepEqual(calls, []);
	t.is((await readdir(arriving)).length, 1);
	t.deepEqual(await names(), ['a.txt']);
	t.like(await store.get(id), { state: 'kept', path: 'docs/a.txt', size: { bytes: 10, entries: 1 } });
	t.deepEqual(await readdir(arriving), []);
});

test('what one process deletes is in the trash of another one at once, and in the trash once where both record it', async (t) => {
	const { app, home, remove, names } = await setUp(t);
	const other = await second(t, app);
	const ids = [await remove('a.txt')];
	t.deepEqual(await names(other.ada), ['a.txt']);
	for (let n = 0; n < 40; n++) ids.push(await remove(`${n}.txt`));
	const { trashBin, database } = app.services;
	await Promise.all([trashBin.recordAll(), other.app.services.trashBin.recordAll(), names(), names(other.ada)]);
	t.is((await names()).length, 41);
	t.deepEqual(await database.trash.totals({}), { bytes: 5 + 10 * 5 + 30 * 6, entries: 41, unmeasured: 0 });
	const answer = json(await other.ada.post('/api/trash/restore', { ids }));
	t.deepEqual([answer.restored.length, answer.failed], [41, []]);
	t.is(await readFile(path.join(home, '39.txt'), 'utf8'), '39.txt');
	t.is((await database.trash.totals({})).entries, 0);
});

test('what was deleted when the process ended is in the trash, however far it was recorded', async (t) => {
	const { app, home, interrupt, names, ada, arriving } = await setUp(t);
	const { database, storage, trashBin } = app.services;
	await writeFile(path.join(home, 'a.txt'), 'a');
	await mkdir(path.join(home, 'docs/deep'), { recursive: true });
	await writeFile(path.join(home, 'docs/deep/b.txt'), 'b');
	await interrupt('a.txt', 'a'.repeat(32));
	await interrupt('docs', 'd'.repeat(32));
	const owner = await database.users.find('ada');
	// One has its row already.
	const kept = { ownerId: owner?.id ?? '', ownerName: 'ada', deletedBy: 'ada', rootId: storage.rootId };
	const a = { ...kept, kind: 'item', path: 'a.txt' as never, type: 'file', size: { bytes: 1, entries: 1 } } as const;
	await database.trash.add({ ...a, id: 'a'.repeat(32), deletedAt: Date.now(), state: 'moving' });
	await trashBin.sweep();
	t.deepEqual(await readdir(arriving), []);
	t.deepEqual(await names(), ['a.txt', 'docs']);
	const ids = ['a'.repeat(32), 'd'.repeat(32)];
	t.is(json(await ada.post('/api/trash/restore', { ids })).restored.length, 2);
	t.is(await readFile(path.join(home, 'docs/deep/b.txt'), 'utf8'), 'b');
});

test('a root is not removed while something lies in its trash that has no row yet', async (t) => {
	const { app, home, interrupt } = await setUp(t);
	const { database, roots } = app.services;
	const refused = () => assertNoTrash(database, 'default', roots.first);
	await t.notThrowsAsync(refused);
	await writeFile(path.join(home, 'a.txt'), 'a');
	await interrupt('a.txt', 'a'.repeat(32));
	await t.throwsAsync(refused, { message: /a\.txt of ada/ });
});

test('a note is beside what was deleted before it gets its own name', async (t) => {
	const { app, remove } = await setUp(t);
	const id = await remove('a.txt');
	const { storage } = app.services.roots.first;
	let notes = '';
	const move = storage.move.bind(storage);
	Object.assign(storage, {
		async move(...given: Parameters<typeof move>) {
			const folder = path.join(app.filesDir, '.stowage/trash');
			for (const name of await readdir(folder))
				if (name.startsWith('notes-')) notes += await readFile(path.join(folder, name), 'utf8');
			return move(...given);
		},
	});
	await app.services.trashBin.recordAll();
	t.true(notes.includes(id));
});

test('no row stays of what another process has recorded and restored meanwhile', async (t) => {
	const { app, remove, ada } = await setUp(t);
	const id = await remove('a.txt');
	const { storage } = app.services.roots.first;
	const list = storage.list.bind(storage);
	const stale: Awaited<ReturnType<typeof batches>> = await batches();
	async function batches() {
		const found = [];
		for await (const batch of list(unrecordedFolder)) found.push([...batch]);
		return found;
	}
	t.is(stale.flat().length, 1);
	t.is(json(await ada.post('/api/trash/restore', { ids: [id] })).restored.length, 1);
	Object.assign(storage, {
		list: (at: string) => (at === unrecordedFolder ? stale[Symbol.iterator]() : list(at as never)),
	});
	await app.services.trashBin.recordAll();
	t.is(await app.services.database.trash.get(id), undefined);
});

test('an item that another process restores while it is being recorded is not taken for kept if that process ends then', async (t) => {
	const { app, remove } = await setUp(t);
	const other = await second(t, app);
	const steps = new EventEmitter();
	const [recording, leaving, settled] = ['recording', 'leaving', 'settled'].map((step) => once(steps, step));
	const { settle } = app.services.database.trash;
	app.services.database.trash.settle = async (ids, from) => {
		steps.emit('recording');
		await leaving;
		const count = await settle(ids, from);
		steps.emit('settled');
		return count;
	};
	const { trash } = other.app.services.database;
	const { beginLeaving } = trash;
	trash.beginLeaving = async (id) => {
		const result = await beginLeaving(id);
		steps.emit('leaving');
		return result;
	};
	// As if the process ended before it.
	trash.remove = () => Promise.reject(new Failure('unavailable', 'The database is away.'));
	const long = joinPath('folder'.repeat(30) as never, `${'ü'.repeat(60)}.txt`);
	const id = await remove(long);
	await recording;
	t.is(json(await other.ada.post('/api/trash/restore', { ids: [id] })).restored.length, 1);
	await settled;
	t.is((await trash.get(id))?.state, 'leaving');
});

test('a database without room keeps nothing from being deleted, and what was is in the trash once there is room', async (t) => {
	const { app, ada, remove, names } = await setUp(t);
	const { trash } = app.services.database;
	const { addMissing } = trash;
	const old = await remove('old.txt');
	t.deepEqual(await names(), ['old.txt']);
	Object.assign(trash, { addMissing: () => Promise.reject(new Failure('storageFull', 'The disk is full.')) });
	const id = await remove('a.txt');
	t.deepEqual(await names(), ['old.txt'], 'what has a row is listed');
	const refused = await ada.post('/api/trash/restore', { ids: [id] });
	t.is(json(refused).failed[0].code, 'STORAGE_FULL', 'it is not said to be gone');
	Object.assign(trash, { addMissing });
	t.deepEqual(await names(), ['a.txt', 'old.txt']);
	t.is(json(await ada.post('/api/trash/restore', { ids: [id, old] })).restored.length, 2);
});

test('an item whose path is too long for a name, or whose disk has no such names, gets its row before it is moved', async (t) => {
	const { app, home, remove, names, ada } = await setUp(t);
	const { database, roots } = app.services;
	const long = joinPath('folder'.repeat(30) as never, `${'ü'.repeat(60)}.txt`);
	const id = await remove(long);
	t.is((await database.trash.get(id))?.path, long);
	const { storage } = roots.first;
	const move = storage.move.bind(storage);
	Object.assign(storage, {
		async move(...given: Parameters<typeof move>) {
			if (given[1].startsWith(unrecordedFolder)) throw new Failure('invalidName', 'That name is too long.');
			return move(...given);
		},
	});
	const short = await remove('a.txt');
	t.truthy(await database.trash.get(short));
	t.deepEqual(await names(), ['a.txt', `${'ü'.repeat(60)}.txt`]);
	t.is(json(await ada.post('/api/trash/restore', { ids: [id, short] })).restored.length, 2);
	t.is(await readFile(path.join(home, long), 'utf8'), long);
});

test('the row that is written first says the size and type of what was deleted, also where that came meanwhile', async (t) => {
	const { app, home, remove, names } = await setUp(t);
	const { trash } = app.services.database;
	const folder = 'folder'.repeat(30);
	const { add } = trash;
	/** Deletes a file, in whose place there is something else once its row is written. */
	const removeOther = async (name: string, replace: (at: string) => Promise<unknown>) => {
		trash.add = async (record) => {
			await add(record);
			await replace(path.join(home, folder, name));
		};
		const id = await remove(joinPath(folder as never, name));
		trash.add = add;
		await until('it is settled', async () => (await trash.get(id))?.state === 'kept');
		return trash.get(id);
	};
	const large = `${'ü'.repeat(60)}.txt`;
	const replaced = await removeOther(large, (at) => writeFile(at, Buffer.alloc(100_000)));
	t.like(replaced, { type: 'file', size: { bytes: 100_000, entries: 1 } });
	const tree = await removeOther(`${'ä'.repeat(60)}.txt`, async (at) => {
		await rm(at);
		await mkdir(at);
		await writeFile(path.join(at, 'a.txt'), 'abc');
	});
	t.is(tree?.type, 'directory');
	t.is((await names()).length, 2);
	t.deepEqual(await trash.totals({}), { bytes: 100_003, entries: 3, unmeasured: 0 });
});

test('a file whose row was written first is measured where the process ended before its row had the size', async (t) => {
	const { app, remove, names } = await setUp(t);
	const { trash } = app.services.database;
	const { setSizes } = trash;
	trash.setSizes = () => Promise.reject(new Failure('unavailable', 'The database is away.'));
	const name = `${'ü'.repeat(60)}.txt`;
	const id = await remove(joinPath('folder'.repeat(30) as never, name));
	await wait(500);
	t.is((await trash.get(id))?.size, undefined);
	trash.setSizes = setSizes;
	t.deepEqual(await names(), [name]);
	t.deepEqual(await trash.totals({}), { bytes: 180 + 1 + 124, entries: 1, unmeasured: 0 });
});

test('one item that can’t be moved on holds up no others, and is tried again', async (t) => {
	const { app, remove, names } = await setUp(t);
	const { storage } = app.services.roots.first;
	const move = storage.move.bind(storage);
	const stuck = await remove('stuck.txt');
	await remove('a.txt');
	Object.assign(storage, {
		async move(...given: Parameters<typeof move>) {
			if (given[1].endsWith(stuck)) throw new Error('EIO');
			return move(...given);
		},
	});
	t.deepEqual(await names(), ['a.txt', 'stuck.txt'], 'it is where it has arrived');
	t.is((await app.services.database.trash.get(stuck))?.state, 'moving');
	Object.assign(storage, { move });
	t.deepEqual(await names(), ['a.txt', 'stuck.txt']);
	t.is((await app.services.database.trash.get(stuck))?.state, 'kept');
});

test('names in the folder of arriving items that say nothing are left alone, and logged once', async (t) => {
	const { log, lines } = logLines();
	const { arriving, remove, names } = await setUp(t, { log });
	await remove('a.txt');
	await mkdir(path.join(arriving, 'a folder'));
	await writeFile(path.join(arriving, `${'0'.repeat(32)}.junk.txt`), '');
	t.deepEqual(await names(), ['a.txt']);
	t.deepEqual(await names(), ['a.txt']);
	t.is((await readdir(arriving)).length, 2);
	const logged = lines.map((line) => JSON.parse(line)).filter(({ folder }) => folder === unrecordedFolder);
	t.deepEqual(logged.map(({ item }) => item).sort(), [`${'0'.repeat(32)}.junk.txt`, 'a folder']);
});

test('what has a line separator in its path is in the trash like anything else', async (t) => {
	const { app, ada, home, arriving, remove, names } = await setUp(t);
	const ids: string[] = [];
	for (const odd of ['a\u2028b.txt', 'a\u2029b.txt', 'two\u2028lines/a.txt']) ids.push(await remove(odd));
	await app.services.trashBin.recordAll();
	t.deepEqual(await readdir(arriving), []);
	t.deepEqual(await names(), ['a.txt', 'a\u2028b.txt', 'a\u2029b.txt']);
	t.is(json(await ada.post('/api/trash/restore', { ids })).restored.length, 3);
	t.is(await readFile(path.join(home, 'two\u2028lines/a.txt'), 'utf8'), 'two\u2028lines/a.txt');
});

/** Nothing can be written to the disk of the root any more; names can be changed. */
function fill(app: TestApp): () => void {
	const { storage } = app.services.roots.first;
	const stage = storage.stage.bind(storage);
	Object.assign(storage, { stage: () => Promise.reject(new Failure('storageFull', 'The storage is full.')) });
	return () => void Object.assign(storage, { stage });
}

test('what is deleted on a full disk is listed, restored and removed at once, so that room can be made', async (t) => {
	const { app, ada, home, arriving, remove, names } = await setUp(t);
	const old = await remove('old.txt');
	t.deepEqual(await names(), ['old.txt']);
	const empty = fill(app);
	const [restored, purged] = [await remove('docs/a.txt'), await remove('b.txt')];
	await remove('c.txt');
	t.is((await readdir(arriving)).length, 3);
	t.deepEqual(await names(), ['a.txt', 'b.txt', 'c.txt', 'old.txt']);
	const answer = json(await ada.post('/api/trash/restore', { ids: [restored] }));
	t.deepEqual([answer.restored.length, answer.failed], [1, []]);
	t.is(await readFile(path.join(home, 'docs/a.txt'), 'utf8'), 'docs/a.txt');
	t.is((await ada.call('DELETE', `/api/trash/${purged}`)).statusCode, 200);
	t.deepEqual(await names(), ['c.txt', 'old.txt']);
	t.is((await ada.call('DELETE', `/api/trash/${old}`)).statusCode, 200);
	t.deepEqual(await names(), ['c.txt']);
	t.is((await ada.call('DELETE', '/api/trash')).statusCode, 200);
	t.deepEqual(await names(), []);
	await app.services.trashBin.removePurged();
	t.deepEqual(await readdir(arriving), []);
	const late = await remove('d.txt');
	t.deepEqual(await names(), ['d.txt']);
	empty();
	t.deepEqual(await names(), ['d.txt']);
	t.deepEqual(await readdir(arriving), []);
	t.is((await app.services.database.trash.get(late))?.state, 'kept');
});

test('a folder that was deleted on a full disk is measured and restored with all that is in it', async (t) => {
	const { app, ada, home, names } = await setUp(t);
	await mkdir(path.join(home, 'docs/deep'), { recursive: true });
	await writeFile(path.join(home, 'docs/deep/b.txt'), 'b');
	fill(app);
	const answer = await ada.call('DELETE', '/api/deleteItem', { filePath: 'docs', type: 'private' });
	const { trashId: id } = json(answer);
	t.deepEqual(await names(), ['docs']);
	t.is((await app.services.database.trash.totals({})).entries, 3);
	t.is(json(await ada.post('/api/trash/restore', { ids: [id] })).restored.length, 1);
	t.is(await readFile(path.join(home, 'docs/deep/b.txt'), 'utf8'), 'b');
});

test('no row stays of what is restored while the full disk keeps its note from being written', async (t) => {
	const { app, remove } = await setUp(t);
	const other = await second(t, app);
	fill(app);
	fill(other.app);
	const id = await remove('a.txt');
	const { trash } = app.services.database;
	const { addMissing } = trash;
	trash.addMissing = async (records) => {
		trash.addMissing = addMissing;
		t.is(json(await other.ada.post('/api/trash/restore', { ids: [id] })).restored.length, 1);
		await addMissing(records);
	};
	await app.services.trashBin.recordAll();
	t.is(trash.addMissing, addMissing);
	t.is(await trash.get(id), undefined);
});

test('what can get no row keeps nobody from their own trash, and an emptied one says what it has left', async (t) => {
	const { app, ada, remove, names } = await setUp(t);
	const [one, two] = [await remove('one.txt'), await remove('two.txt')];
	t.deepEqual(await names(), ['one.txt', 'two.txt']);
	const bob = await new Client(app).register('bob');
	await writeFile(path.join(app.filesDir, 'users/bob/b.txt'), 'b');
	const { trash } = app.services.database;
	const { addMissing } = trash;
	Object.assign(trash, { addMissing: () => Promise.reject(new Failure('storageFull', 'The disk is full.')) });
	await bob.call('DELETE', '/api/deleteItem', { filePath: 'b.txt', type: 'private' });
	t.is(json(await ada.post('/api/trash/restore', { ids: [one] })).restored.length, 1);
	t.is((await ada.call('DELETE', `/api/trash/${two}`)).statusCode, 200);
	t.is((await ada.call('DELETE', '/api/trash')).statusCode, 200);
	t.is((await bob.call('DELETE', '/api/trash')).statusCode, 507);
	Object.assign(trash, { addMissing });
	t.deepEqual(await names(bob), ['b.txt']);
	t.is((await bob.call('DELETE', '/api/trash')).statusCode, 200);
	t.deepEqual(await names(bob), []);
});

test('a server that ends records also what was deleted while it recorded something else', async (t) => {
	const { app, remove } = await setUp(t);
	const { database, trashBin } = app.services;
	const { trash: store } = database;
	const real = store.addMissing.bind(store);
	const blocked = new EventEmitter();
	let isFirst = true;
	store.addMissing = async (records) => {
		if (isFirst) {
			isFirst = false;
			blocked.emit('begun');
			await once(blocked, 'open');
		}
		return real(records);
	};
	const begun = once(blocked, 'begun');
	await remove('a.txt');
	await begun;
	const id = await remove('b.txt');
	// Its own turn has come by then, and waits for the first.
	await wait(1_500);
	const closed = trashBin.close();
	blocked.emit('open');
	await closed;
	t.like(await store.get(id), { path: 'b.txt', state: 'kept' });
});
