import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { MemoryStorage } from '@stowage/conformance';
import { Failure, parsePath, rootPath } from '@stowage/rules';
import test from 'ava';
import { runAt } from '../../../database/test/sharedServers.js';
import { measureTree } from '../../src/quotas/measureTree.js';
import type { ProcessUsageRow } from '../../src/quotas/shared/ProcessUsageRow.js';
import { Settlement, settleMs } from '../../src/quotas/shared/Settlement.js';
import type { CountedHome, SharedParts } from '../../src/quotas/shared/sharedParts.js';
import { addressOf } from '../rawRequest.js';
import { serversOfRun } from '../severalApps.js';
import { type Answer, Client, file, json, type TestApp, testApp } from '../testApp.js';
import { begin, create, head, patch, remove, uploadState } from '../tusClient.js';
import { until } from '../until.js';

const kb = (count: number) => Buffer.alloc(count * 1024, 7);
const homeOf = ({ filesDir }: TestApp, name = 'ada') => path.join(filesDir, 'users', name);
const staged = ({ filesDir }: TestApp) => readdir(path.join(filesDir, '.stowage/staging'));
const isFull = (answer: Answer) => [answer.statusCode, json(answer).code];
const full = [507, 'STORAGE_FULL'];

interface Quota {
	bytes: number;
	used: number;
}

/** Lets so much time pass for the counts of homes, whose age is that of the database's clock: a server's stands for itself. */
async function pass(clock: { ms: number }, { services }: TestApp, ms: number): Promise<void> {
	clock.ms += ms;
	const { databaseUrl } = services.config;
	if (databaseUrl.startsWith('sqlite:')) return;
	await runAt(databaseUrl, [
		`update home_measures set measured_at = measured_at - ${ms}`,
		`update home_changes set touched_at = touched_at - ${ms}`,
	]);
}

/** A server with these flags and a user ada, on a clock that the test sets. */
async function setUp(t: Parameters<typeof testApp>[0], flags: Record<string, string>) {
	const clock = { ms: 1000 };
	const app = await testApp(t, flags, { monotonic: () => clock.ms, now: () => Date.now() + clock.ms });
	const ada = await new Client(app).register('ada');
	const post = (name: string, size: number) => ada.upload('/api/upload', [file(name, kb(size))]);
	const change = (call: string, body: object) => ada.post(`/api/${call}`, { type: 'private', ...body });
	/** Resolves once the home has been measured; a page does not wait long for that. */
	const quota = () => {
		// What another server has said is read again after a second, which does not pass by itself.
		if (serversOfRun > 1) clock.ms += 1000;
		return until(
			'the quota is known',
			async () => json(await ada.get('/api/checkLoginStatus')).quota as Quota | null,
		) as Promise<Quota>;
	};
	return { app, ada, clock, post, change, quota };
}

test('what a disk can’t tell of one item stops no walk through a home', async (t) => {
	const storage = new MemoryStorage();
	for (const name of ['bad', 'good']) await storage.makeDirectory(parsePath(name));
	await storage.makeDirectory(parsePath('good/inner'));
	const { list } = storage;
	storage.list = async function* (folder) {
		if (folder === 'bad') throw new Failure('unavailable', 'The storage does not answer as it should.');
		for await (const rows of list.call(storage, folder))
			yield rows.map((row) => (row.name === 'bad' ? { ...row, unreadable: true as const } : row));
	};
	t.deepEqual(await measureTree(storage, rootPath, async () => {}), { bytes: 0, entries: 3 });
	storage.list = list;
	t.deepEqual(await measureTree(storage, rootPath, async () => {}), { bytes: 0, entries: 3 });
});

/** Two processes over one data folder, with clients of ada at each. */
async function twoProcesses(t: Parameters<typeof testApp>[0], quota: string) {
	const flags = { '--workers': '2', '--quotas-user-bytes': quota };
	const app = await testApp(t, flags);
	const other = await testApp(t, { ...flags, '--data-dir': app.dataDir });
	const ada = await new Client(app).register('ada');
	const there = new Client(other);
	there.cookie = ada.cookie;
	return { app, other, ada, there };
}

test('a process is refused no room that another one has given back, or keeps without need', async (t) => {
	const quota = 12 * 1024;
	const { ada, there } = await twoProcesses(t, `${quota} KB`);
	const post = (client: Client, name: string, size: number) => client.upload('/api/upload', [file(name, kb(size))]);
	const removeForGood = (client: Client, filePath: string) =>
		client.call('DELETE', '/api/deleteItem', { filePath, type: 'private', permanent: true });
	t.is((await post(ada, 'a', 1024)).statusCode, 200);
	t.is((await post(there, 'b', quota - 1024)).statusCode, 200, 'what the first one took in advance');
	t.is((await post(ada, 'c', 1)).statusCode, 507);
	t.is((await removeForGood(there, 'a')).statusCode, 200);
	t.is((await post(ada, 'a', 1024)).statusCode, 200, 'what was removed at the other one');
	t.is((await removeForGood(ada, 'b')).statusCode, 200);
	t.is((await ada.post('/api/createFolder', { directory: '', folderName: 'd', type: 'private' })).statusCode, 200);
	const inFolder = [{ name: 'directory', value: 'd' }, file('b', kb(quota - 1024))];
	t.is((await ada.upload('/api/upload', inFolder)).statusCode, 200);
	t.is((await removeForGood(there, 'd')).statusCode, 200);
	t.is((await post(ada, 'b', 5 * 1024)).statusCode, 200, 'a folder whose size the other one did not know');
	const left = (quota - 6 * 1024) / 8;
	const last = await Promise.all(
		Array.from({ length: 8 }, (_, n) => post(n % 2 === 0 ? ada : there, `last ${n}`, left)),
	);
	t.deepEqual(
		last.map(({ statusCode }) => statusCode),
		Array(8).fill(200),
		'at once',
	);
	t.is((await post(there, 'c', 1)).statusCode, 507);
});

test('what another process is slow to give back is waited for before anything is refused', async (t) => {
	const { app, ada, there } = await twoProcesses(t, '12 MB');
	t.is((await ada.upload('/api/upload', [file('a', kb(1024))])).statusCode, 200);
	// As on a busy machine.
	const { homeUsage } = app.services.database;
	const save = homeUsage.save.bind(homeUsage);
	homeUsage.save = async (...row) => {
		await wait(1500);
		return save(...row);
	};
	t.is((await there.upload('/api/upload', [file('b', kb(11 * 1024))])).statusCode, 200);
});

test('what another process gives back while it is looked whether that would be enough is not refused', async (t) => {
	const flags = { '--workers': '2', '--quotas-user-bytes': '12 MB' };
	const app = await testApp(t, flags);
	const { database, accounts } = app.services;
	const ada = await new Client(app).register('ada');
	const owner = (await accounts.list()).find(({ username }) => username === 'ada')?.id as string;
	t.is((await ada.upload('/api/upload', [file('a', kb(1024))])).statusCode, 200);
	const { homeUsage } = database;
	const none = { bytes: 0, entries: 0 };
	const reserved = { bytes: 11 * 1024 * 1024, entries: 1 };
	const number = await homeUsage.begin(owner, 'another process', reserved);
	const rows = homeUsage.rows.bind(homeUsage);
	// Between the two looks at the sum and at the rows.
	homeUsage.rows = async (...words) => {
		await homeUsage.save(owner, 'another process', number, { added: none, published: none, removed: none });
		return rows(...words);
	};
	t.is((await create(ada, 8 * 1024 * 1024, { filename: 'b' })).statusCode, 201);
});

test('what others have reserved is not shown as more than the quota', async (t) => {
	const app = await testApp(t, { '--workers': '2', '--quotas-user-bytes': '12 MB' });
	const { database, accounts } = app.services;
	const ada = await new Client(app).register('ada');
	const owner = (await accounts.list()).find(({ username }) => username === 'ada')?.id as string;
	t.is((await ada.upload('/api/upload', [file('a', kb(1024))])).statusCode, 200);
	const { homeUsage } = database;
	const none = { bytes: 0, entries: 0 };
	const used = async () => json(await ada.get('/api/checkLoginStatus')).quota.used;
	// What was taken in advance for the upload has been released.
	await until('the file is used', async () => (await used()) === 1024 * 1024);
	const reserved = { bytes: 20 * 1024 * 1024, entries: 1 };
	const number = await homeUsage.begin(owner, 'another process', reserved);
	t.is(await used(), 12 * 1024 * 1024);
	await homeUsage.save(owner, 'another process', number, { added: reserved, published: reserved, removed: none });
	await until('what they have reserved is there', async () => (await used()) === 21 * 1024 * 1024);
	await homeUsage.save(owner, 'another process', number, { added: none, published: none, removed: none });
	await until('nothing is reserved any more', async () => (await used()) === 1024 * 1024);
});

test('a home that is full refuses at once at every process, also while others try the same', async (t) => {
	const { app, ada, there } = await twoProcesses(t, '12 MB');
	const post = (client: Client, name: string, size: number) => client.upload('/api/upload', [file(name, kb(size))]);
	t.is((await post(ada, 'a', 1024)).statusCode, 200);
	t.is((await post(there, 'b', 11 * 1024)).statusCode, 200);
	// A look at the sum has two of these, and a walk one: three walks at most. Where it is waited for others there are twenty at least.
	const { homeUsage } = app.services.database;
	let looks = 0;
	const rows = homeUsage.rows.bind(homeUsage);
	homeUsage.rows = (...words) => {
		looks++;
		return rows(...words);
	};
	t.is((await post(ada, 'c', 1)).statusCode, 507);
	t.true(looks <= 15, `${looks} looks`);
	t.is((await post(there, 'c', 1)).statusCode, 507);
	looks = 0;
	const refused = await Promise.all(
		Array.from({ length: 6 }, (_, n) => post(n % 2 === 0 ? ada : there, `at once ${n}`, 1)),
	);
	t.deepEqual(
		refused.map(({ statusCode }) => statusCode),
		Array(6).fill(507),
	);
	t.true(looks <= 3 * 15, `${looks} looks of three refusals`);
});

/** Tries to take each of these amounts of the home of ada's at once in this process; resolves to what became of each. */
async function takeAtOnce({ services }: TestApp, amounts: { bytes: number; entries: number }[]): Promise<string[]> {
	const { id } = await services.accounts.find('ada');
	const quota = services.quotas.of({ kind: 'user', id, username: 'ada' });
	const reservations = await Promise.all(amounts.map(() => quota.reserve()));
	const outcomes = await Promise.allSettled(reservations.map((each, n) => each.add(amounts[n] as (typeof amounts)[0])));
	for (const each of reservations) each.release();
	return outcomes.map(({ status }) => status);
}

test('the room that a process checks for one upload is not granted to another one that it has not checked', async (t) => {
	const { other, ada, there } = await twoProcesses(t, '12 MB');
	t.is((await ada.upload('/api/upload', [file('a', kb(1024))])).statusCode, 200);
	t.is((await there.upload('/api/upload', [file('b', kb(11 * 1024))])).statusCode, 200);
	// The number of entries has no limit here, so that this one fits although the home is full.
	const outcomes = await takeAtOnce(other, [
		{ bytes: 0, entries: 1 },
		{ bytes: 1024, entries: 0 },
	]);
	t.deepEqual(outcomes, ['fulfilled', 'rejected']);
});

test('what a process was granted before another one measured the home without it is checked anew', async (t) => {
	const { app, other, ada, there } = await twoProcesses(t, '12 MB');
	t.is((await ada.upload('/api/upload', [file('a', kb(1024))])).statusCode, 200);
	t.is((await there.upload('/api/upload', [file('b', kb(4 * 1024))])).statusCode, 200);
	const { id } = await app.services.accounts.find('ada');
	await writeFile(path.join(homeOf(app), 'c'), kb(7 * 1024));
	const { homeUsage } = other.services.database;
	await until('what was taken in advance is given back', async () =>
		(await homeUsage.rows(id, 0)).every(({ added, published }) => added.bytes === published.bytes),
	);
	const rows = await homeUsage.rows(id, 0);
	const processes = new Set(rows.map(({ process }) => process));
	// As if both had been idle for long, and something had been written by another way meanwhile.
	const full = { bytes: 12 * 1024 * 1024, entries: 3 };
	await homeUsage.measured(id, full, rows, processes, 0);
	const begin = homeUsage.begin.bind(homeUsage);
	const amount = { bytes: 1024, entries: 0 };
	let meanwhile: Promise<string[]> | undefined;
	homeUsage.begin = async (...row) => {
		const number = await begin(...row);
		setImmediate(() => {
			meanwhile = takeAtOnce(other, [amount]);
		});
		return number;
	};
	t.deepEqual(await takeAtOnce(other, [amount]), ['rejected']);
	t.deepEqual(await meanwhile, ['rejected']);
});

test('others hear of what was published where less room was left than was to be taken in advance', async (t) => {
	const app = await testApp(t, { '--workers': '2', '--quotas-user-bytes': '12 MB' });
	await new Client(app).register('ada');
	const { id } = await app.services.accounts.find('ada');
	const { homeUsage } = app.services.database;
	const save = homeUsage.save.bind(homeUsage);
	const others = { bytes: 12 * 1024 * 1024 - 1024, entries: 1 };
	// Another process takes nearly all before this one looks at the sum.
	homeUsage.save = async (...row) => {
		const [, , , { added }] = row;
		if (added.bytes > 1024) await homeUsage.begin(id, 'another process', others);
		return save(...row);
	};
	const quota = app.services.quotas.of({ kind: 'user', id, username: 'ada' });
	await quota.adding(({ add }) => add({ bytes: 1024, entries: 0 }));
	await until('it is said', async () => {
		const rows = await homeUsage.rows(id, 0);
		return rows.some(({ published }) => published.bytes === 1024);
	});
	t.is((await homeUsage.state(id, id, 'another process')).unpublished.bytes, 0);
});

test('a home that is renamed while it is measured is measured by its new name', async (t) => {
	const { app } = await setUp(t, { '--quotas-user-bytes': '1 MB' });
	await mkdir(path.join(homeOf(app), 'docs'));
	await writeFile(path.join(homeOf(app), 'docs/a'), kb(60));
	const { accounts, roots, quotas } = app.services;
	const { storage } = roots.first;
	const list = storage.list.bind(storage);
	let isRenamed = false;
	storage.list = async function* (folder, ...options) {
		if (folder === 'users/ada/docs' && !isRenamed) {
			isRenamed = true;
			await accounts.rename('ada', 'lovelace');
		}
		yield* list(folder, ...options);
	};
	const { id } = await accounts.find('ada');
	const user = { kind: 'user', id, username: 'ada' } as const;
	t.like(await quotas.usage(user, 60_000), { used: { bytes: 60 * 1024 } });
	t.true(isRenamed);
});

/** A process that is alone counts in memory, one that may have others by rows. */
const ways: Record<string, Record<string, string>> = {
	'counted alone': {},
	'counted with others': { '--workers': '2' },
};

test('folders however deep are no way around a quota, and break nothing else of their owner', async (t) => {
	const { app, ada, clock, post, change } = await setUp(t, { '--quotas-user-bytes': '100 KB' });
	t.is((await post('needle', 60)).statusCode, 200);
	const levels = Array(600).fill('d').join('/');
	await mkdir(path.join(homeOf(app), 'a', levels), { recursive: true });
	await mkdir(path.join(homeOf(app), 'b', levels), { recursive: true });
	const moved = (name: string, toPath: string) => change('moveItem', { fromPath: name, toPath });
	t.is((await moved('needle', `b/${levels}/needle`)).statusCode, 200);
	t.is((await moved('b', `a/${levels}/b`)).statusCode, 200);
	clock.ms += 16 * 60_000;
	await until('the home is measured again', async () => (await post('other', 60)).statusCode === 409);
	t.is((await ada.get('/api/checkLoginStatus')).statusCode, 200);
	const found = await ada.get('/api/browse?type=private&directory=&search=public');
	t.deepEqual([found.statusCode, json(found).entries.length], [200, 1]);
	const ticket = { files: [{ path: 'a' }], type: 'private', directory: '' };
	t.is(json(await ada.post('/api/downloadTickets', ticket)).skipped, 1);

	const { statusCode, payload } = await ada.call('DELETE', '/api/deleteItem', { filePath: 'a', type: 'private' });
	t.is(statusCode, 200);
	clock.ms += 16 * 60_000;
	t.is((await post('other', 60)).statusCode, 409, 'in the trash they count as well');
	t.is((await ada.call('DELETE', `/api/trash/${JSON.parse(payload).trashId}`)).statusCode, 200);
	clock.ms += 31_000;
	await until('there is room again', async () => (await post('other', 60)).statusCode === 200);
});

for (const [counting, counted] of Object.entries(ways)) {
	test(`${counting}: a form that exceeds the quota is refused with the space that is left, and stores nothing`, async (t) => {
		const { app, ada, post, quota } = await setUp(t, { ...counted, '--quotas-user-bytes': '3 MB' });
		t.deepEqual(await quota(), { bytes: 3 * 1024 ** 2, used: 0 });
		t.is((await post('a', 2048)).statusCode, 200);
		t.deepEqual(await quota(), { bytes: 3 * 1024 ** 2, used: 2048 * 1024 });
		const refused = await post('b', 1025);
		t.deepEqual(isFull(refused), full);
		t.is(json(refused).message, 'You may keep 3.0 MB here, and 1.0 MB of that is left.');
		t.is(
			(await ada.upload('/api/upload/public', [file('b', kb(1025))])).statusCode,
			507,
			'public files count for the home',
		);
		t.deepEqual(await staged(app), []);
		t.is((await post('b', 1024)).statusCode, 200, 'the quota can be used to the last byte');
		t.is((await post('c', 1)).statusCode, 507);
		t.is((await ada.upload('/api/upload', [file('empty', '')])).statusCode, 200);
		const bob = await new Client(app).register('bob');
		t.is((await bob.upload('/api/upload', [file('a', kb(2048))])).statusCode, 200);
	});

	test(`${counting}: a form whose Content-Length exceeds the quota is refused before its body is sent`, async (t) => {
		const { app, ada } = await setUp(t, { ...counted, '--quotas-user-bytes': '3 MB' });
		const sent = request({
			...addressOf(app),
			path: '/api/upload',
			method: 'POST',
			agent: false,
			headers: { cookie: ada.cookie ?? '', 'content-type': 'multipart/form-data; boundary=b', 'content-length': 9e6 },
		});
		sent.on('error', () => {});
		const status = new Promise<number>((resolve) => sent.on('response', ({ statusCode }) => resolve(statusCode ?? 0)));
		sent.flushHeaders();
		t.is(await status, 507);
		sent.destroy();
	});

	test(`${counting}: bodies of unknown length are cut off at the quota, and concurrent ones do not exceed it together`, async (t) => {
		const { app, ada, quota } = await setUp(t, { ...counted, '--quotas-user-bytes': '3 MB' });
		const send = (name: string) =>
			new Promise<number>((resolve) => {
				const sent = request({
					...addressOf(app),
					path: '/api/upload',
					method: 'POST',
					agent: false,
					headers: {
						cookie: ada.cookie ?? '',
						'content-type': 'multipart/form-data; boundary=b',
						'transfer-encoding': 'chunked',
					},
				});
				sent.on('error', () => {});
				sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
				sent.write(`--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`);
				for (let n = 0; n < 20; n++) sent.write(kb(100));
				sent.end('\r\n--b--\r\n');
			});
		const statuses = (await Promise.all(['a', 'b', 'c', 'd'].map(send))).sort();
		t.true(statuses.every((status) => status === 200 || status === 507) && statuses.includes(507), statuses.join());
		t.true(statuses.filter((status) => status === 200).length <= 1, statuses.join());
		t.true((await quota()).used <= 3 * 1024 ** 2);
		t.deepEqual(await staged(app), []);
	});

	test(`${counting}: resumable uploads can’t exceed the quota at creation, while bytes arrive or together`, async (t) => {
		const { app, ada, post } = await setUp(t, { ...counted, '--quotas-user-bytes': '100 KB' });
		t.deepEqual(isFull(await create(ada, 101 * 1024, { filename: 'a' })), full);
		const first = await begin(ada, 80 * 1024, { filename: 'a' });
		const second = await begin(ada, 80 * 1024, { filename: 'b' });
		t.is((await patch(ada, first, 0, kb(60))).statusCode, 204);
		t.deepEqual(isFull(await patch(ada, second, 0, kb(60))), full, 'the bytes of unfinished uploads count');
		t.is((await patch(ada, second, 0, kb(30))).statusCode, 204);
		t.is((await post('c', 11)).statusCode, 507);
		t.deepEqual(uploadState(await head(ada, second)), [200, 30 * 1024, undefined]);
		t.is((await patch(ada, first, 60 * 1024, kb(20))).statusCode, 507);
		await remove(ada, second);
		t.deepEqual(uploadState(await patch(ada, first, 60 * 1024, kb(20))), [204, 80 * 1024, 'a']);
		t.is((await post('c', 20)).statusCode, 200);
		t.is((await post('d', 1)).statusCode, 507);
		t.deepEqual((await readdir(homeOf(app))).sort(), ['Public', 'a', 'c']);
	});

	test(`${counting}: files and folders count for the quota, also created folders, unfinished uploads and new parents of a move`, async (t) => {
		// The Public folder counts as one.
		const { app, ada, post, change } = await setUp(t, { ...counted, '--quotas-user-entries': '6' });
		t.is((await post('a', 1)).statusCode, 200, 'the second of six');
		t.is((await change('createFolder', { directory: '', folderName: 'b' })).statusCode, 200, 'the third');
		const many = ['1', '2', '3', '4'].map((name) => file(name, 'x'));
		t.deepEqual(isFull(await ada.upload('/api/upload', many)), full);
		t.deepEqual(isFull(await change('moveItem', { fromPath: 'a', toPath: 'c/d/e/f/a' })), full);
		t.deepEqual((await readdir(homeOf(app))).sort(), ['Public', 'a', 'b']);
		t.is((await change('moveItem', { fromPath: 'a', toPath: 'c/d/a' })).statusCode, 200, 'two folders more');
		const location = await begin(ada, 1, { filename: 'g' });
		for (const refused of [
			await create(ada, 1, { filename: 'h' }),
			await post('h', 1),
			await change('createFolder', { directory: '', folderName: 'h' }),
			await change('copyItem', { fromPath: 'c/d/a', toPath: 'h' }),
		]) {
			t.deepEqual(isFull(refused), full);
			t.is(json(refused).message, 'You may keep 6 files and folders here, and 0 files and folders of that is left.');
		}
		t.is((await patch(ada, location, 0, 'x')).statusCode, 204);
		t.is(
			(await change('moveItem', { fromPath: 'c/d/a', toPath: 'Public/a' })).statusCode,
			200,
			'a move inside the home needs no quota',
		);
		await ada.call('DELETE', '/api/deleteItem', { filePath: 'g', type: 'private' } as never);
		t.is((await post('i', 1)).statusCode, 200, 'in place of what was removed');
	});

	test(`${counting}: a copy that exceeds the quota is refused, and the bytes of a copy count`, async (t) => {
		const { app, post, change, ada, quota } = await setUp(t, { ...counted, '--quotas-user-bytes': '100 KB' });
		await change('createFolder', { directory: '', folderName: 'docs' });
		await ada.upload('/api/upload', [{ name: 'directory', value: 'docs' }, file('a', kb(20)), file('b', kb(20))]);
		t.is((await change('copyItem', { fromPath: 'docs', toPath: 'copy' })).statusCode, 200);
		t.is((await quota()).used, 80 * 1024);
		t.deepEqual(isFull(await change('copyItem', { fromPath: 'docs', toPath: 'other' })), full);
		t.deepEqual((await readdir(homeOf(app))).sort(), ['Public', 'copy', 'docs']);
		t.is((await post('c', 20)).statusCode, 200);
	});

	test(`${counting}: bytes that are removed for good are free again: at once after a call, and once the home is measured again after a change on the disk`, async (t) => {
		const { app, ada, clock, post, quota } = await setUp(t, { ...counted, '--quotas-user-bytes': '100 KB' });
		await mkdir(path.join(homeOf(app), 'deep/er'), { recursive: true });
		await writeFile(path.join(homeOf(app), 'deep/er/a'), kb(60));
		t.is((await quota()).used, 60 * 1024, 'files that existed before are counted');
		t.is((await post('b', 40)).statusCode, 200);
		t.is((await post('c', 10)).statusCode, 507);
		const removeForGood = (filePath: string) =>
			ada.call('DELETE', '/api/deleteItem', { filePath, type: 'private', permanent: true });
		await removeForGood('b');
		t.is((await quota()).used, 60 * 1024);
		await removeForGood('deep');
		t.is((await post('c', 90)).statusCode, 200, 'the freed size of a folder is measured when it is needed');
		// Whoever has removed a folder measures once more by itself, also if another server has measured since.
		for (let server = 0; server < serversOfRun; server++) t.is((await post('d', 90)).statusCode, 507);
		await rm(path.join(homeOf(app), 'c'));
		t.is((await post('d', 90)).statusCode, 507, 'the server has not measured the home again yet');
		await pass(clock, app, 31_000);
		t.is((await post('d', 90)).statusCode, 200);
		await writeFile(path.join(homeOf(app), 'e'), kb(5));
		t.is((await quota()).used, 90 * 1024);
		await pass(clock, app, 16 * 60_000);
		await until('the home is measured again', async () => (await quota()).used === 95 * 1024);
	});

	test(`${counting}: what is removed for good gives back its own size, whatever had its path a moment before`, async (t) => {
		const flags = { '--quotas-user-bytes': '200 KB', '--versions-keep-for': '0' };
		const { app, ada, post, quota } = await setUp(t, { ...counted, ...flags });
		t.is((await post('a', 60)).statusCode, 200);
		t.is((await post('b', 40)).statusCode, 200);
		const { storage } = app.services.roots.first;
		const { remove } = storage;
		storage.remove = async (...given) => {
			storage.remove = remove;
			const replacing = [{ name: 'onConflict', value: 'replace' }, file('b', kb(1))];
			t.is((await ada.upload('/api/upload', replacing)).statusCode, 200);
			await remove.apply(storage, given);
		};
		const b = { filePath: 'b', type: 'private', permanent: true };
		t.is((await ada.call('DELETE', '/api/deleteItem', b)).statusCode, 200);
		t.is((await quota()).used, 60 * 1024);
	});

	test(`${counting}: an upload that is retried with its key counts once`, async (t) => {
		const { ada, quota } = await setUp(t, { ...counted, '--quotas-user-bytes': '100 KB' });
		const key = { 'stowage-upload-key': 'k'.repeat(22) };
		// What is published while the home is measured counts twice until it is measured again.
		await quota();
		for (let times = 0; times < 4; times++) {
			t.is((await ada.upload('/api/upload', [file('a', kb(40))], key)).statusCode, 200);
		}
		// What another server has reserved for what it did not publish counts for a moment.
		if (serversOfRun > 1) await until('it is given back', async () => (await quota()).used <= 40 * 1024);
		t.is((await quota()).used, 40 * 1024);
	});

	test(`${counting}: all visitors share one quota of bytes and entries`, async (t) => {
		const app = await testApp(t, {
			...counted,
			'--quotas-anonymous-bytes': '100 KB',
			'--quotas-anonymous-entries': '4',
		});
		const visitor = new Client(app);
		const post = (name: string, size: number) => visitor.upload('/api/upload/public', [file(name, kb(size))]);
		t.is((await post('a', 80)).statusCode, 200);
		const refused = await post('b', 30);
		t.deepEqual(isFull(refused), full);
		t.is(json(refused).message, 'Visitors may keep 100.0 KB here, and 20.0 KB of that is left.');
		t.is((await post('b', 1)).statusCode, 200);
		await begin(visitor, 5, { filename: 'c' });
		t.is((await create(visitor, 5, { filename: 'd' })).statusCode, 507);
		const ada = await new Client(app).register('ada');
		t.is((await ada.upload('/api/upload/public', [file('a', kb(200))])).statusCode, 200);
		t.is(json(await ada.get('/api/checkLoginStatus')).quota, null);
	});

	test(`${counting}: the trash of who is renamed goes on to count for them, and for nobody who has their former name`, async (t) => {
		const { app, ada, post } = await setUp(t, { ...counted, '--quotas-user-bytes': '1 MB' });
		const { accounts, database } = app.services;
		const put = (client: Client, size: number) => client.upload('/api/upload', [file('a', kb(size))]);
		const remove = async (client: Client) =>
			t.is((await client.call('DELETE', '/api/deleteItem', { filePath: 'a', type: 'private' })).statusCode, 200);
		const kept = async (client: Client) => json(await client.get('/api/trash')).size / 1024;
		const used = async (client: Client) => json(await client.get('/api/checkLoginStatus')).quota?.used / 1024;
		t.is((await post('a', 900)).statusCode, 200);
		await remove(ada);
		t.is(await kept(ada), 900);
		await accounts.rename('ada', 'lovelace');
		const lovelace = new Client(app);
		const secret = { username: 'lovelace', password: 'correct horse' };
		t.is((await lovelace.post('/api/login', secret)).statusCode, 200);
		t.is((await put(lovelace, 500)).statusCode, 200, 'what she had deleted by her former name gives way');
		t.is(await kept(lovelace), 0);
		await until('what she has is counted', async () => (await used(lovelace)) === 500);

		const second = await new Client(app).register('ada');
		await until('the second ada has nothing', async () => (await used(second)) === 0);
		for (let times = 0; times < 3; times++) {
			t.is((await put(second, 900)).statusCode, 200, `${times} times`);
			await remove(second);
			t.is(await kept(second), 900, 'what she had deleted before has given way');
		}
		await until('the one does not count for the other', async () => (await used(lovelace)) === 500);

		await accounts.remove('ada', { kind: 'move', to: await accounts.find('lovelace') });
		const third = await new Client(app).register('ada');
		t.is((await put(third, 900)).statusCode, 200);
		await until('what the removed account had deleted is not hers', async () => (await used(third)) === 900);
		const owner = (await database.users.find('ada'))?.id;
		t.is((await database.trash.list({ order: 'oldest', limit: 9, ownerId: owner as string })).length, 0);
	});

	test(`${counting}: a quota that is set for one user while the server runs takes effect, also when it is unlimited or reset`, async (t) => {
		const { app, ada, clock, post, quota } = await setUp(t, { ...counted, '--quotas-user-bytes': '10 KB' });
		t.is((await post('a', 20)).statusCode, 507);
		await app.services.accounts.setQuota('ada', { bytes: 50 * 1024, entries: null });
		clock.ms += 6_000;
		t.is((await post('a', 20)).statusCode, 200);
		t.deepEqual(await quota(), { bytes: 50 * 1024, used: 20 * 1024 });
		await app.services.accounts.setQuota('ada', { bytes: 0, entries: 0 });
		clock.ms += 6_000;
		t.is((await post('b', 200)).statusCode, 200);
		t.is(json(await ada.get('/api/checkLoginStatus')).quota, null);
		await app.services.accounts.setQuota('ada', { bytes: null, entries: null });
		clock.ms += 6_000;
		t.deepEqual(await quota(), { bytes: 10 * 1024, used: 220 * 1024 });
		t.is((await post('c', 1)).statusCode, 507);
		t.is((await ada.post('/api/createFolder', { directory: '', folderName: 'd', type: 'private' })).statusCode, 200);
	});
}

for (const [bytes, isBusy] of [
	[1, true],
	[0, false],
	[-1, false],
] as const) {
	test(`with ${bytes} bytes reserved a process ${isBusy ? 'goes on' : 'does not go on'} to tell others what it needs`, async (t) => {
		let told = 0;
		const row = {
			exists: true,
			isExact: false,
			ageMs: 0,
			saveNeed: async () => void told++,
		} as unknown as ProcessUsageRow;
		const home = { key: 'ada', reserved: { bytes, entries: 0 } } as CountedHome;
		const settlement = new Settlement({} as SharedParts, home, row);
		await settlement.settleNow();
		await wait(3 * settleMs);
		t.is(told > 1, isBusy);
		await settlement.close();
	});
}
