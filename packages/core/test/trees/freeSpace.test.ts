import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parsePath, type Viewer } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { memoryStorageFlags } from '../memoryPlugin.js';
import { addressOf } from '../rawRequest.js';
import { waitScheduled } from '../scheduledTime.js';
import { Client, field, file, json, reportSpace, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const megabyte = 1024 ** 2;

async function treeBytes(folder: string): Promise<number> {
	let sum = 0;
	for (const entry of await readdir(folder, { recursive: true }).catch(() => [])) {
		const found = await stat(path.join(folder, entry)).catch(() => undefined);
		if (found?.isFile()) sum += found.size;
	}
	return sum;
}

async function bytesIn(folder: string): Promise<number> {
	let sum = 0;
	for (const name of await readdir(folder)) {
		const found = await stat(path.join(folder, name)).catch(() => undefined);
		sum += found?.size ?? 0;
	}
	return sum;
}

function bytesNowIn(folder: string): number {
	let sum = 0;
	for (const name of readdirSync(folder))
		sum += statSync(path.join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
	return sum;
}

/** Uploads a file without a Content-Length; resolves to the status. */
async function uploadChunked(app: TestApp, name: string, megabytes: number): Promise<number> {
	const sent = request({
		...addressOf(app),
		path: '/api/upload/public',
		method: 'POST',
		agent: false,
		headers: { 'content-type': 'multipart/form-data; boundary=b', 'transfer-encoding': 'chunked' },
	});
	const body = function* () {
		yield Buffer.from(`--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`);
		for (let n = 0; n < megabytes; n++) yield Buffer.alloc(megabyte, n);
		yield Buffer.from('\r\n--b--\r\n');
	};
	const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
	// A refused body is not read to its end.
	pipeline(Readable.from(body()), sent).catch(() => {});
	const [answer] = await answered;
	answer.resume();
	return answer.statusCode ?? 0;
}

const servers = { 'concurrent uploads': 1, 'concurrent uploads at two processes': 2 };

const neverUseTheReserve = test.macro(async (t: ExecutionContext, count: number) => {
	const disk = 100 * megabyte;
	const reserve = 30 * megabyte;
	const flags = { '--uploads-free-space-reserve': `${reserve}`, ...(count > 1 && { '--workers': `${count}` }) };
	const app = await testApp(t, flags);
	const apps = [app];
	while (apps.length < count) apps.push(await testApp(t, { ...flags, '--data-dir': app.dataDir }));
	const staging = path.join(app.filesDir, '.stowage/staging');
	const published = path.join(app.filesDir, 'users/anonymous/Public');
	const free = async () => disk - (await bytesIn(staging)) - (await bytesIn(published));
	for (const each of apps) reportSpace(each, { freeSpace: free });
	let least = disk;
	const watch = setInterval(() => {
		// Published files first, or one that is published in between would count twice; and synchronously, or a removed
		// file and the next one would both count.
		const inPlace = bytesNowIn(published);
		least = Math.min(least, disk - inPlace - bytesNowIn(staging));
	}, 2);
	t.teardown(async () => clearInterval(watch));

	const uploads = [0, 1, 2, 3].map((n) => uploadChunked(apps[n % count] as TestApp, `${n}.bin`, 40));
	const statuses = await Promise.all(uploads);
	clearInterval(watch);
	t.true(statuses.includes(507), statuses.join());
	t.true(
		statuses.every((status) => status === 200 || status === 507),
		statuses.join(),
	);
	t.true(least >= reserve, `${(reserve - least) / megabyte} MB of the reserve were used`);
	t.true(least < reserve + 40 * megabyte, 'the disk was never nearly full, so this proves nothing');
	t.deepEqual(await readdir(staging), []);
	t.is((await readdir(published)).length, statuses.filter((status) => status === 200).length);

	t.is(await uploadChunked(app, 'small.bin', 5), 200, 'an upload that fits is accepted once the others have ended');
});

for (const [who, count] of Object.entries(servers))
	test(`${who} of unknown size never use the reserved space`, neverUseTheReserve, count);

test('a copy never uses the reserve, also one of many small files, and a refused one leaves nothing', async (t) => {
	const disk = 60 * megabyte;
	const app = await testApp(t, { '--uploads-free-space-reserve': `${20 * megabyte}` });
	const home = path.join(app.filesDir, 'users/ada');
	reportSpace(app, {
		freeSpace: async () => disk - (await treeBytes(home)) - (await treeBytes(path.join(app.filesDir, '.stowage'))),
	});
	const ada = await new Client(app).register('ada');
	await mkdir(path.join(home, 'many'));
	for (let n = 0; n < 20; n++) await writeFile(path.join(home, 'many', `${n}`), Buffer.alloc(megabyte, n));
	const copy = (toPath: string) => ada.post('/api/copyItem', { fromPath: 'many', toPath, type: 'private' });
	t.is((await copy('again')).statusCode, 507);
	t.deepEqual((await readdir(home)).sort(), ['Public', 'many']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
	for (let n = 10; n < 20; n++) await rm(path.join(home, 'many', `${n}`));
	t.is((await copy('again')).statusCode, 200);
});

test('the reserve is a twentieth of the disk, at most 1 GB, unless it is configured', async (t) => {
	const gb = 1024 ** 3;
	const cases: [Record<string, string>, number, number][] = [
		[{}, 100 * gb, gb],
		[{}, 10 * gb, gb / 2],
		[{ '--uploads-free-space-reserve': '3 GB' }, 10 * gb, 3 * gb],
		[{ '--uploads-free-space-reserve': '0' }, 10 * gb, 0],
	];
	for (const [flags, total, reserve] of cases) {
		const app = await testApp(t, flags);
		reportSpace(app, { totalSpace: async () => total, freeSpace: async () => reserve + 2 * megabyte });
		const ada = await new Client(app).register('ada');
		const post = (size: number) => ada.upload('/api/upload', [file('a', Buffer.alloc(size))]);
		t.is((await post(3 * megabyte)).statusCode, 507, `${reserve}`);
		t.is((await post(megabyte)).statusCode, 200, `${reserve}`);
	}
});

test('a body that stalls after its first bytes claims almost no space', async (t) => {
	const app = await testApp(t, { '--uploads-free-space-reserve': '1' });
	reportSpace(app, { freeSpace: async () => 40 * megabyte });
	const silent = [1, 2, 3, 4].map(() => {
		const sent = request({
			...addressOf(app),
			path: '/api/upload/public',
			method: 'POST',
			agent: false,
			headers: { 'content-type': 'multipart/form-data; boundary=b', 'transfer-encoding': 'chunked' },
		});
		sent.on('error', () => {});
		sent.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nsome bytes that are not all');
		return sent;
	});
	const staging = path.join(app.filesDir, '.stowage/staging');
	await until('all uploads have started', async () => (await readdir(staging)).length === 4);
	t.is(await uploadChunked(app, 'whole.bin', 30), 200);
	for (const sent of silent) sent.destroy();
});

test('a storage that does not report its free space accepts all uploads and copies, without a reserve', async (t) => {
	const app = await testApp(t, {
		...(await memoryStorageFlags(t)),
		'--uploads-free-space-reserve': '8000 TB',
	});
	const { files, database, rootAdministration } = app.services;
	t.like((await rootAdministration.list())[0], { fault: null, freeBytes: null, totalBytes: null });
	const ada = await new Client(app).register('ada');
	t.is((await ada.get('/api/ready')).statusCode, 200);
	const large = [field('directory', ''), file('large', Buffer.alloc(2 * megabyte))];
	t.is((await ada.upload('/api/upload', large)).statusCode, 200);
	t.is(await uploadChunked(app, 'of unknown size', 3), 200);
	const copy = { fromPath: 'large', toPath: 'copy', type: 'private' };
	t.is((await ada.post('/api/copyItem', copy)).statusCode, 200);
	t.is((await ada.get('/api/download/copy?type=private')).bytes.length, 2 * megabyte);

	const { id } = (await database.users.find('ada')) ?? { id: '' };
	const viewer: Viewer = { kind: 'user', id, username: 'ada' };
	const folder = { area: 'private', path: parsePath('') } as const;
	const staged = await files.stage(viewer);
	await staged.append(Readable.from([Buffer.alloc(megabyte)]), 0);
	t.is((await files.publishOnce(viewer, folder, { staged, name: 'published' })).size, megabyte);
});

test('a storage that does not report its size has a reserve of 1 GB by default', async (t) => {
	const gb = 1024 ** 3;
	const app = await testApp(t);
	reportSpace(app, { totalSpace: async () => undefined, freeSpace: async () => gb + 2 * megabyte });
	const ada = await new Client(app).register('ada');
	const post = (size: number) => ada.upload('/api/upload', [file('a', Buffer.alloc(size))]);
	t.is((await post(3 * megabyte)).statusCode, 507);
	t.is((await post(megabyte)).statusCode, 200);
});

/** Two users whose homes lie on the first root, and a second root. */
async function appWithSecondRoot(t: ExecutionContext) {
	const app = await testApp(t, { '--uploads-free-space-reserve': `${megabyte}` });
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	// The server still writes there for a moment.
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	await app.services.rootAdministration.add('big', 'local', path.join(disk, 'root'));
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	const upload = async (client: Client, name: string, bytes = 10) =>
		(await client.upload('/api/upload', [field('directory', ''), file(name, Buffer.alloc(bytes))])).statusCode;
	return {
		app,
		ada,
		bob,
		disk,
		upload,
		/** Moves the home of Ada to the second root. */
		async moveAda() {
			const { homeMoves, jobs, accounts } = app.services;
			const { id } = await homeMoves.start('ada', 'big');
			const owner = { ...(await accounts.find('ada')), kind: 'user' as const };
			return (await jobs.waitForEnd(owner, id, 5 * 60_000))?.status;
		},
	};
}

test('the disk of a home that moved away accepts uploads of others while the new disk is missing', async (t) => {
	const { ada, bob, disk, upload, moveAda } = await appWithSecondRoot(t);
	t.is(await upload(ada, 'first.txt'), 200, 'Ada is the first to upload to the disk');
	t.is(await moveAda(), 'completed');
	await rename(path.join(disk, 'root'), path.join(disk, 'away'));
	t.is(await upload(ada, 'there.txt'), 503);
	for (const bytes of [10, 3 * megabyte]) t.is(await upload(bob, `${bytes}`, bytes), 200, `${bytes} bytes`);
	const copy = { fromPath: '10', toPath: 'copy', type: 'private' };
	t.is((await bob.post('/api/copyItem', copy)).statusCode, 200);
});

test('the reserve of a disk is measured on it, also after the home moved away whose user uploaded to it first', async (t) => {
	const { app, ada, bob, upload, moveAda } = await appWithSecondRoot(t);
	t.is(await upload(ada, 'first.txt'), 200);
	t.is(await moveAda(), 'completed');
	reportSpace(app, { freeSpace: async () => megabyte });
	t.is(await upload(bob, 'full.txt'), 507, 'the old disk is full');
	t.is(await upload(ada, 'second.txt'), 200, 'the new one is not');
});

test('an upload that is under way to a disk that disappears does not affect uploads to others', async (t) => {
	const { app, ada, bob, disk, upload, moveAda } = await appWithSecondRoot(t);
	t.is(await moveAda(), 'completed');
	const sent = request({
		...addressOf(app),
		path: '/api/upload',
		method: 'POST',
		agent: false,
		headers: {
			cookie: ada.cookie ?? '',
			'content-type': 'multipart/form-data; boundary=b',
			'content-length': `${5 * megabyte}`,
		},
	});
	sent.on('error', () => {});
	sent.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nthe first bytes of many');
	const staging = path.join(disk, 'root/.stowage/staging');
	await until('the upload has started', async () => (await readdir(staging)).length === 1);
	await rename(path.join(disk, 'root'), path.join(disk, 'away'));
	t.is(await upload(bob, 'large', 3 * megabyte), 200);
	sent.destroy();
});

test('a staged file with a reserve keeps the abilities of its disk, and so does its fork, which has the reserve too', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { id } = (await app.services.database.users.find('ada')) ?? { id: '' };
	t.truthy(ada.cookie);
	let free = 2 * 1024 * megabyte;
	reportSpace(app, { freeSpace: async () => free });
	const staged = await app.services.files.stage({ kind: 'user', id, username: 'ada' });
	t.deepEqual([typeof staged.lock, typeof staged.withLocalFile], ['function', 'function']);
	await staged.append(Readable.from([Buffer.from('hello')]), 0);
	await staged.sync();
	const lock = await staged.lock?.();
	const fork = await staged.fork?.(4);
	await lock?.release();
	t.is(await fork?.size(), 4);
	free = 0;
	await t.throwsAsync(async () => fork?.append(Readable.from([Buffer.from('o')]), 4), { code: 'STORAGE_FULL' });
	await t.notThrowsAsync(async () => fork?.discard());
	await staged.discard();
});

test('a further disk that does not answer keeps no node from saying that it can serve', async (t) => {
	const { app, ada } = await appWithSecondRoot(t);
	const { roots } = app.services;
	const hangs = new Promise<never>(() => {});
	for (const root of roots.all()) if (root !== roots.default) root.storage.check = () => hangs;
	// Balancers wait for seconds; the check of a first disk has 10.
	const answer = await Promise.race([ada.get('/api/ready?of=node'), waitScheduled(8000)]);
	t.is(answer?.statusCode, 200);
	t.like(answer && json(answer), { status: 'ok', checks: { storage: 'ok', otherStorage: 'unavailable' } });
});
