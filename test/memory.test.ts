import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { get, type IncomingMessage, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { isLong } from './long.js';
import { plainArgs, startServer } from './serverProcess.js';

const gigabyte = 1024 ** 3;
const bytes = isLong ? 2 * gigabyte : 600 * 1024 ** 2;
const maxMemory = 200 * 1024 * 1024;

async function peakMemory(pid: number): Promise<number> {
	return Number(/^VmHWM:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

test.serial(`an upload and a download of ${isLong ? '2 GB' : '600 MB'} take less than 200 MB of memory`, async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-memory-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const server = await startServer(t, { args: plainArgs(folder) });
	const cookie = await server.register('ada');

	const head = '--x\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n';
	const tail = '\r\n--x--\r\n';
	const sent = request(`${server.url}/api/upload`, {
		method: 'POST',
		headers: {
			cookie,
			'content-type': 'multipart/form-data; boundary=x',
			'content-length': bytes + head.length + tail.length,
		},
	});
	const answered = new Promise<IncomingMessage>((resolve, reject) => sent.on('response', resolve).on('error', reject));
	const chunk = Buffer.alloc(1024 * 1024, 7);
	const body = function* () {
		yield head;
		for (let at = 0; at < bytes; at += chunk.length) yield chunk;
		yield tail;
	};
	await pipeline(Readable.from(body(), { objectMode: false, highWaterMark: chunk.length }), sent);
	t.is((await answered).statusCode, 200);
	t.is((await stat(path.join(folder, 'files/users/ada/large.bin'))).size, bytes);

	const answer = await new Promise<IncomingMessage>((resolve, reject) =>
		get(`${server.url}/api/download/large.bin?type=private`, { headers: { cookie } }, resolve).on('error', reject),
	);
	let received = 0;
	for await (const part of answer) received += part.length;
	t.is(received, bytes);
	const peak = await peakMemory(server.pid);
	t.log(`${Math.round(peak / 1024 / 1024)} MB at its peak`);
	t.true(peak < maxMemory, `${Math.round(peak / 1024 / 1024)} MB at its peak`);
});
