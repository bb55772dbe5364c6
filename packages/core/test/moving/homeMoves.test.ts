import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import {
	chmod,
	chown,
	mkdir,
	mkdtemp,
	open,
	readdir,
	readFile,
	rename,
	rm,
	stat,
	symlink,
	utimes,
	writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
	type AccessStorage,
	type FolderTimesStorage,
	hasAccess,
	hasListWithStats,
	type Job,
} from '@stowage/plugin-api';
import { Failure, isFailure, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
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
	await mkdir(path.dirname(newHome), { recursive: true });
	await rename(home, newHome);
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

test('the trash follows a home with links whose deletion could not be recorded to its end', async (t) => {
	const fixture = await setUp(t);
	const { app, ada } = fixture;
	const { links, users } = app.services.database;
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'docs/a.txt', expiration: '1h' }));
	const { setPaths } = links;
	links.setPaths = () => Promise.reject(new Failure('storageFull', 'The disk of the database is full.'));
	const id = json(await ada.call('DELETE', '/api/deleteItem', { filePath: 'docs', type: 'private' })).trashId as string;
	links.setPaths = setPaths;
	const [link] = await links.within((await users.find('ada'))?.id ?? '', parsePath('docs'));
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
