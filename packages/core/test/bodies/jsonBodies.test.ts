import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import type { Request } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { createBodies } from '../../src/bodies/createBodies.js';
import type { App } from '../../src/index.js';
import { keptBytes, mostKept } from '../memory.js';
import { addressOf, rawRequest } from '../rawRequest.js';
import { Client, testApp } from '../testApp.js';
import { until } from '../until.js';

const MB = 1024 * 1024;

/** Body timeouts that a slow machine never reaches. */
const patient = { bodySecondMs: 60_000 };

/** A selection as JSON of exactly so many bytes. */
function selectionOf(bytes: number): string {
	const item = (size: number) => `{"path":"${'x'.repeat(size)}"}`;
	const [start, end] = ['{"type":"public","directory":"","files":[', ']}'];
	return `${start}${item(bytes - start.length - end.length - item(0).length)}${end}`;
}

interface Head {
	length: number | 'chunked';
	cookie?: string | undefined;
	from?: string;
}

function headOf({ length, cookie, from }: Head): string {
	return [
		'POST /api/downloadZip HTTP/1.1',
		'Host: x',
		'Content-Type: application/json',
		length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
		...(cookie === undefined ? [] : [`Cookie: ${cookie}`]),
		...(from === undefined ? [] : [`X-Forwarded-For: ${from}`]),
		'',
		'',
	].join('\r\n');
}

/** Sends the headers of a request and nothing of its body. */
async function announce(t: ExecutionContext, app: App, head: Head) {
	const socket = connect(addressOf(app), () => socket.write(headOf(head)));
	let text = '';
	socket
		.on('error', () => {})
		.on('data', (data) => {
			text += data.toString('latin1');
		});
	t.teardown(() => void socket.destroy());
	await once(socket, 'connect');
	return {
		socket,
		async answered() {
			await until('an answer', () => text !== '');
			return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
		},
	};
}

/** Resolves once the server has processed all that was sent before. */
const processed = (app: App) => new Client(app).get('/api/health');

test('a visitor’s JSON body has at most 256 kB, also where a signed-in user may send more', async (t) => {
	const app = await testApp(t);
	const visitor = new Client(app);
	const ada = await new Client(app).register('ada');
	t.is((await visitor.post('/api/downloadZip', selectionOf(256 * 1024))).statusCode, 400, 'a name that is too long');
	t.is((await rawRequest(app, headOf({ length: 256 * 1024 + 1 }))).status, 413, 'refused by its Content-Length');
	t.is((await ada.post('/api/downloadZip', selectionOf(256 * 1024 + 1))).statusCode, 400);
	const chunk = Buffer.from(`1000\r\n${' '.repeat(4096)}\r\n`);
	t.is((await rawRequest(app, headOf({ length: 'chunked' }), { chunk, most: MB })).status, 413);
});

test.serial('120 concurrent bodies of 15 MB from visitors are refused and not kept in memory', async (t) => {
	const app = await testApp(t);
	const chunk = Buffer.alloc(64 * 1024, ' ');
	const kept = await mostKept(async () => {
		const answers = await Promise.all(
			Array.from({ length: 120 }, () => rawRequest(app, headOf({ length: 15 * MB }), { chunk, most: 15 * MB })),
		);
		for (const { status } of answers) t.is(status, 413);
	});
	t.true(kept < 60 * MB, `${kept / MB} MB more`);
});

test('large JSON bodies are limited to 16 MB by address and account and 48 MB in total, and are accepted again once there is room', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': '127.0.0.1' }, patient);
	const cookies: (string | undefined)[] = [];
	for (const name of ['ada', 'bob', 'cyd', 'dan', 'eve']) cookies.push((await new Client(app).register(name)).cookie);
	const from = (n: number) => ({ length: 15 * MB, cookie: cookies[n], from: `203.0.113.${n}` });
	const first = await announce(t, app, from(1));
	await processed(app);
	t.is((await rawRequest(app, headOf({ ...from(2), from: '203.0.113.1' }))).status, 429);
	t.is((await rawRequest(app, headOf({ ...from(1), from: '203.0.113.9' }))).status, 429);
	for (const n of [2, 3]) await announce(t, app, from(n));
	await processed(app);
	const refused = await rawRequest(app, headOf(from(4)));
	t.is(refused.status, 503);
	t.regex(refused.text, /retry-after: 2/i);
	const small = await new Client(app).post(
		'/api/login',
		{ username: 'ada', password: 'correct horse' },
		{ 'x-forwarded-for': '203.0.113.1' },
	);
	t.is(small.statusCode, 200, 'small bodies are accepted');
	first.socket.destroy();
	await until('there is room again', async () => {
		const next = await announce(t, app, from(1));
		next.socket.write(selectionOf(15 * MB));
		return (await next.answered()) === 400;
	});
});

test('a body of unknown length counts by the bytes that have arrived', async (t) => {
	const app = await testApp(t, {}, patient);
	const ada = await new Client(app).register('ada');
	const first = await announce(t, app, { length: 'chunked', cookie: ada.cookie });
	const text = selectionOf(10 * MB);
	// Once the last of it has left this process, most of it has arrived.
	await new Promise((resolve) => first.socket.write(`${text.length.toString(16)}\r\n${text}`, resolve));
	t.is((await rawRequest(app, headOf({ length: 15 * MB, cookie: ada.cookie }))).status, 429);
	first.socket.write('\r\n0\r\n\r\n');
	t.is(await first.answered(), 400);
	t.is((await ada.post('/api/downloadZip', selectionOf(15 * MB))).statusCode, 400, 'its bytes were released');
});

test('JSON with millions of values or 17 levels is refused, and brackets in a string do not count', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const empty = `{"files":[${'{},'.repeat(2_000_000)}{}]}`;
	const answer = await rawRequest(app, headOf({ length: empty.length, cookie: ada.cookie }) + empty);
	t.is(answer.status, 413);
	t.regex(answer.text, /too many values/);
	const strings = `{"type":"public","directory":"${'{[,\\",'.repeat(150_000)}","files":[]}`;
	t.is((await ada.post('/api/downloadZip', strings)).statusCode, 400, 'brackets in a string');
	const nested = (levels: number) => ada.post('/api/downloadZip', '['.repeat(levels) + ']'.repeat(levels));
	t.regex((await nested(17)).payload, /nested too deeply/);
	const accepted = await nested(16);
	t.is(accepted.statusCode, 400, 'an array is no selection');
	t.notRegex(accepted.payload, /nested too deeply/);
});

const kB = 1024;

/** Begins to read bodies of which nothing arrives; resolves to why one was refused at once, if it was. */
function unsentBodies(t: ExecutionContext) {
	const { readJson, release } = createBodies({ onSessionEnd: () => () => {}, onVisitorsEnd: () => () => {} });
	return async (viewer: object, address: string, announced: number, most = 256 * kB) => {
		const headers = { 'content-type': 'application/json', 'content-length': String(announced) };
		const req = Object.assign(new Readable({ read() {} }), { headers });
		const request = { raw: { req }, client: { address }, viewer } as unknown as Request;
		const read = readJson(request, most);
		const refusal = await Promise.race([
			read.catch((error) => error.kind),
			new Promise((resolve) => setImmediate(resolve)),
		]);
		if (refusal === undefined) t.teardown(() => req.destroy());
		else release(request);
		read.catch(() => {});
		return refusal;
	};
}

test('many accounts of one address that announce bodies and don’t send them leave room for the calls of others', async (t) => {
	const begin = unsentBodies(t);
	const user = (id: string) => ({ kind: 'user', id, username: id });
	t.is(await begin(user('ada'), '203.0.113.1', 256 * kB), undefined);
	for (let n = 0; n < 260; n++) await begin(user(`eve${n}`), '198.51.100.1', 256 * kB);
	for (let n = 0; n < 4; n++) t.is(await begin(user('ada'), '203.0.113.1', 256 * kB), undefined);
	t.is(await begin(user('bob'), '203.0.113.2', 256 * kB), undefined);
});

test('however many bodies visitors announce and don’t send, everybody can sign in, and accounts have room for their calls', async (t) => {
	const begin = unsentBodies(t);
	const visitor = { kind: 'anonymous', access: 'upload' };
	for (let network = 1; network <= 60; network++) {
		const address = `2001:db8:0:${network.toString(16)}::1`;
		for (let size = 256 * kB; size > 4 * kB; ) {
			if ((await begin(visitor, address, size)) !== undefined) size = Math.floor(size / 2);
		}
	}
	const next = '2001:db8:0:ffff::1';
	// These networks are of one site.
	t.is(await begin(visitor, '203.0.113.1', 256 * kB), undefined, 'a visitor from elsewhere');
	t.is(await begin(visitor, next, 64 * kB), 'unavailable', 'visitors have all that there is for them');
	t.is(await begin(visitor, next, 4 * kB), undefined, 'a sign-in');
	const ada = { kind: 'user', id: '1', username: 'ada' };
	for (let n = 0; n < 4; n++) t.is(await begin(ada, next, 256 * kB), undefined);

	const MB = 1024 * kB;
	for (let site = 1; site <= 20; site++) {
		const address = `2001:db8:${site}::1`;
		for (let size = 16 * MB; size > 64 * kB; )
			if ((await begin(ada, address, size, 16 * MB)) !== undefined) size = Math.floor(size / 2);
	}
	t.is(await begin({ kind: 'user', id: '2', username: 'bob' }, next, 12 * MB, 16 * MB), undefined, 'another account');
});

test.serial('a body whose bytes arrive one by one takes little more memory than they have', async (t) => {
	const { readJson } = createBodies({ onSessionEnd: () => () => {}, onVisitorsEnd: () => () => {} });
	const bytes = 100_000;
	const request = Object.assign(new Readable({ read() {} }), { headers: { 'content-type': 'application/json' } });
	const before = keptBytes();
	const read = readJson(
		{ raw: { req: request }, client: { address: '203.0.113.1' }, viewer: { kind: 'anonymous' } } as unknown as Request,
		MB,
	);
	for (let at = 0; at < bytes; at++) {
		// Each packet has memory of its own.
		request.push(Buffer.from(new Uint8Array([0x20]).buffer));
		await new Promise(setImmediate);
	}
	const kept = keptBytes() - before;
	request.push('7');
	request.push(null);
	t.is(await read, 7);
	t.true(kept < 4 * MB, `${kept / MB} MB more`);
});
