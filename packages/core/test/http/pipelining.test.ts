import { once } from 'node:events';
import { readdir, readlink, truncate, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { keptBytes } from '../memory.js';
import { addressOf, rawRequest } from '../rawRequest.js';
import { Client, form, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const get = (url: string, headers = '') => `GET ${url} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const close = 'Connection: close\r\n';
const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

/** Writes the first packet, the second once the server has begun to answer the first, and resolves to all responses. */
async function inTwoPackets(app: TestApp, first: string, second: string): Promise<string> {
	const socket = connect(addressOf(app)).setNoDelay();
	let text = '';
	socket.on('data', (data) => {
		text += data.toString('latin1');
	});
	const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
	const begun = new Promise<void>((resolve) => {
		const onRequest = ({ socket: { remotePort } }: IncomingMessage) => {
			if (remotePort !== socket.localPort) return;
			app.server.listener.off('request', onRequest);
			resolve();
		};
		app.server.listener.on('request', onRequest);
	});
	await once(socket, 'connect');
	socket.write(first);
	await begun;
	socket.write(second);
	await closed;
	return text;
}

const isDropped = async (t: ExecutionContext, rest: string) => {
	const app = await testApp(t);
	const unhandled: unknown[] = [];
	const onUnhandled = (error: unknown) => unhandled.push(error);
	process.on('unhandledRejection', onUnhandled);
	t.teardown(() => process.off('unhandledRejection', onUnhandled));
	const head = `POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${close}\r\n`;
	for (let n = 0; n < 5; n++) {
		const text = await inTwoPackets(app, head, `0\r\n\r\n${rest}`);
		t.deepEqual(statusesOf(text), [400], text);
		t.regex(text, /The request is not valid JSON\."\}$/);
	}
	t.is((await new Client(app).get('/api/health')).statusCode, 200);
	t.deepEqual(unhandled, []);
};
test.serial('the beginning of a request after one that closes its connection is dropped', isDropped, 'GET / HT');
test.serial('a whole request after one that closes its connection is dropped', isDropped, get('/api/health'));
test.serial(
	'malformed bytes after a request that closes its connection are dropped',
	isDropped,
	'\0\r\n\r\n\xff'.repeat(500),
);

test('two requests in one packet are answered in order', async (t) => {
	const app = await testApp(t);
	await writeFile(path.join(app.filesDir, 'Public/digits'), '0123456789');
	const requests = Array.from('01', (digit) =>
		get('/api/download/digits', `Range: bytes=${digit}-${digit}\r\n${digit === '1' ? close : ''}`),
	);
	const { text } = await rawRequest(app, requests.join(''));
	t.deepEqual(statusesOf(text), [206, 206]);
	t.deepEqual(
		[...text.matchAll(/^Content-Range: bytes (\d)-/gim)].map(([, digit]) => digit),
		['0', '1'],
	);
});

test('a pipelined upload that is longer than a packet is received whole, and what is behind it is dropped', async (t) => {
	const app = await testApp(t);
	const { body, type } = form([{ name: 'file', value: Buffer.alloc(3_000_000, 'x'), fileName: 'long' }]);
	const upload = `POST /api/upload/public HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
	const requests = [get('/api/health'), upload + body.toString('latin1'), get('/api/browse/public')];
	const { text } = await rawRequest(app, requests.join(''));
	t.deepEqual(statusesOf(text), [200, 200]);
	t.regex(text, /"size":3000000/);
});

test('of 200 pipelined requests the first two are answered, the second with Connection: close', async (t) => {
	const app = await testApp(t);
	const { text, isClosedByServer } = await rawRequest(app, get('/api/health').repeat(200));
	t.true(isClosedByServer);
	t.deepEqual(statusesOf(text), [200, 200]);
	t.is(text.match(/^Connection: close\r$/gim)?.length, 1);
	t.regex(text.slice(text.lastIndexOf('HTTP/1.1')), /^Connection: close\r$/im);
});

test.serial('pipelined downloads that the client does not read open one file for each connection', async (t) => {
	const app = await testApp(t);
	await writeFile(path.join(app.filesDir, 'Public/large.bin'), '');
	await truncate(path.join(app.filesDir, 'Public/large.bin'), 64 * 1024 * 1024);
	const openFiles = async () => {
		const all = await readdir('/proc/self/fd');
		const targets = await Promise.all(all.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
		return targets.filter((target) => target.endsWith('/large.bin') && target.startsWith(app.filesDir)).length;
	};
	const before = keptBytes();
	const sockets: Socket[] = [];
	for (let n = 0; n < 25; n++) {
		const socket = connect(addressOf(app)).on('error', () => {});
		t.teardown(() => socket.destroy());
		socket.write(get('/api/download/large.bin').repeat(40));
		sockets.push(socket.pause());
	}
	await until('each connection has begun its download', async () => (await openFiles()) >= 25);
	// Time for further downloads to begin, if they did.
	for (let n = 0; n < 20; n++) {
		t.is((await new Client(app).get('/api/health')).statusCode, 200);
		t.is(await openFiles(), 25);
	}
	const kept = keptBytes() - before;
	t.true(kept < 100 * 1024 * 1024, `${kept} bytes more`);
	for (const socket of sockets) socket.destroy();
	await until('no file is open any more', async () => (await openFiles()) === 0);
});

test('a malformed request after another is refused after its answer', async (t) => {
	const app = await testApp(t);
	const { text, isClosedByServer } = await rawRequest(app, `${get('/api/health')}NONSENSE\r\n\r\n`);
	t.deepEqual(statusesOf(text), [200, 400], text);
	t.true(isClosedByServer);
	t.like(JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n') + 4)), { code: 'INVALID' });
});

test('a request with a malformed body after another is refused after its answer', async (t) => {
	const app = await testApp(t);
	const bad =
		'POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}';
	const { text } = await rawRequest(app, `${get('/api/health')}${bad}`);
	t.deepEqual(statusesOf(text), [200, 400], text);
});

test('a server whose connections are cut while requests wait on them still answers', async (t) => {
	const app = await testApp(t);
	for (let n = 0; n < 20; n++) {
		const socket = connect(addressOf(app)).on('error', () => {});
		socket.write(get('/api/health').repeat(10) + get('/api/browse/public').repeat(5));
		socket.once('data', () => socket.resetAndDestroy());
		await once(socket, 'close');
	}
	t.is(json(await new Client(app).get('/api/health')).status, 'ok');
});
