import { mkdir, mkdtemp, open, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { memoryStorageDriver, storageSuite } from '@stowage/conformance';
import type { IndexWriter } from '@stowage/database';
import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, parsePath, type SearchQuery, type Viewer } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { applyJournals } from '../../src/search/building/applyJournals.js';
import { FolderCheck } from '../../src/search/building/FolderCheck.js';
import { IndexBuilder } from '../../src/search/building/IndexBuilder.js';
import { ChangeJournal } from '../../src/search/ChangeJournal.js';
import { Journals } from '../../src/search/Journals.js';
import { concerns } from '../../src/search/marks.js';
import { notedStorage } from '../../src/search/notedStorage.js';
import { below, breakFolders } from '../brokenFolder.js';
import { Client, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const log = pino({ level: 'silent' });
const withIndex = { '--search-index': 'true' };
const visitor: Viewer = { kind: 'anonymous', access: 'read' };

async function search(app: TestApp, query: Partial<SearchQuery> = {}) {
	const folder = { area: 'public' as const, path: parsePath('') };
	const found = await app.services.files.search(visitor, folder, { term: 'holiday', ...query });
	return { ...found, paths: found.entries.map((entry) => entry.path).sort() };
}

const place = (app: TestApp, ...names: string[]) =>
	Promise.all(names.map((name) => writeFile(path.join(app.filesDir, 'Public', name), '')));

/** Overwrites the beginning of the first page of a table or an index. */
async function damage(file: string, table: string): Promise<void> {
	const Libsql = createRequire(import.meta.resolve('@stowage/database'))('libsql');
	const database = new Libsql(file);
	const { rootpage } = database.prepare('select rootpage from sqlite_master where name = ?').get([table]);
	const { page_size: pageSize } = database.prepare('pragma page_size').get();
	database.close();
	const opened = await open(file, 'r+');
	await opened.write(Buffer.alloc(8, 0xff), 0, 8, (rootpage - 1) * pageSize);
	await opened.close();
}

async function temporaryFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-search-'));
	t.teardown(() => rm(folder, { recursive: true }));
	return folder;
}

test('of two processes over one data folder one builds the index, and each finds at once what the other one changes', async (t) => {
	const one = await testApp(t, withIndex);
	await one.services.searchIndex.settled();
	const two = await testApp(t, { ...withIndex, '--data-dir': one.dataDir });
	const ada = await new Client(one).register('ada');
	const atTwo = new Client(two);
	atTwo.cookie = ada.cookie;
	const found = async (client: Client) =>
		json(await client.get('/api/browse?type=private&search=holiday')).entries.map(
			(entry: { path: string }) => entry.path,
		);
	const create = async (client: Client, fileName: string) =>
		t.is((await client.post('/api/createFile', { directory: '', fileName, type: 'private' })).statusCode, 200);
	await create(atTwo, 'holiday 1.txt');
	t.deepEqual(await found(ada), ['holiday 1.txt']);
	await create(ada, 'holiday 2.txt');
	t.deepEqual((await found(atTwo)).sort(), ['holiday 1.txt', 'holiday 2.txt']);
	await one.services.searchIndex.settled();
	t.deepEqual((await found(atTwo)).sort(), ['holiday 1.txt', 'holiday 2.txt']);
	t.is(typeof json(await atTwo.get('/api/browse?type=private&search=holiday')).indexedAt, 'number');

	await one.services.searchIndex.close();
	await atTwo.post('/api/renameItem', { oldPath: 'holiday 1.txt', newName: 'work.txt', type: 'private' });
	await two.services.searchIndex.settled();
	t.deepEqual(await found(atTwo), ['holiday 2.txt']);
});

test('a damaged index is made anew, and searches find the same meanwhile', async (t) => {
	const app = await testApp(t, withIndex);
	await place(app, 'holiday.txt');
	await app.services.searchIndex.check(false);
	await app.services.searchIndex.settled();
	t.like(await search(app), { paths: ['holiday.txt'] });
	const file = path.join(app.dataDir, 'search', 'names.db');
	await app.services.searchIndex.close();
	await rm(`${file}-wal`, { force: true });
	await writeFile(file, Buffer.alloc(100_000, 'no database '));
	t.like(await app.services.searchIndex.state(app.services.roots), { roots: [{ state: 'none', names: 0 }] });

	const again = await testApp(t, { ...withIndex, '--data-dir': app.dataDir });
	t.like(await search(again), { paths: ['holiday.txt'] });
	await again.services.searchIndex.settled();
	const { indexedAt, paths } = await search(again);
	t.deepEqual([typeof indexedAt, paths], ['number', ['holiday.txt']]);
});

for (const table of ['states', 'folders_by_path', 'positions']) {
	test(`an index that is damaged in eight bytes of ${table} is made anew, and what other programs bring is found`, async (t) => {
		const app = await testApp(t, withIndex);
		await place(app, 'holiday.txt');
		await app.services.searchIndex.check(false);
		await app.services.searchIndex.settled();
		await app.services.searchIndex.close();
		await damage(path.join(app.dataDir, 'search', 'names.db'), table);

		const again = await testApp(t, { ...withIndex, '--data-dir': app.dataDir });
		await until('the index is there again', async () => (await search(again)).indexedAt !== null);
		await again.services.searchIndex.settled();
		await place(app, 'holiday 2.txt');
		await again.services.searchIndex.check(false);
		const { indexedAt, paths } = await search(again);
		t.deepEqual([typeof indexedAt, paths], ['number', ['holiday 2.txt', 'holiday.txt']]);
	});
}

test('an index that is removed while the server runs is made anew', async (t) => {
	const app = await testApp(t, withIndex);
	await place(app, 'holiday.txt');
	// The server may be writing there, as it would for an administrator.
	await rm(path.join(app.dataDir, 'search'), { recursive: true, maxRetries: 50, retryDelay: 20 });
	t.deepEqual((await search(app)).paths, ['holiday.txt']);
	await until('it is there again', async () => (await search(app)).indexedAt !== null);
	t.deepEqual((await search(app)).paths, ['holiday.txt']);
	await new Client(app).upload('/api/upload/public', [{ name: 'file', fileName: 'holiday 2.txt', value: 'a' }]);
	t.deepEqual((await search(app)).paths, ['holiday 2.txt', 'holiday.txt']);
});

test('an index that was complete and is to be built anew is, by the server that runs', async (t) => {
	const app = await testApp(t, withIndex);
	await place(app, 'holiday.txt');
	const { searchIndex } = app.services;
	await searchIndex.check(false);
	await searchIndex.settled();
	const file = path.join(app.dataDir, 'search', 'names.db');
	const isIndexed = async () => (await search(app)).indexedAt !== null;
	t.true(await isIndexed());
	for (const removed of ['by the command', 'by another program']) {
		const { ino } = await stat(file);
		if (removed === 'by the command') await writeFile(path.join(app.dataDir, 'search', 'rebuild'), '');
		else await rm(file);
		await until('the server has met it', async () => (await stat(file).catch(() => ({ ino }))).ino !== ino);
		await until(`it is there again, removed ${removed}`, isIndexed);
		t.deepEqual((await search(app)).paths, ['holiday.txt']);
	}
});

test('a storage may be given another way to stage files, which may use the one it had', async (t) => {
	const app = await testApp(t, withIndex);
	const storage = app.services.roots.all()[0]?.storage as StorageProvider;
	const stage = storage.stage.bind(storage);
	let staged = 0;
	storage.stage = (id) => {
		staged++;
		return stage(id);
	};
	await new Client(app).upload('/api/upload/public', [{ name: 'file', fileName: 'holiday.txt', value: 'a' }]);
	t.is(staged, 1);
	t.deepEqual((await search(app)).paths, ['holiday.txt']);
});

storageSuite(test, 'a storage whose changes are noted for the index', async () => {
	const driver = memoryStorageDriver();
	const open = async (rootId?: string) => notedStorage(await driver.open(rootId), { begin: () => ({ end() {} }) });
	return { driver: { ...driver, open } };
});

test('who removes a folder learns what was removed and when its space is free, also with an index', async (t) => {
	const app = await testApp(t, withIndex);
	await mkdir(path.join(app.filesDir, 'Public/folder'));
	await place(app, 'folder/file');
	const { storage } = app.services.roots.first;
	const removed: string[] = [];
	let freed: Promise<void> | undefined;
	await storage.remove(parsePath('Public/folder'), {
		onRemoved: ({ name }) => void removed.push(name),
		onFreeing(ended) {
			freed = ended;
		},
	});
	t.deepEqual(removed, ['folder']);
	t.not(freed, undefined);
	await freed;
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/trash-in-progress')), []);
});

test('a root that is left out is not read in the background, and is searched all the same', async (t) => {
	const app = await testApp(t, { ...withIndex, '--search-exclude': 'local' });
	const listed: string[] = [];
	const [mount] = app.services.roots.all();
	const storage = mount?.storage as NonNullable<typeof mount>['storage'];
	const { list, stat } = storage;
	const noting =
		(read: (at: never) => unknown) =>
		(at: never): unknown => {
			listed.push(at);
			return read(at);
		};
	Object.assign(storage, { list: noting(list), stat: noting(stat) });
	await app.services.searchIndex.settled();
	await app.services.searchIndex.check(true);
	t.deepEqual(listed, []);
	t.like(await app.services.searchIndex.state(app.services.roots), { roots: [{ state: 'off', names: 0 }] });
	await place(app, 'holiday.txt');
	t.like(await search(app), { paths: ['holiday.txt'], indexedAt: null });

	app.services.config.search.exclude = [];
	await app.services.searchIndex.settled();
	t.like(await search(app), { paths: ['holiday.txt'] });
	t.not((await search(app)).indexedAt, null);
});

test('of more hits than a search answers the best are right, also where other programs have removed some of them', async (t) => {
	const app = await testApp(t, withIndex);
	const names = Array.from({ length: 1200 }, (_, index) => `a holiday ${String(index).padStart(4, '0')}.txt`);
	await place(app, ...names, 'holiday', 'holiday.txt');
	await app.services.searchIndex.check(true);
	await app.services.searchIndex.settled();
	const first = await search(app);
	t.like(first, { truncated: true });
	t.deepEqual(
		first.entries.slice(0, 2).map(({ name }) => name),
		['holiday', 'holiday.txt'],
	);
	for (const name of ['holiday', ...names.slice(0, 150)]) await rm(path.join(app.filesDir, 'Public', name));
	const { entries, truncated, indexedAt } = await search(app);
	t.deepEqual([entries.length, truncated, entries[0]?.name], [1000, true, 'holiday.txt']);
	t.not(indexedAt, null);
	const there = new Set(await readdir(path.join(app.filesDir, 'Public')));
	t.true(entries.every(({ name }) => there.has(name)));
	for (const name of names.slice(150, 250)) await rm(path.join(app.filesDir, 'Public', name));
	t.like(await search(app), { truncated: undefined });
	t.is((await search(app)).entries.length, 951);
});

test('a search in a folder that is not there, or on a disk that is away, answers as without the index', async (t) => {
	const app = await testApp(t, withIndex);
	await mkdir(path.join(app.filesDir, 'Public', 'trips'));
	await app.services.searchIndex.check(true);
	await app.services.searchIndex.settled();
	const inside = (folder: string) =>
		app.services.files.search(visitor, { area: 'public', path: parsePath(folder) }, { term: 'x' });
	t.deepEqual((await inside('trips')).entries, []);
	await rm(path.join(app.filesDir, 'Public', 'trips'), { recursive: true });
	t.like(await t.throwsAsync<Failure>(inside('trips')), { kind: 'notFound' });
	await rm(path.join(app.filesDir, '.stowage', 'root.json'));
	await until('the root counts as away', async () => {
		const error = await inside('').then(
			() => undefined,
			(failure: Failure) => failure.kind,
		);
		return error === 'unavailable';
	});
	await app.services.searchIndex.settled();
	await app.services.searchIndex.close();
	await until('no search has the index open', async () => {
		const opened = await Promise.all(
			(await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
		);
		return !opened.some((file) => file.startsWith(path.join(app.dataDir, 'search')));
	});
});

for (const isIndexed of ['true', 'false']) {
	test(`one folder that the disk can’t read hides no other one from a search, search-index ${isIndexed}`, async (t) => {
		const app = await testApp(t, { '--search-index': isIndexed });
		for (const folder of ['a', 'bad', 'c']) await mkdir(path.join(app.filesDir, 'Public', folder));
		await place(app, 'a/holiday 1.txt', 'bad/holiday 2.txt', 'c/holiday 3.txt');
		const { searchIndex, roots } = app.services;
		await searchIndex.check(false);
		await searchIndex.settled();
		const mend = breakFolders(roots.first.storage, below('Public/bad'));
		const readable = ['a/holiday 1.txt', 'c/holiday 3.txt'];
		t.like(await search(app), { paths: readable, missing: [null] });
		// The comparison passes by it, and what other programs change is found.
		await place(app, 'c/holiday 4.txt');
		const [state] = (await searchIndex.state(roots)).roots;
		await searchIndex.check(false);
		await searchIndex.settled();
		t.deepEqual((await search(app)).paths, [...readable, 'c/holiday 4.txt']);
		const [checked] = (await searchIndex.state(roots)).roots;
		if (isIndexed === 'true') t.true(Number(checked?.indexedAt) > Number(state?.indexedAt));
		const listed: string[] = [];
		for await (const batch of app.services.files.list(visitor, { area: 'public', path: parsePath('') }))
			listed.push(...batch.map(({ name }) => name));
		t.deepEqual(listed.sort(), ['a', 'bad', 'c']);
		mend();
		t.deepEqual((await search(app)).paths.length, 4);
	});
}

test('changes that can’t be noted make all of their root stale as soon as that can be noted', async (t) => {
	const folder = path.join(await temporaryFolder(t), 'changes');
	await writeFile(folder, 'no folder');
	const journal = new ChangeJournal(folder, 'one', log);
	t.teardown(() => journal.close());
	const mark = { rootId: 'root', kind: 'rows' as const, path: parsePath('a') };
	const change = journal.begin([mark]);
	t.true(journal.hasLost('root'));
	t.false(journal.hasLost('other'));
	await rm(folder);
	t.false(journal.hasLost('root'));
	const journals = new Journals(folder);
	await journals.read();
	const all = { rootId: 'root', kind: 'tree' as const, path: parsePath('') };
	t.deepEqual(journals.marks(new Map()), [all]);
	change.end([mark]);
	await journals.read();
	t.deepEqual(journals.marks(new Map()), [all, mark]);
});

test('a change is stale from its beginning on, and what a process did not end is in its journal', async (t) => {
	const folder = await temporaryFolder(t);
	const journal = new ChangeJournal(folder, 'one', log);
	t.teardown(() => journal.close());
	const journals = new Journals(folder);
	const mark = (at: string) => ({ rootId: 'root', kind: 'rows' as const, path: parsePath(at) });
	const change = journal.begin([mark('a')]);
	await journals.read();
	t.deepEqual(journals.marks(new Map()), [mark('a')]);
	const [before] = journals.pending(new Map());
	t.like(before, { marks: [], open: [mark('a')], isClosed: false });
	change.end([mark('b')]);
	await journals.read();
	t.deepEqual(journals.marks(new Map()), [mark('b')]);
	const [{ file = '', position = 0 } = {}] = journals.pending(new Map());
	t.deepEqual(journals.marks(new Map([[file, position]])), []);
	journals.forget(new Map([[file, position]]));
	t.deepEqual(journals.marks(new Map()), []);
});

test('what is noted and applied by nobody stays small, and makes only the homes stale that it is about', async (t) => {
	const folder = await temporaryFolder(t);
	const journal = new ChangeJournal(folder, 'one', log);
	t.teardown(() => journal.close());
	const note = (at: string) => journal.note([{ rootId: 'root', kind: 'rows', path: parsePath(at) }]);
	note('users/ada/docs');
	for (let each = 0; each < 30_000; each++) note(`users/eve/${'long '.repeat(40)}name`);
	t.true((await readdir(folder)).length <= 17);
	const journals = new Journals(folder);
	await journals.read();
	const marks = journals.marks(new Map());
	const stale = (at: string) => marks.some((mark) => mark.rootId === 'root' && concerns(mark, parsePath(at)));
	t.true(stale('users/eve/anything'));
	t.true(stale('users/ada/docs'));
	t.false(stale('users/bob'), 'nobody has changed anything there');
	t.false(stale('Public'));
});

test('what a process had begun when it was killed is stale in the index, also where all lines of its journal were read before', async (t) => {
	const folder = await temporaryFolder(t);
	const changes = path.join(folder, 'changes');
	const journal = new ChangeJournal(changes, 'one', log);
	t.teardown(() => journal.close());
	const mark = (at: string) => ({ rootId: 'root', kind: 'rows' as const, path: parsePath(at) });
	journal.begin([mark('users/ada/copy')]);
	journal.begin([mark('users/bob')]).end([mark('users/bob')]);
	const positions = new Map<string, number>();
	const applied: string[] = [];
	const writer = {
		positions: async () => positions,
		async apply(file: string, position: number, marks: readonly { path: string }[]) {
			positions.set(file, position);
			applied.push(...marks.map(({ path: at }) => at));
		},
		forgetJournal: async (file: string) => void positions.delete(file),
	} as unknown as IndexWriter;
	const journals = new Journals(changes);
	let isKilled = false;
	const apply = () => applyJournals(journals, writer, { folder, identity: { hasEnded: async () => isKilled } });
	await apply();
	await apply();
	t.deepEqual(applied, ['users/bob']);
	isKilled = true;
	await apply();
	t.deepEqual(applied, ['users/bob', 'users/ada/copy']);
	t.deepEqual(await readdir(changes), []);
	await apply();
	t.is(applied.length, 2);
});

/** An index of one folder on one disk, which may be away, and the marks of the comparison that find that it has changed. */
function comparedFolder() {
	const state = new Map<string, string>();
	const marked: string[] = [];
	let asked = 0;
	const disk = {
		isAway: true,
		asked: () => asked,
		storage: {
			rootId: 'disk',
			async stat() {
				asked++;
				if (disk.isAway) throw new Failure('unavailable', 'The disk is away.');
				return { mtime: 2 };
			},
			async check() {
				if (disk.isAway) throw new Failure('unavailable', 'The disk is away.');
			},
		} as unknown as StorageProvider,
	};
	const writer = {
		checkedAt: async () => Date.now() - 60_000,
		folders: async () => [{ id: 1, path: parsePath('users'), mtime: 1, listedAt: Date.now() }],
		mark: async (_: string, marks: { path: string }[]) => void marked.push(...marks.map(({ path: at }) => at)),
		setChecked: async () => {},
		state: async (name: string) => state.get(name),
		setState: async (name: string, value: string) => void state.set(name, value),
		keepRoots: async () => {},
		addRoot: async () => {},
		waiting: async () => [],
		positions: async () => new Map(),
		close: async () => {},
	} as unknown as IndexWriter;
	return { disk, writer, marked, state };
}

const hour = 3600_000;

test('the comparison after an unclean end is made once the disk is back that was away when it began', async (t) => {
	const { disk, writer, marked } = comparedFolder();
	const check = new FolderCheck(Date.now);
	check.roots = ['disk'];
	check.isDue = true;
	await t.throwsAsync(check.step(writer, [disk], hour), { message: 'The disk is away.' });
	t.false(await check.step(writer, [], hour), 'while it is away');
	t.true(check.isOwed);
	disk.isAway = false;
	t.true(await check.step(writer, [disk], hour));
	t.deepEqual(marked, ['users']);
	t.false(check.isOwed);
	t.false(await check.step(writer, [disk], hour), 'it is made once');
});

test('a comparison that is asked for while one is under way is made after it', async (t) => {
	const { disk, writer, marked } = comparedFolder();
	const check = new FolderCheck(Date.now);
	check.roots = ['disk'];
	check.isDue = true;
	await t.throwsAsync(check.step(writer, [disk], hour));
	disk.isAway = false;
	check.isDue = true;
	t.true(await check.step(writer, [disk], hour));
	t.true(check.isOwed);
	t.true(await check.step(writer, [disk], hour));
	t.deepEqual(marked, ['users', 'users']);
	t.false(check.isOwed);
});

test('a process that ends before it could compare what an unclean end requires leaves that to the next one', async (t) => {
	const folder = await temporaryFolder(t);
	const { disk, writer, marked, state } = comparedFolder();
	state.set('end', 'none');
	const build = () => {
		const builder = new IndexBuilder({
			file: {
				lock: async () => ({ release() {} }),
				identity: async () => 'the same',
				write: async () => writer,
			} as never,
			...{ folder, log, now: Date.now, identity: { hasEnded: async () => false } },
			mounts: { all: () => [{ name: 'disk', storage: disk.storage }] },
			config: { search: { checkEvery: hour, exclude: [] } } as never,
		});
		builder.begin();
		return builder;
	};
	const first = build();
	await until('the disk is asked', () => disk.asked() > 0);
	await first.close();
	t.is(state.get('end'), 'none');
	disk.isAway = false;
	const second = build();
	await until('the folder is compared', () => marked.length > 0);
	await second.close();
	t.is(state.get('end'), 'clean');
});
