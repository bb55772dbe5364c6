import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { addressOf } from './rawRequest.js';
import { type TestApp, testApp } from './testApp.js';

const megabyte = 1024 ** 2;

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

/** Uploads a file of whose size the server is told nothing; resolves to the status. */
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

test('what is reserved stays free, however many uploads of unknown size come at once', async (t) => {
	const disk = 100 * megabyte;
	const reserve = 30 * megabyte;
	const app = await testApp(t, { '--uploads-free-space-reserve': `${reserve}` });
	const staging = path.join(app.filesDir, '.stowage/staging');
	const published = path.join(app.filesDir, 'users/anonymous/Public');
	const free = async () => disk - (await bytesIn(staging)) - (await bytesIn(published));
	app.services.storage.freeSpace = free;
	let least = disk;
	const watch = setInterval(() => {
		// In this order, or a file that is published between the two looks counts twice; and in one go, or what goes and what comes in its place do.
		const inPlace = bytesNowIn(published);
		least = Math.min(least, disk - inPlace - bytesNowIn(staging));
	}, 2);
	t.teardown(async () => clearInterval(watch));

	const statuses = await Promise.all([0, 1, 2, 3].map((n) => uploadChunked(app, `${n}.bin`, 40)));
	clearInterval(watch);
	t.true(statuses.includes(507), statuses.join());
	t.true(
		statuses.every((status) => status === 200 || status === 507),
		statuses.join(),
	);
	t.true(least >= reserve, `${(reserve - least) / megabyte} MB of the reserve were taken`);
	t.true(least < reserve + 40 * megabyte, 'the disk was never nearly full, so nothing was shown');
	t.deepEqual(await readdir(staging), []);
	t.is((await readdir(published)).length, statuses.filter((status) => status === 200).length);

	t.is(await uploadChunked(app, 'small.bin', 5), 200, 'what fits is taken once the others are gone');
});
