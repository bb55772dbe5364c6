import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import {
	chmod,
	chown,
	cp,
	mkdir,
	mkdtemp,
	open,
	readdir,
	readFile,
	readlink,
	rm,
	stat,
	symlink,
	utimes,
	writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
	type AccessStorage,
	type CommitOptions,
	type FolderTimesStorage,
	hasAccess,
	hasListWithStats,
	type Job,
} from '@stowage/plugin-api';
import { Failure, isFailure, parsePath, type StoragePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { linksWithin } from '../../../conformance/src/repositories/rules.js';
import { recoverTrash } from '../../src/index.js';
import { LeftCopies } from '../../src/trees/trash/LeftCopies.js';
import { moveAllTrash } from '../../src/trees/trash/moveTrash.js';
import type { TrashParts } from '../../src/trees/trash/trashParts.js';
import { Client, file, json, type TestApp, testApp } from '../testApp.js';
import { begin, head, patch, uploadState } from '../tusClient.js';
import { until } from '../until.js';

interface Fixture {
	app: TestApp;
	ada: Client;
	/** The home on the first root. */
	home: string;
	/** The second root. */
	big: string;
	/** The place of the home on the second root. */
	newHome: string;
}

/** Ada, whose home lies on the first of two roots. */
async function setUp(t: ExecutionContext): Promise<Fixture> {
	const app = await testApp(t);
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	// The server still writes there for a moment.
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	const big = path.join(disk, 'root');
	await app.services.rootAdministration.add('big', 'local', big);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	await mkdir(path.join(home, 'docs/deep/empty'), { recursive: true });
	await writeFile(path.join(home, 'docs/a.txt'), 'alpha');
	await writeFile(path.join(home, 'docs/deep/é 1.bin'), Buffer.alloc(3_000_000, 'x'));
	await writeFile(path.join(home, 'Public/shown.txt'), 'for all');
	for (const [name, seconds] of times) await utimes(path.join(home, name), seconds, seconds);
	return { app, ada, home, big, newHome: path.join(big, 'users/ada') };
}

const times = [
	['docs/a.txt', 1_500_000_001],
	['docs/deep/empty', 1_500_000_002],
	['docs/deep', 1_500_000_003],
	['docs', 1_500_000_004],
] as const;

function mover({ app }: Fixture) {
	const { homeMoves, jobs, accounts } = app.services;
	const owner = async () => ({ ...(await accounts.find('ada')), kind: 'user' as const });
	return {
		start: () => homeMoves.start('ada', 'big'),
		async ended({ id }: Job): Promise<Job> {
			return (await jobs.waitForEnd(await owner(), id, 5 * 60_000)) as Job;
		},
		/** Resolves to why it waits once it does. */
		async waiting({ id }: Job): Promise<string> {
			const reasonNow = async () => (await jobs.find(await owner(), id)).hold?.reason;
			return (await until('it waits', reasonNow)) as string;
		},
	};
}

/** Blocks calls of a method until `release` is called. */
function block<Key extends string>(owner: { [key in Key]: unknown }, name: Key) {
	const method = owner[name] as (...args: unknown[]) => Promise<unknown>;
	let onArrival = () => {};
	let release = () => {};
	const arrived = new Promise<void>((resolve) => {
		onArrival = resolve;
	});
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	const blocked = async (...args: unknown[]) => {
		onArrival();
		await released;
		return method.call(owner, ...args);
	};
	Object.assign(owner, { [name]: blocked });
	return { arrived, release };
}

async function assertWhole(t: ExecutionContext, home: string) {
	t.is(await readFile(path.join(home, 'docs/a.txt'), 'utf8'), 'alpha');
	t.is((await readFile(path.join(home, 'docs/deep/é 1.bin'))).length, 3_000_000);
	t.is(await readFile(path.join(home, 'Public/shown.txt'), 'utf8'), 'for all');
	for (const [name, seconds] of times) t.is((await stat(path.join(home, name))).mtimeMs, seconds * 1000, name);
}

/** The ids of the items in the trash of a root. */
const trashed = async (root: string) =>
	(await names(path.join(root, '.stowage/trash'))).filter((name) => /^[0-9a-f]{32}$/.test(name));

const names = async (folder: string) => (await readdir(folder).catch(() => [])).sort();

async function assertNotMoved(t: ExecutionContext, { ada, home, big, newHome }: Fixture) {
	await assertWhole(t, home);
	await until('nothing is left at the target', async () => (await names(path.join(big, 'copies'))).length === 0);
	t.deepEqual(await names(newHome), []);
	t.is((await ada.upload('/api/upload', [file('later.txt', 'l')])).statusCode, 200, 'the home is not frozen');
	t.deepEqual(await names(path.join(home, 'later.txt').replace('/later.txt', '')), ['Public', 'docs', 'later.txt']);
}

test('a home moves to another root while its user works, and keeps its links, uploads and times', async (t) => {
	const fixture = await setUp(t);
	const { app, ada, home, newHome } = fixture;
	const visitor = new Client(app);
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'docs/a.txt', expiration: '1h' }));
	const folderLink = json(await ada.post('/api/generateTempLink', { filePath: 'docs/deep', expiration: '1h' }));
	const sharing = { items: [{ path: 'docs' }], mode: 'both' };
	const { url } = json(await ada.post('/api/shares', sharing)) as { url: string };
	const share = `/api/share/${url.split('/').at(-1)}`;
	const bob = await new Client(app).register('bob');
	await ada.call('PUT', '/api/members', { path: 'docs', members: [{ username: 'bob', role: 'edit' }] });
	const linkWorks = async (when: string) => {
		t.is((await bob.get('/api/download/docs/a.txt?type=shared')).payload, 'alpha', when);
		t.is((await visitor.get(`${share}/download/a.txt`)).payload, 'alpha', when);
		t.is((await visitor.get(`/api/temp/${token}`)).payload, 'alpha', when);
		t.is((await visitor.get(`/api/temp/${folderLink.token}`)).statusCode, 200, when);
	};
	await linkWorks('before');
	const upload = await begin(ada, 10, { filename: 'sixty.txt', area: 'private' });
	await patch(ada, upload, 0, '012345');
	const other = await begin(ada, 4, { filename: 'other.txt', area: 'private' });

	const { start, ended } = mover(fixture);
	const freezing = block(app.services.database.homes, 'setFrozen');
	const switching = block(app.services.database.homes, 'switchRoot');
	const job = await start();
	t.is(job.title, 'Move the home to big');
	await t.throwsAsync(start(), { message: /too many|already|wait/i });
	await freezing.arrived;
	t.like(await app.services.homeMoves.list(), [{ job: { id: job.id }, username: 'ada', root: 'big', isRunning: true }]);
	t.is((await ada.upload('/api/upload', [file('meanwhile.txt', 'm')])).statusCode, 200, 'the user can still upload');
	await writeFile(path.join(home, 'docs/a.txt'), 'ALPHA');
	await writeFile(path.join(home, 'docs/a.txt'), 'alpha');
	await utimes(path.join(home, 'docs/a.txt'), 1_500_000_001, 1_500_000_001);
	const renaming = app.services.accounts.rename('ada', 'eve');
	t.regex(String(await t.throwsAsync(renaming)), /on its way to another root.*job cancel/);
	t.regex(String(await t.throwsAsync(app.services.accounts.remove('ada', { kind: 'delete' }))), /on its way/);
	freezing.release();

	await switching.arrived;
	t.deepEqual(await names(path.dirname(newHome)), ['ada']);
	t.deepEqual(await app.services.homeMoves.oldHomes(), [], 'the copy is not listed as an old home');
	await linkWorks('during');
	t.is((await ada.get('/api/download/docs/a.txt?type=private')).payload, 'alpha');
	const refused = await ada.upload('/api/upload', [file('no.txt', 'n')]);
	t.is(refused.statusCode, 423);
	t.is(refused.headers['retry-after'], '2');
	t.is(json(refused).message, 'These files are being moved to another disk. Please try again in a moment.');
	t.is((await ada.post('/api/createFolder', { directory: '', folderName: 'no', type: 'private' })).statusCode, 423);
	t.is((await ada.post('/api/generateTempLink', { filePath: 'docs/a.txt', expiration: '1h' })).statusCode, 423);
	t.is((await patch(ada, other, 0, '01')).statusCode, 204, 'an upload under way continues');
	t.is(
		(await patch(ada, upload, 6, '6789')).statusCode,
		423,
		'the last chunk is stored, but the file is not published yet',
	);
	switching.release();

	t.like(await ended(job), { status: 'completed', detail: { root: 'big' } });
	await assertWhole(t, newHome);
	t.is(await readFile(path.join(newHome, 'meanwhile.txt'), 'utf8'), 'm');
	await until('the old tree is removed', async () => (await names(path.dirname(home))).join() === 'anonymous,bob');
	await linkWorks('after');
	t.deepEqual(uploadState(await head(ada, upload)), [200, 10, 'sixty.txt']);
	t.deepEqual(uploadState(await head(ada, upload)), [200, 10, 'sixty.txt']);
	t.deepEqual(uploadState(await patch(ada, other, 2, '23')), [204, 4, 'other.txt']);
	t.is(await readFile(path.join(newHome, 'sixty.txt'), 'utf8'), '0123456789');
	t.is(await readFile(path.join(newHome, 'other.txt'), 'utf8'), '0123');
	t.is((await ada.upload('/api/upload', [file('new.txt', 'n')])).statusCode, 200);
	t.deepEqual(await names(newHome), ['Public', 'docs', 'meanwhile.txt', 'new.txt', 'other.txt', 'sixty.txt']);
	const crossed = await readdir(path.join(app.filesDir, 'copies'), { recursive: true, withFileTypes: true });
	t.deepEqual(
		crossed.filter((entry) => entry.isFile()),
		[],
		'no file is left in the folder for copies',
	);
	t.deepEqual(await names(path.join(app.filesDir, 'users')), ['anonymous', 'bob']);
});

test('a change of a process that stood still while others moved the home is to be repeated, and not said to be of nothing', async (t) => {
	const { app, ada, home, newHome } = await setUp(t);
	const { roots, database } = app.services;
	const making = block((await roots.named('local')).storage, 'makeDirectory');
	const create = (directory: string) =>
		ada.post('/api/createFolder', { directory, folderName: 'new', type: 'private' });
	const stoodStill = create('docs');
	await making.arrived;
	await cp(home, newHome, { recursive: true });
	await rm(home, { recursive: true });
	await database.homes.set('ada', (await roots.named('big')).storage.rootId);
	making.release();
	const refused = await stoodStill;
	t.is(refused.statusCode, 423);
	t.is(refused.headers['retry-after'], '2');
	t.is((await create('docs')).statusCode, 200);
	t.deepEqual(await names(path.join(newHome, 'docs')), ['a.txt', 'deep', 'new']);
	t.is((await create('nowhere')).statusCode, 404);
});

test('the trash follows a home to another root, with the links to what is in it', async (t) => {
	const fixture = await setUp(t);
	const { app, ada, big, newHome } = fixture;
	const visitor = new Client(app);
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'docs/a.txt', expiration: '1h' }));
	const remove = async (filePath: string) =>
		json(await ada.call('DELETE', '/api/deleteItem', { filePath, type: 'private' })).trashId as string;
	const [inner, docs] = [await remove('docs/deep'), await remove('docs')];
	const { start, ended } = mover(fixture);
	t.like(await ended(await start()), { status: 'completed' });
	t.deepEqual(await trashed(app.filesDir), []);
	t.deepEqual(await trashed(big), [inner, docs].sort());
	const { entries } = json(await ada.get('/api/trash')) as { entries: { size: number }[] };
	t.deepEqual(entries.map(({ size }) => size).sort(), [3_000_000, 5]);
	const restored = json(await ada.post('/api/trash/restore', { ids: [docs, inner] }));
	t.deepEqual(restored.failed, []);
	t.is(await readFile(path.join(newHome, 'docs/a.txt'), 'utf8'), 'alpha');
	t.is((await readFile(path.join(newHome, 'docs/deep/é 1.bin'))).length, 3_000_000);
	t.is((await visitor.get(`/api/temp/${token}`)).payload, 'alpha');
});

test('what followed a home to another root is listed again after the database was lost, also where its note could not be written', async (t) => {
	const fixture = await setUp(t);
	const { app, ada, big } = fixture;
	const { database, roots, storage, trashBin } = app.services;
	for (const filePath of ['docs/deep', 'docs'])
		await ada.call('DELETE', '/api/deleteItem', { filePath, type: 'private' });
	const { start, ended } = mover(fixture);
	t.like(await ended(await start()), { status: 'completed' });
	const ids = await trashed(big);
	t.is(ids.length, 2);
	const target = await roots.named('big');
	const stores = { store: database.trash, users: database.users, storage };
	const whole = { recovered: 2, unknown: [], withoutAccount: [], given: new Map() };
	await database.trash.remove(ids);
	t.deepEqual(await recoverTrash(stores, target), whole);

	const notes = async () => (await names(path.join(big, '.stowage/trash'))).filter((name) => name.startsWith('notes-'));
	t.is((await notes()).length, 1, 'one file for all of them');
	for (const name of await notes()) await rm(path.join(big, '.stowage/trash', name));
	await trashBin.sweep();
	await database.trash.remove(ids);
	t.deepEqual(await recoverTrash(stores, target), whole);
});

test('the trash follows a home with links whose deletion could not be recorded to its end', async (t) => {
	const fixture = await setUp(t);
	const { app, ada } = fixture;
	const { links, users } = app.services.database;
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'docs/a.txt', expiration: '1h' }));
	const { setPaths } = links;
	links.setPaths = () => Promise.reject(new Failure('storageFull', 'The disk of the database is full.'));
	const id = json(await ada.call('DELETE', '/api/deleteItem', { filePath: 'docs', type: 'private' })).trashId as string;
	links.setPaths = setPaths;
	const [link] = await linksWithin(links, (await users.find('ada'))?.id ?? '', parsePath('docs'));
	t.truthy(link?.nextPath);
	const { start, ended } = mover(fixture);
	t.like(await ended(await start()), { status: 'completed' });
	t.deepEqual(json(await ada.post('/api/trash/restore', { ids: [id] })).failed, []);
	t.is((await new Client(app).get(`/api/temp/${token}`)).payload, 'alpha');
});

test('what was left in the trash of a former root is restored to where the home lies now', async (t) => {
	const fixture = await setUp(t);
	const { app, ada, newHome } = fixture;
	const remove = async (filePath: string) =>
		json(await ada.call('DELETE', '/api/deleteItem', { filePath, type: 'private' })).trashId as string;
	const docs = await remove('docs');
	const { start, ended } = mover(fixture);
	Object.assign(app.services.trashBin, { moveAllTo: async () => {} });
	t.like(await ended(await start()), { status: 'completed' });
	t.deepEqual(await trashed(app.filesDir), [docs]);
	await t.throwsAsync(app.services.rootAdministration.remove('big'), { message: /home/ });
	t.deepEqual(json(await ada.post('/api/trash/restore', { ids: [docs] })).restored, [{ id: docs, path: 'docs' }]);
	t.is(await readFile(path.join(newHome, 'docs/a.txt'), 'utf8'), 'alpha');
	t.deepEqual(await trashed(app.filesDir), []);
});

/** A file and a folder in the trash of a home that is about to move, and what holds up the copy of one of them. */
async function movingTrash(t: ExecutionContext) {
	const fixture = await setUp(t);
	const { app, ada, big } = fixture;
	const { roots, trashBin } = app.services;
	const ids: string[] = [];
	for (const filePath of ['docs/a.txt', 'docs']) {
		const removed = await ada.call('DELETE', '/api/deleteItem', { filePath, type: 'private' });
		ids.push(json(removed).trashId as string);
	}
	await trashBin.recordAll();
	const { storage: source } = roots.first;
	const open = source.open.bind(source);
	return {
		...{ ...fixture, ...mover(fixture), ids, source },
		/** The first copy of an item is held up in the middle, until it is released. */
		hold(id: string | undefined) {
			const gate = { pass: async () => {} };
			const held = block(gate, 'pass');
			source.open = async (file) => {
				const opened = await open(file);
				if (!file.startsWith(`.stowage/trash/${id}`)) return opened;
				source.open = open;
				await gate.pass();
				return opened;
			};
			return held;
		},
		/** These are in the trash of the new root, and nothing else is in that of any. */
		async assertTrash(...kept: readonly (string | undefined)[]) {
			await until('the new root has those only', async () => `${await trashed(big)}` === `${kept.toSorted()}`);
			await until('the old root has none', async () => (await trashed(app.filesDir)).length === 0);
			const { entries } = json(await ada.get('/api/trash')) as { entries: { id: string }[] };
			t.deepEqual(entries.map(({ id }) => id).sort(), kept.toSorted());
		},
	};
}

for (const [n, kind] of ['file', 'folder'].entries()) {
	test(`a ${kind} that is removed for good while it follows its home to another root is on neither of them`, async (t) => {
		const { ada, start, ended, ids, hold, assertTrash } = await movingTrash(t);
		const { arrived, release } = hold(ids[n]);
		const job = await start();
		await arrived;
		t.is((await ada.call('DELETE', `/api/trash/${ids[n]}`)).statusCode, 200);
		release();
		t.like(await ended(job), { status: 'completed' });
		await assertTrash(ids[1 - n]);
	});

	test(`a ${kind} that is restored while it follows its home to another root is in the trash of neither of them`, async (t) => {
		const { ada, start, ended, ids, hold, assertTrash, newHome } = await movingTrash(t);
		const { arrived, release } = hold(ids[n]);
		const job = await start();
		await arrived;
		const { restored } = json(await ada.post('/api/trash/restore', { ids: [ids[n]] }));
		t.is(restored[0]?.id, ids[n]);
		release();
		t.like(await ended(job), { status: 'completed' });
		await assertTrash(ids[1 - n]);
		t.deepEqual(await names(path.join(newHome, 'docs')), [['a.txt'], ['deep']][n]);
	});
}

for (const [title, isWritten] of [
	['after its row names that', true],
	['before its row names that', false],
] as const) {
	test(`an item whose move to another root is interrupted ${title} is there alone, and is restored`, async (t) => {
		const { app, ada, start, waiting, ids, assertTrash, newHome } = await movingTrash(t);
		const { trash } = app.services.database;
		const setRoot = trash.setRoot.bind(trash);
		trash.setRoot = async (...args) => {
			trash.setRoot = setRoot;
			if (isWritten) await setRoot(...args);
			throw new Failure('unavailable', 'The database is not available right now.');
		};
		t.regex(await waiting(await start()), /The database is not available right now\.$/);
		t.false((await trashed(app.filesDir)).includes(String(ids[0])));
		const { id } = (await app.services.accounts.find('ada')) ?? t.fail();
		await app.services.trashBin.moveAllTo(id, await app.services.roots.named('big'), new AbortController().signal);
		await assertTrash(...ids);
		t.deepEqual(json(await ada.post('/api/trash/restore', { ids: ids.toReversed() })).failed, []);
		t.is(await readFile(path.join(newHome, 'docs/a.txt'), 'utf8'), 'alpha');
		await assertTrash();
	});
}

test('a move of a home whose old disk, or trash, can’t be reached once it has moved is tried again, and says where the home lies', async (t) => {
	const { app, start, waiting, ids, assertTrash, newHome, source } = await movingTrash(t);
	const { move } = source;
	const away = 'The storage does not answer as it should.';
	source.move = (from, ...rest) => {
		if (from.startsWith('.stowage/trash/')) throw new Failure('unavailable', away);
		return move.call(source, from, ...rest);
	};
	t.is(await waiting(await start()), `The home of ada lies on big now. Not all of its trash has followed: ${away}`);
	t.is((await stat(newHome)).isDirectory(), true);
	t.deepEqual(await trashed(app.filesDir), ids.toSorted());
	source.move = move;
	const { id } = (await app.services.accounts.find('ada')) ?? t.fail();
	await app.services.trashBin.moveAllTo(id, await app.services.roots.named('big'), new AbortController().signal);
	await assertTrash(...ids);

	const other = await movingTrash(t);
	const otherMove = other.source.move;
	other.source.move = (from, ...rest) => {
		if (from === 'users/ada') throw new Failure('unavailable', away);
		return otherMove.call(other.source, from, ...rest);
	};
	const reason = await other.waiting(await other.start());
	t.is(reason, `The home of ada lies on big now. Its old files are still on local: ${away}`);
});

for (const [title, place] of [
	['trash is', '.stowage/trash/'],
	['old files are', 'users/ada'],
] as const) {
	test(`no account is renamed or removed whose home has moved while its ${title} still to follow, for which no process polls`, async (t) => {
		const { app, start, ended, waiting, source } = await movingTrash(t);
		const { accounts, database, jobs } = app.services;
		const { move } = source;
		source.move = (from, ...rest) => {
			if (from.startsWith(place)) throw new Failure('unavailable', 'The storage does not answer as it should.');
			return move.call(source, from, ...rest);
		};
		const job = await start();
		await waiting(job);
		t.regex(String(await t.throwsAsync(accounts.rename('ada', 'eve'))), /on its way to another root.*job cancel/);
		t.regex(String(await t.throwsAsync(accounts.remove('ada', { kind: 'keep' }))), /on its way to another root/);
		t.deepEqual(await database.homes.listMoves(), []);
		await jobs.cancelAny(job.id);
		t.is((await ended(job)).status, 'cancelled');
		await accounts.rename('ada', 'eve');
	});
}

/** Tries an ended job again. Resolves to why it fails. */
async function errorOfRetry(
	{ services: { database, jobs } }: TestApp,
	{ id }: Job,
): Promise<string | null | undefined> {
	await jobs.retryAny(id);
	await until('it has ended', async () => (await database.jobs.find(id))?.endTime != null);
	return (await database.jobs.find(id))?.error;
}

test('a move that is tried again after its account was renamed moves nobody else’s home', async (t) => {
	const fixture = await setUp(t);
	const { app, home } = fixture;
	const { start, ended } = mover(fixture);
	Object.assign(app.services.trashBin, { moveAllTo: () => Promise.reject(new Failure('conflict', 'no')) });
	const job = await start();
	t.like(await ended(job), { status: 'failed', error: 'no' });
	await app.services.accounts.rename('ada', 'eve');
	const other = await new Client(app).register('ada');
	await other.upload('/api/upload', [file('own.txt', 'o')]);
	t.is(await errorOfRetry(app, job), 'This was to move the home of ada, who is called eve now.');
	t.deepEqual(await names(home), ['Public', 'own.txt']);
	t.is((await other.get('/api/download/own.txt?type=private')).payload, 'o');
});

test('a move that is tried again after the home has moved elsewhere leaves it there', async (t) => {
	const fixture = await setUp(t);
	const { app, ada, big } = fixture;
	const { start, ended } = mover(fixture);
	const { setFrozen } = app.services.database.homes;
	const { arrived, release } = block(app.services.database.homes, 'setFrozen');
	const job = await start();
	await arrived;
	await app.services.jobs.cancelAny(job.id);
	release();
	t.is((await ended(job)).status, 'cancelled');
	Object.assign(app.services.database.homes, { setFrozen });
	await app.services.rootAdministration.add('third', 'local', path.join(path.dirname(big), 'third'));
	t.is((await ended(await app.services.homeMoves.start('ada', 'third'))).status, 'completed');
	t.is(await errorOfRetry(app, job), 'The home of ada lies on third by now, not on local.');
	t.is((await ada.get('/api/download/docs/a.txt?type=private')).payload, 'alpha');
});

test('a folder in the trash with what its copy would lack stays where it is, and other items keep who may read them', async (t) => {
	const { app, ada, big, start, ended, ids, newHome } = await movingTrash(t);
	const [file, folder] = ids.map((id) => path.join(app.filesDir, '.stowage/trash', id));
	await chmod(String(file), 0o640);
	await symlink('elsewhere', path.join(String(folder), 'deep/link'));
	t.like(await ended(await start()), { status: 'completed' });
	t.deepEqual([await trashed(app.filesDir), await trashed(big)], [[ids[1]], [ids[0]]]);
	t.is((await stat(path.join(big, '.stowage/trash', String(ids[0])))).mode & 0o777, 0o640);
	t.is(await readlink(path.join(String(folder), 'deep/link')), 'elsewhere');
	const restore = async () => json(await ada.post('/api/trash/restore', { ids: [ids[1]] })).failed;
	const [refused] = (await restore()) as { message: string }[];
	t.regex(String(refused?.message), /^docs has something that its copy would lack/);
	await rm(path.join(String(folder), 'deep/link'));
	t.deepEqual(await restore(), []);
	t.true((await names(path.join(newHome, 'docs'))).includes('deep'));
	t.deepEqual(await trashed(app.filesDir), []);
});

test('a trash follows its home as far as there is room on the new disk above what is kept free', async (t) => {
	const { app, ada, big, ids } = await movingTrash(t);
	const { accounts, roots, trashBin, config } = app.services;
	const target = await roots.named('big');
	const { id } = (await accounts.find('ada')) ?? t.fail();
	const { freeSpaceReserve } = config.uploads;
	config.uploads.freeSpaceReserve = 2 ** 60;
	const { signal } = new AbortController();
	await trashBin.moveAllTo(id, target, signal);
	t.deepEqual([await trashed(app.filesDir), await trashed(big)], [ids.toSorted(), []]);
	t.is(json(await ada.get('/api/trash')).entries.length, 2);
	config.uploads.freeSpaceReserve = freeSpaceReserve;
	await trashBin.moveAllTo(id, target, signal);
	t.deepEqual([await trashed(app.filesDir), await trashed(big)], [[], ids.toSorted()]);
});

/** A trash that has followed its home to another root. */
async function movedTrash(t: ExecutionContext) {
	const moved = await movingTrash(t);
	const { app, big, start, ended, ids } = moved;
	t.like(await ended(await start()), { status: 'completed' });
	const trash = (root: string, id: string | undefined) => path.join(root, '.stowage/trash', String(id));
	return {
		...moved,
		trash,
		/** As an earlier version, or a kill in the middle of a move, left both. */
		async leaveCopies() {
			for (const id of ids) await cp(trash(big, id), trash(app.filesDir, id), { recursive: true });
		},
	};
}

test('nothing is left of what is removed for good or restored where an interrupted move had left it on both roots', async (t) => {
	const { ada, ids, leaveCopies, assertTrash } = await movedTrash(t);
	await leaveCopies();
	t.is((await ada.call('DELETE', `/api/trash/${ids[0]}`)).statusCode, 200);
	t.deepEqual(json(await ada.post('/api/trash/restore', { ids: [ids[1]] })).failed, []);
	await assertTrash();
});

test('what an interrupted move has left of the trash beside what is listed is removed by later sweeps, and nothing else', async (t) => {
	const { app, big, ids, trash, leaveCopies } = await movedTrash(t);
	const { database, storage, log } = app.services;
	await leaveCopies();
	// Nobody knows what this is: a database that is older than it does not either.
	const unknown = 'f'.repeat(32);
	for (const root of [app.filesDir, big]) await writeFile(trash(root, unknown), 'unknown');
	// The row of this one names the other root.
	await rm(trash(big, ids[1]), { recursive: true });
	let minutes = 0;
	const parts = { store: database.trash, storage: () => storage, log, monotonic: () => minutes * 60_000 };
	const left = new LeftCopies(parts as unknown as TrashParts);
	const all = [...ids, unknown].sort();
	for (minutes of [0, 20]) {
		await left.sweep();
		t.deepEqual(await trashed(app.filesDir), all, 'a move may be about to remove it');
	}
	minutes = 40;
	await left.sweep();
	t.deepEqual(await trashed(app.filesDir), [ids[1], unknown].sort());
	t.deepEqual(await trashed(big), [ids[0], unknown].sort());
	t.is((await database.trash.get(String(ids[1])))?.rootId, app.services.roots.first.storage.rootId);
});

test('a trash of which something can’t follow its home now is tried again in a while, and not all the time', async (t) => {
	const { app, ada, big, ids } = await movingTrash(t);
	await ada.call('DELETE', `/api/trash/${ids[1]}`);
	const { accounts, database, storage, roots, log, config } = app.services;
	const target = await roots.named('big');
	const { id } = (await accounts.find('ada')) ?? t.fail();
	const parts = {
		...{ store: database.trash, storage: () => storage, config, log, onMovedAcross: async () => {} },
		completeMoves: async () => ({ leadFrom: () => false, leadTo: () => false, endAt: () => false }),
		plannedMoves: async () => ({ leadFrom: () => false, leadTo: () => false, endAt: () => false }),
	};
	const { stage } = target.storage;
	let failed = 0;
	// As if a sweep had removed each copy.
	const failing = (times: number) => {
		failed = 0;
		target.storage.stage = () => {
			if (failed++ >= times) target.storage.stage = stage;
			throw new Failure('notFound', 'No such file or folder.');
		};
	};
	const move = (signal: AbortSignal, ms: number) =>
		moveAllTrash(parts as unknown as TrashParts, id, target, signal, { first: ms, most: ms });
	failing(10_000);
	const abort = new AbortController();
	const moving = move(abort.signal, 60 * 60_000);
	await until('it is tried', async () => failed >= 2);
	await wait(200);
	t.is(failed, 2, 'twice, since the folder of the trash may be missing');
	abort.abort();
	await t.throwsAsync(moving, { any: true });
	failing(5);
	await move(new AbortController().signal, 1);
	t.deepEqual(await trashed(app.filesDir), []);
	t.deepEqual(await trashed(big), [ids[0]]);
});

test('what is deleted follows its home once its versions have come to it', async (t) => {
	const { app, ada, big, ids } = await movingTrash(t);
	await ada.call('DELETE', `/api/trash/${ids[1]}`);
	const { accounts, database, storage, roots, log, config } = app.services;
	const target = await roots.named('big');
	const { id } = (await accounts.find('ada')) ?? t.fail();
	let asked = 0;
	const parts = {
		...{ store: database.trash, storage: () => storage, config, log, onMovedAcross: async () => {} },
		completeMoves: async () => ({ leadFrom: () => false, leadTo: () => ++asked <= 3, endAt: () => false }),
	} as unknown as TrashParts;
	await moveAllTrash(parts, id, target, new AbortController().signal, { first: 1, most: 1 });
	t.is(asked, 4);
	t.deepEqual(await trashed(app.filesDir), []);
	t.deepEqual(await trashed(big), [ids[0]]);
});

test('a damaged byte in the copy fails the move, and the home stays where it was', async (t) => {
	const fixture = await setUp(t);
	const { storage } = await fixture.app.services.roots.named('big');
	const target = storage as FolderTimesStorage;
	const setTime = target.setFolderTime.bind(target);
	target.setFolderTime = async (folder, mtime) => {
		await setTime(folder, mtime);
		if (!/^copies\/\w+\/docs\/deep$/.test(folder)) return;
		const damaged = path.join(fixture.big, folder, 'é 1.bin');
		const before = await stat(damaged);
		const handle = await open(damaged, 'r+');
		await handle.write('y', 1_234_567);
		await handle.close();
		await utimes(damaged, before.atime, before.mtime);
	};
	const { start, ended } = mover(fixture);
	const job = await ended(await start());
	t.is(job.status, 'failed');
	t.regex(String(job.error), /copy of "docs\/deep\/é 1\.bin" has other bytes/);
	target.setFolderTime = setTime;
	await assertNotMoved(t, fixture);
	t.is((await ended(await start())).status, 'completed', 'the next attempt moves it');
});

test('a home moves to a disk with coarse times, with what was changed within such a moment until the end', async (t) => {
	const fixture = await setUp(t);
	const { app, home, newHome } = fixture;
	const { storage } = await app.services.roots.named('big');
	const { stage } = storage;
	storage.stage = async (id) => {
		const staged = await stage.call(storage, id);
		const commit = staged.commit.bind(staged);
		const floored = (mtime: number | undefined) => mtime && Math.floor(mtime / 2_000) * 2_000;
		return Object.assign(staged, {
			commit: (to: StoragePath, options: CommitOptions = {}) => {
				const mtime = floored(options.mtime);
				return commit(to, mtime === undefined ? options : { ...options, mtime });
			},
		});
	};
	const { moves } = app.services.roots.homes;
	const blockChanges = moves.blockChanges.bind(moves);
	moves.blockChanges = async (...given) => {
		await writeFile(path.join(home, 'docs/a.txt'), 'omega');
		await utimes(path.join(home, 'docs/a.txt'), 1_500_000_001, 1_500_000_001);
		await blockChanges(...given);
	};
	const { start, ended } = mover(fixture);
	t.like(await ended(await start()), { status: 'completed' });
	t.is(await readFile(path.join(newHome, 'docs/a.txt'), 'utf8'), 'omega');
	t.is((await stat(path.join(newHome, 'docs/a.txt'))).mtimeMs, 1_500_000_000_000);
	t.is((await readFile(path.join(newHome, 'docs/deep/é 1.bin'))).length, 3_000_000);
	t.deepEqual(await names(path.join(app.filesDir, 'users')), ['anonymous']);
});

test('a move that is cancelled before the switch leaves the home where it was', async (t) => {
	const fixture = await setUp(t);
	const { start, ended } = mover(fixture);
	const { arrived, release } = block(fixture.app.services.database.homes, 'setFrozen');
	const job = await start();
	await arrived;
	await fixture.app.services.jobs.cancelAny(job.id);
	release();
	t.is((await ended(job)).status, 'cancelled');
	await assertNotMoved(t, fixture);
});

test('a home is whole on one root when the switch fails or its result is lost', async (t) => {
	const fixture = await setUp(t);
	const { homes } = fixture.app.services.database;
	const switchRoot = homes.switchRoot.bind(homes);
	const { start, ended } = mover(fixture);
	homes.switchRoot = async () => {
		throw new Failure('unavailable', 'away before');
	};
	t.like(await ended(await start()), { status: 'failed', error: 'away before' });
	await assertNotMoved(t, fixture);
	homes.switchRoot = async (...args) => {
		await switchRoot(...args);
		throw new Failure('unavailable', 'away after');
	};
	t.is((await ended(await start())).status, 'completed');
	await assertWhole(t, fixture.newHome);
	await until('the old tree is removed', async () => (await names(path.dirname(fixture.home))).join() === 'anonymous');
});

test('a home whose switch takes effect only after it was asked for is whole on its new root', async (t) => {
	const fixture = await setUp(t);
	const { homes } = fixture.app.services.database;
	const [switchRoot, setFrozen] = [homes.switchRoot.bind(homes), homes.setFrozen.bind(homes)];
	let onItsWay: Parameters<typeof switchRoot> | undefined;
	homes.switchRoot = async (...args) => {
		onItsWay = args;
		throw new Failure('unavailable', 'the connection was lost');
	};
	homes.setFrozen = async (runId, isFrozen) => {
		// The statement waits for the row that the transaction has changed.
		if (!isFrozen && onItsWay !== undefined) t.true(await switchRoot(...onItsWay));
		return setFrozen(runId, isFrozen);
	};
	const { start, ended } = mover(fixture);
	t.is((await ended(await start())).status, 'completed');
	await assertWhole(t, fixture.newHome);
	await until('the old tree is removed', async () => (await names(path.dirname(fixture.home))).join() === 'anonymous');
});

test('a file that another program adds to the old tree just before the switch is kept and reported', async (t) => {
	const fixture = await setUp(t);
	const { homes } = fixture.app.services.database;
	const switchRoot = homes.switchRoot.bind(homes);
	homes.switchRoot = async (...args) => {
		await writeFile(path.join(fixture.home, 'late.txt'), 'late');
		return switchRoot(...args);
	};
	const { start, ended } = mover(fixture);
	const job = await ended(await start());
	t.is(job.status, 'failed');
	t.regex(
		String(job.error),
		/lies on big now\. Another program changed something in its old place, users\/ada on local/,
	);
	t.is(await readFile(path.join(fixture.home, 'late.txt'), 'utf8'), 'late');
	t.deepEqual(await fixture.app.services.homeMoves.list(), []);
	t.like(await fixture.app.services.homeMoves.oldHomes(), [{ username: 'ada', root: 'local', path: 'users/ada' }]);
	await assertWhole(t, fixture.newHome);
	t.is((await fixture.ada.get('/api/download/docs/a.txt?type=private')).payload, 'alpha');
});

test('a symbolic link that another program adds to the old tree just before the switch keeps the whole old tree', async (t) => {
	const fixture = await setUp(t);
	const { homes } = fixture.app.services.database;
	const switchRoot = homes.switchRoot.bind(homes);
	homes.switchRoot = async (...args) => {
		await symlink('/mnt/archive', path.join(fixture.home, 'late'));
		return switchRoot(...args);
	};
	const { start, ended } = mover(fixture);
	const job = await ended(await start());
	t.regex(
		String(job.error),
		/lies on big now\. Another program changed something in its old place, users\/ada on local/,
	);
	t.true((await names(fixture.home)).includes('late'));
	t.is(await readFile(path.join(fixture.home, 'docs/a.txt'), 'utf8'), 'alpha');
	await assertWhole(t, fixture.newHome);
});

test('a file that another program writes to the old path while the old tree is compared is kept', async (t) => {
	const fixture = await setUp(t);
	const { homes } = fixture.app.services.database;
	const source = fixture.app.services.roots.first.storage;
	if (!hasListWithStats(source)) throw new Error('The first root has no list.');
	const switchRoot = homes.switchRoot.bind(homes);
	const list = source.listWithStats.bind(source);
	let folders = 0;
	homes.switchRoot = async (...args) => {
		source.listWithStats = (folder) => {
			// The first list is of the whole home.
			if (++folders === 2) {
				mkdirSync(fixture.home, { recursive: true });
				writeFileSync(path.join(fixture.home, 'late.txt'), 'late');
			}
			return list(folder);
		};
		return switchRoot(...args);
	};
	const { start, ended } = mover(fixture);
	t.is((await ended(await start())).status, 'completed');
	t.true(folders >= 2);
	t.is(await readFile(path.join(fixture.home, 'late.txt'), 'utf8'), 'late');
	await assertWhole(t, fixture.newHome);
});

test('a home that can’t be moved is refused before anything is changed', async (t) => {
	const fixture = await setUp(t);
	const { app, home, big, newHome } = fixture;
	const { homeMoves, accounts, config } = app.services;
	const refused = async (move: [string, string], kind: 'notFound' | 'invalid' | 'conflict', pattern: RegExp) => {
		const error = await t.throwsAsync(homeMoves.start(...move));
		t.true(isFailure(error, kind), `${error}`);
		t.regex(String(error?.message), pattern);
	};
	await refused(['eve', 'big'], 'notFound', /no user eve/);
	await refused(['ada', 'huge'], 'notFound', /no storage root huge/);
	await refused(['ada', 'local'], 'invalid', /lies on local already/);
	await symlink('/etc/passwd', path.join(home, 'docs/secrets'));
	await refused(['ada', 'big'], 'conflict', /In "docs" there is 1 thing that can’t be moved.*: "secrets"\./);
	await rm(path.join(home, 'docs/secrets'));
	await writeFile(Buffer.concat([Buffer.from(`${home}/`), Buffer.from([0x66, 0xff])]), 'latin');
	await refused(['ada', 'big'], 'conflict', /In the home itself there is 1 thing/);
	await rm(Buffer.concat([Buffer.from(`${home}/`), Buffer.from([0x66, 0xff])]) as never);
	await mkdir(newHome);
	t.regex(String(await t.throwsAsync(homeMoves.start('ada', 'big'))), /a folder users\/ada on big already/);
	await rm(newHome, { recursive: true });
	const { freeSpaceReserve } = config.uploads;
	config.uploads.freeSpaceReserve = 2 ** 60;
	t.regex(String(await t.throwsAsync(homeMoves.start('ada', 'big'))), /has 2\.9 MB, and on big there is room for 0/);
	config.uploads.freeSpaceReserve = freeSpaceReserve;
	await rm(path.join(big, '.stowage/root.json'));
	t.regex(String(await t.throwsAsync(homeMoves.start('ada', 'big'))), /The storage root big can’t be used/);
	await accounts.setDisabled('ada', true);
	await refused(['ada', 'big'], 'conflict', /ada is disabled/);
	t.deepEqual(await names(home), ['Public', 'docs']);
});

test('a home without a folder is moved, and its folder is created on the new root', async (t) => {
	const fixture = await setUp(t);
	await rm(fixture.home, { recursive: true });
	const { start, ended } = mover(fixture);
	t.is((await ended(await start())).status, 'completed');
	t.is((await fixture.ada.upload('/api/upload', [file('a.txt', 'a')])).statusCode, 200);
	t.deepEqual(await names(fixture.newHome), ['Public', 'a.txt']);
});

const run = promisify(execFile);
const family = 60_001;

/** What other programs may do with an item, as the system's own tools say it. */
async function accessOf(place: string) {
	const { mode, gid } = await stat(place);
	const { stdout } = await run('getfacl', ['--absolute-names', '--omit-header', '--numeric', place]);
	return { mode: mode.toString(8), gid, acl: stdout };
}

test('a home keeps its modes, groups, setgid folders and ACLs on its new root', async (t) => {
	const fixture = await setUp(t);
	const { start, ended } = mover(fixture);
	const shared = path.join(fixture.home, 'docs');
	for (const place of [shared, path.join(shared, 'a.txt')]) await chown(place, 0, family);
	await chmod(shared, 0o2775);
	await chmod(path.join(shared, 'a.txt'), 0o640);
	await chmod(path.join(shared, 'deep/empty'), 0o1777);
	await run('setfacl', ['--modify', `group:${family}:rwx,default:group:${family}:rwx`, path.join(shared, 'deep')]);
	await run('setfacl', ['--modify', `user:${family}:r--`, path.join(shared, 'deep/é 1.bin')]);
	const places = ['', 'Public', 'docs', 'docs/a.txt', 'docs/deep', 'docs/deep/é 1.bin', 'docs/deep/empty'];
	const before = await Promise.all(places.map((place) => accessOf(path.join(fixture.home, place))));
	t.like(await ended(await start()), { status: 'completed', error: null });
	const after = await Promise.all(places.map((place) => accessOf(path.join(fixture.newHome, place))));
	for (const [index, place] of places.entries()) t.deepEqual(after[index], before[index], place);
	await assertWhole(t, fixture.newHome);
});

test('a move that can’t keep who may use the files names them before it begins, and is done if that is allowed', async (t) => {
	const fixture = await setUp(t);
	const { homeMoves, roots } = fixture.app.services;
	await chown(path.join(fixture.home, 'docs/a.txt'), 60_002, family);
	const { storage } = await roots.named('big');
	t.true(hasAccess(storage));
	// As a disk without POSIX ACLs answers, or a user without the right to them.
	const answer = (storage as AccessStorage).findLostAccess.bind(storage);
	(storage as AccessStorage).findLostAccess = async (type, access) => [
		...(await answer(type, access)),
		...(access.group === family ? (['group'] as const) : []),
	];
	const refused = await t.throwsAsync(homeMoves.start('ada', 'big'));
	t.true(isFailure(refused, 'conflict'));
	t.regex(refused?.message ?? '', /1 file or folder owned by other users of the system.*: "docs\/a\.txt"/);
	t.regex(refused?.message ?? '', /1 file or folder of a group .*: "docs\/a\.txt"\n/);
	t.regex(refused?.message ?? '', /--allow-lost-access/);
	t.deepEqual(await names(path.join(fixture.big, 'users')), []);
	await assertNotMoved(t, fixture);
	const job = await homeMoves.start('ada', 'big', { allowsLostAccess: true });
	t.like(await mover(fixture).ended(job), { status: 'completed', error: null });
	await assertWhole(t, fixture.newHome);
});

test('a move to a disk that reuses ids names the folders with members, and where it is allowed the lesser role stays', async (t) => {
	const fixture = await setUp(t);
	const { app, ada, newHome } = fixture;
	const { homeMoves, roots } = app.services;
	const bob = await new Client(app).register('bob');
	const share = (at: string, role: 'view' | 'edit') =>
		ada.call('PUT', '/api/members', { path: at, members: [{ username: 'bob', role }] });
	for (const [at, role] of [
		['docs', 'edit'],
		['docs/deep', 'view'],
	] as const)
		t.is((await share(at, role)).statusCode, 200);
	const { storage } = await roots.named('big');
	const { stat: readStat } = storage;
	storage.stat = async (at) => ({ ...(await readStat.call(storage, at)), mayReuseId: true });
	const refused = await t.throwsAsync(homeMoves.start('ada', 'big'));
	t.true(isFailure(refused, 'conflict'));
	t.regex(refused?.message ?? '', /Nothing was moved\.\n- 2 folders with members: "docs", "docs\/deep"\nTo move/);
	t.regex(refused?.message ?? '', /--allow-lost-access/);
	await assertNotMoved(t, fixture);
	const job = await homeMoves.start('ada', 'big', { allowsLostAccess: true });
	t.like(await mover(fixture).ended(job), { status: 'completed', error: null });
	await writeFile(path.join(newHome, 'docs/deep/of-ada.txt'), 'of ada');
	t.deepEqual(json(await ada.get('/api/members?path=docs/deep')).members, []);
	const removed = await bob.call('DELETE', '/api/deleteItem', { type: 'shared', filePath: 'docs/deep/of-ada.txt' });
	t.is(removed.statusCode, 403, removed.payload);
});
