import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Failure } from '@stowage/rules';
import test from 'ava';
import type { App } from '../../src/index.js';
import { Client, testApp } from '../testApp.js';
import { begin, checksum, head, patch, uploadState } from '../tusClient.js';

/** A PATCH whose body the test writes. `ended` resolves to its status, or to the code of its error. */
function openPatch(app: App, client: Client, location: string, offset: number, headers: Record<string, string> = {}) {
	const { hostname, port } = new URL(app.server.info.uri);
	const sent: ClientRequest = request({
		hostname,
		port,
		path: location,
		method: 'PATCH',
		agent: false,
		headers: {
			'tus-resumable': '1.0.0',
			'content-type': 'application/offset+octet-stream',
			'upload-offset': String(offset),
			...(client.cookie === undefined ? {} : { cookie: client.cookie }),
			...headers,
		},
	});
	const ended = new Promise<number | string>((resolve) => {
		sent.on('response', (answer: IncomingMessage) => resolve(answer.statusCode ?? 0));
		sent.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? error.message));
	});
	return { sent, ended };
}

/** Waits until the staged file contains this many bytes. */
async function arrived(app: { filesDir: string }, bytes: number): Promise<void> {
	const staging = path.join(app.filesDir, '.stowage/staging');
	for (;;) {
		for (const name of await readdir(staging)) if ((await readFile(path.join(staging, name))).length >= bytes) return;
		await wait(20);
	}
}

test('bytes that arrived before the connection was cut are kept, and the upload resumes after them', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const bytes = randomBytes(300_000);
	const location = await begin(ada, bytes.length, { filename: 'a' });
	let offset = 0;
	for (const cut of [1, 70_000, 200_001]) {
		const { sent, ended } = openPatch(app, ada, location, offset, { 'content-length': String(bytes.length - offset) });
		sent.write(bytes.subarray(offset, cut));
		await arrived(app, cut);
		sent.destroy();
		t.not(await ended, 204);
		const [status, held] = uploadState(await head(ada, location));
		t.deepEqual([status, held], [200, cut]);
		offset = cut;
	}
	t.deepEqual(uploadState(await patch(ada, location, offset, bytes.subarray(offset))), [204, bytes.length, 'a']);
	t.true((await readFile(path.join(app.filesDir, 'users/ada/a'))).equals(bytes));
});

test('another process waits until what came by a cut connection is recorded', async (t) => {
	const app = await testApp(t, { '--workers': '2' });
	const other = await testApp(t, { '--workers': '2', '--data-dir': app.dataDir });
	const ada = await new Client(app).register('ada');
	const there = new Client(other);
	there.cookie = ada.cookie;
	const { uploads } = app.services.database;
	const { saveProgress } = uploads;
	uploads.saveProgress = async (...progress) => {
		await wait(300);
		return saveProgress(...progress);
	};
	const location = await begin(ada, 100, { filename: 'a' });
	const { sent, ended } = openPatch(app, ada, location, 0, { 'content-length': '100' });
	sent.write('0123456789');
	await arrived(app, 10);
	sent.destroy();
	t.not(await ended, 204);
	t.deepEqual(uploadState(await head(there, location)), [200, 10, undefined]);
	t.deepEqual(uploadState(await patch(there, location, 10, '+'.repeat(90))), [204, 100, 'a']);
});

test('no byte of an interrupted chunk with a checksum is kept', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const bytes = randomBytes(200_000);
	const location = await begin(ada, bytes.length, { filename: 'a' });
	await patch(ada, location, 0, bytes.subarray(0, 1000), checksum(bytes.subarray(0, 1000)));
	const { sent } = openPatch(app, ada, location, 1000, {
		'content-length': '199000',
		...checksum(bytes.subarray(1000)),
	});
	sent.write(bytes.subarray(1000, 90_000));
	await arrived(app, 90_000);
	sent.destroy();
	t.deepEqual(uploadState(await head(ada, location)), [200, 1000, undefined]);
	t.deepEqual(uploadState(await patch(ada, location, 1000, bytes.subarray(1000))), [204, bytes.length, 'a']);
	t.true((await readFile(path.join(app.filesDir, 'users/ada/a'))).equals(bytes));
});

test('a second writer is refused while the first one sends bytes, and takes over once it has stalled', async (t) => {
	const clock = { now: Date.now() };
	const app = await testApp(t, {}, { monotonic: () => clock.now });
	const ada = await new Client(app).register('ada');
	const bytes = randomBytes(100_000);
	const location = await begin(ada, bytes.length, { filename: 'a' });
	const first = openPatch(app, ada, location, 0, { 'content-length': '100000' });
	first.sent.write(bytes.subarray(0, 10_000));
	await arrived(app, 10_000);
	t.is((await patch(ada, location, 0, bytes)).statusCode, 423);
	t.deepEqual(uploadState(await head(ada, location)), [200, 0, undefined], 'only durable bytes are reported');
	clock.now += 1500;
	first.sent.write(bytes.subarray(10_000, 20_000));
	await arrived(app, 20_000);
	clock.now += 2000;
	t.is((await patch(ada, location, 0, bytes)).statusCode, 423, 'the first writer sent bytes two seconds ago');
	clock.now += 1500;
	t.deepEqual(uploadState(await head(ada, location)), [200, 20_000, undefined]);
	t.not(await first.ended, 204);
	t.deepEqual(uploadState(await patch(ada, location, 20_000, bytes.subarray(20_000))), [204, bytes.length, 'a']);
	t.true((await readFile(path.join(app.filesDir, 'users/ada/a'))).equals(bytes));
});

test('a new connection continues at once after the bytes of a stalled one', async (t) => {
	const clock = { now: Date.now() };
	const app = await testApp(t, {}, { monotonic: () => clock.now });
	const ada = await new Client(app).register('ada');
	const location = await begin(ada, 100, { filename: 'a' });
	const first = openPatch(app, ada, location, 0, { 'content-length': '100' });
	first.sent.write('0123456789');
	await arrived(app, 10);
	clock.now += 3200;
	t.deepEqual(uploadState(await head(ada, location)), [200, 10, undefined]);
	t.not(await first.ended, 204);
	t.deepEqual(uploadState(await patch(ada, location, 10, '+'.repeat(90))), [204, 100, 'a']);
	t.is(await readFile(path.join(app.filesDir, 'users/ada/a'), 'utf8'), `0123456789${'+'.repeat(90)}`);
});

test('a body of unknown length that exceeds the upload is refused, and one that fits is accepted', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const location = await begin(ada, 4, { filename: 'a' });
	const { sent, ended } = openPatch(app, ada, location, 0, { 'transfer-encoding': 'chunked' });
	sent.end('more than four');
	t.is(await ended, 413);
	t.deepEqual(uploadState(await head(ada, location)), [200, 0, undefined]);
	const again = openPatch(app, ada, location, 0, { 'transfer-encoding': 'chunked' });
	again.sent.end('four');
	t.is(await again.ended, 204);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada')), ['Public', 'a']);
});

test('100 Continue is sent only for a request that is accepted', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const location = await begin(ada, 4, { filename: 'a' });
	const waiting = { expect: '100-continue', 'content-length': '4' };
	const wrong = openPatch(app, ada, location, 1, waiting);
	wrong.sent.on('continue', () => t.fail('100 Continue was sent'));
	wrong.sent.flushHeaders();
	t.is(await wrong.ended, 409);
	wrong.sent.destroy();
	const right = openPatch(app, ada, location, 0, waiting);
	right.sent.flushHeaders();
	await once(right.sent, 'continue');
	right.sent.end('four');
	t.is(await right.ended, 204);
});

test('an upload can be deleted while a client still sends it', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const location = await begin(ada, 100_000, { filename: 'a' });
	const { sent, ended } = openPatch(app, ada, location, 0, { 'content-length': '100000' });
	sent.write(randomBytes(10_000));
	await arrived(app, 10_000);
	t.is((await ada.call('DELETE', location, undefined, { 'tus-resumable': '1.0.0' })).statusCode, 204);
	t.not(await ended, 204);
	t.is((await head(ada, location)).statusCode, 404);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('an upload during which the disk of the database fills is answered, and goes on', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { leases } = app.services.database;
	const { acquire, release } = leases;
	// Its connection has a lease once it lasts.
	const held = new Promise<void>((resolve) => {
		leases.acquire = async (name, ...options) => {
			const key = await acquire(name, ...options);
			if (name.startsWith('upload ') && key !== undefined) resolve();
			return key;
		};
	});
	const location = await begin(ada, 100, { filename: 'a' });
	const { sent, ended } = openPatch(app, ada, location, 0, { 'content-length': '50' });
	sent.write('0123456789');
	await held;
	leases.release = () => Promise.reject(new Failure('storageFull', 'The disk of the database is full.'));
	sent.end('+'.repeat(40));
	t.is(await ended, 204);
	Object.assign(leases, { acquire, release });
	t.deepEqual(uploadState(await head(ada, location)), [200, 50, undefined]);
	t.deepEqual(uploadState(await patch(ada, location, 50, '+'.repeat(50))), [204, 100, 'a']);
});
