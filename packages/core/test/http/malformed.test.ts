import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { openEvents } from '../openEvents.js';
import { addressOf, rawRequest } from '../rawRequest.js';
import { Client, json, testApp } from '../testApp.js';
import { until } from '../until.js';

const refused = async (t: ExecutionContext, request: string, status: number, code: string) => {
	const app = await testApp(t);
	const { text, status: answered, isClosedByServer } = await rawRequest(app, request);
	t.is(answered, status, text);
	t.true(isClosedByServer, 'the connection was not closed');
	t.regex(text, /^connection: close\r$/im);
	t.regex(text, /^content-type: application\/json/im);
	const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
	t.is(body.statusCode, status);
	t.is(body.code, code);
	t.is(body.error, body.message);
};
test('an invalid request line is refused with 400', refused, 'HELLO WORLD\r\n\r\n', 400, 'INVALID');
test(
	'a request line without a path is refused with 400',
	refused,
	'GET a?b HTTP/1.1\r\nHost: x\r\n\r\n',
	400,
	'INVALID',
);
test('a header without a name is refused with 400', refused, 'GET / HTTP/1.1\r\n: x\r\n\r\n', 400, 'INVALID');
test('the beginning of a TLS handshake is refused with 400', refused, '\x16\x03\x01\x02\x00\x01', 400, 'INVALID');
test(
	'a request with a length and chunked encoding is refused with 400',
	refused,
	'POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
	400,
	'INVALID',
);
for (const [title, line] of [
	['with an invalid content type', 'Content-Type: nonsense'],
	['of type multipart/form-data without a boundary', 'Content-Type: multipart/form-data'],
]) {
	test(
		`a body ${title} is refused with 415 before it arrives`,
		refused,
		`POST /api/login HTTP/1.1\r\nHost: x\r\n${line}\r\nContent-Length: 5\r\n\r\n`,
		415,
		'UNSUPPORTED_MEDIA_TYPE',
	);
	test(
		`a body ${title} to an unknown path is refused with 404 before it arrives`,
		refused,
		`PUT /api/nothing HTTP/1.1\r\nHost: x\r\n${line}\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n`,
		404,
		'NOT_FOUND',
	);
}
for (const [title, line, status, code] of [
	['in a Content-Encoding', 'Content-Encoding: gzip', 415, 'UNSUPPORTED_MEDIA_TYPE'],
	['in a Transfer-Encoding besides chunked', 'Transfer-Encoding: gzip, chunked', 400, 'INVALID'],
] as const) {
	const length = line.startsWith('Transfer') ? '' : 'Content-Length: 5\r\n';
	for (const [kind, head] of [
		['a form', 'POST /api/upload/public HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b'],
		[
			'a resumable upload',
			'POST /api/uploads HTTP/1.1\r\nHost: x\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 5\r\nUpload-Metadata: filename YQ==,isPublic dHJ1ZQ==\r\nContent-Type: application/offset+octet-stream',
		],
	]) {
		test(
			`${kind} ${title}, which nothing undoes, is refused before it arrives`,
			refused,
			`${head}\r\n${line}\r\n${length}\r\n`,
			status,
			code,
		);
	}
}
test(
	'a body longer than any file is refused with 413 before it arrives',
	refused,
	'POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999999999999\r\n\r\n',
	413,
	'TOO_LARGE',
);
test(
	'headers over 32 KB are refused with 431',
	refused,
	`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(300_000)}\r\n\r\n`,
	431,
	'HEADERS_TOO_LARGE',
);
test(
	'more than 1,000 headers, of which Node would drop the last ones, are refused with 431',
	refused,
	`GET /api/health HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(1000)}\r\n`,
	431,
	'HEADERS_TOO_LARGE',
);
test(
	'a request without a Host header is refused with 400',
	refused,
	'GET /api/health HTTP/1.1\r\n\r\n',
	400,
	'INVALID',
);
test(
	'a request with two Host headers is refused with 400',
	refused,
	'GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
	400,
	'INVALID',
);
test(
	'an unknown expectation is refused with 417',
	refused,
	'POST /api/login HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\nContent-Length: 5000\r\n\r\nhalf',
	417,
	'EXPECTATION_FAILED',
);

test('an HTTP/1.0 request without a Host header is answered', async (t) => {
	const { status } = await rawRequest(await testApp(t), 'GET /api/health HTTP/1.0\r\n\r\n');
	t.is(status, 200);
});

test('of 1,000 headers the last one counts like the first', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const head = `GET /api/checkLoginStatus HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(997)}Connection: close\r\n`;
	const { text } = await rawRequest(app, `${head}Cookie: ${ada.cookie}\r\n\r\n`);
	t.regex(text, /"username":"ada"/);
});

test('malformed bytes after a request do not change its answer', async (t) => {
	const app = await testApp(t);
	const { text } = await rawRequest(app, 'GET /api/health HTTP/1.1\r\nHost: x\r\n\r\nNONSENSE\r\n\r\n');
	t.regex(text, /^HTTP\/1\.1 200 /);
	t.regex(text, /"status":"ok"/);
});

test('a body with malformed chunks is refused', async (t) => {
	const app = await testApp(t);
	const head =
		'POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
	const { text, status } = await rawRequest(app, `${head}zz\r\n{}\r\n`);
	t.is(status, 400, text);
	t.regex(text, /"code":"INVALID"/);
});

/** Opens connections one after another and keeps them; resolves to those on which the server answers. */
async function openMany(
	t: ExecutionContext,
	address: { host: string; port: number },
	count: number,
): Promise<Socket[]> {
	const answered: Socket[] = [];
	for (let n = 0; n < count; n++) {
		const socket = connect(address);
		t.teardown(() => socket.destroy());
		socket.on('error', () => {});
		socket.write('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n');
		const isAnswered = new Promise<boolean>((resolve) => {
			socket.once('data', () => resolve(true)).once('close', () => resolve(false));
		});
		if (await isAnswered) answered.push(socket);
	}
	return answered;
}

test('connections are limited by address, and closed ones make room for new ones', async (t) => {
	const app = await testApp(t, { '--max-connections-per-address': '5' });
	const open = await openMany(t, addressOf(app), 9);
	t.is(open.length, 5);
	t.true(
		open.every(({ closed }) => !closed),
		'the first connections stay open',
	);
	for (const socket of open) socket.destroy();
	const connections = () =>
		new Promise<number>((resolve) => app.server.listener.getConnections((_error, count) => resolve(count)));
	await until('the server has noticed that they are closed', async () => (await connections()) === 0);
	t.is((await new Client(app).get('/api/health')).statusCode, 200);
});

test('the connections of a trusted proxy are not limited', async (t) => {
	const app = await testApp(t, { '--max-connections-per-address': '5', '--trusted-proxies': '127.0.0.0/8' });
	t.is((await openMany(t, addressOf(app), 9)).length, 9);
});

test('concurrent requests are limited for each client behind a trusted proxy', async (t) => {
	const app = await testApp(t, { '--max-connections-per-address': '5', '--trusted-proxies': '127.0.0.0/8' });
	const ask = (client: string, url = '/api/health') => new Client(app).get(url, { 'x-forwarded-for': client });
	const streams = await Promise.all(
		Array.from({ length: 5 }, () => openEvents(app, '', undefined, { 'x-forwarded-for': '198.51.100.7' })),
	);
	const refused = await ask('198.51.100.7');
	t.is(refused.statusCode, 429, refused.payload);
	t.is(refused.headers['retry-after'], '1');
	t.is(json(refused).code, 'RATE_LIMITED');
	t.is((await ask('198.51.100.8')).statusCode, 200);
	streams[0]?.close();
	await until('one stream has ended', async () => (await ask('198.51.100.7')).statusCode === 200);
	for (const stream of streams) stream.close();
});

test('a request with more headers than are read is counted for no client, whichever its headers name', async (t) => {
	const app = await testApp(t, { '--max-connections-per-address': '5', '--trusted-proxies': '127.0.0.0/8' });
	const client = { 'x-forwarded-for': '198.51.100.7' };
	const streams = await Promise.all(Array.from({ length: 5 }, () => openEvents(app, '', undefined, client)));
	t.is((await new Client(app).get('/api/health', client)).statusCode, 429);
	const head = `GET /api/health HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.7\r\n${'a:\r\n'.repeat(1000)}\r\n`;
	t.is((await rawRequest(app, head)).status, 431);
	for (const stream of streams) stream.close();
});

test.serial('a server whose event loop is blocked for seconds answers 503 with Retry-After', async (t) => {
	const app = await testApp(t, {}, { maxEventLoopDelayMs: 5000 });
	const pending = new Client(app).get('/api/health');
	await once(app.server.listener, 'connection');
	// Blocks the event loop without using the processor.
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6500);
	const answer = await pending;
	t.is(answer.statusCode, 503, answer.payload);
	t.is(json(answer).code, 'UNAVAILABLE');
	t.is(answer.headers['retry-after'], '2');
});

test.serial(
	'the measurement of the load reads no file, which without a free descriptor would end the process',
	async (t) => {
		const { memoryUsage } = process;
		t.teardown(() => {
			process.memoryUsage = memoryUsage;
		});
		let calls = 0;
		process.memoryUsage = Object.assign(() => {
			calls++;
			return memoryUsage();
		}, memoryUsage);
		const app = await testApp(t);
		// The load is measured each second.
		await wait(2500);
		t.is((await new Client(app).get('/api/health')).statusCode, 200);
		t.is(calls, 0);
	},
);

test('the request id of an unexpected error is a random UUID', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	app.services.database.users.settings = () => Promise.reject(new Error('a bug'));
	const { requestId, message } = json(await ada.get('/api/checkLoginStatus'));
	t.is(message, 'Something went wrong on the server.');
	t.regex(requestId, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/);
});

test('an upload with malformed chunks is refused and leaves no staged or published file', async (t) => {
	const app = await testApp(t);
	const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf';
	const head =
		'POST /api/upload/public HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n';
	const staged = () => readdir(path.join(app.filesDir, '.stowage/staging'));
	const sent: Socket = connect(addressOf(app)).on('error', () => {});
	sent.write(`${head}${part.length.toString(16)}\r\n${part}\r\n`);
	while ((await staged()).length === 0) await wait(20);
	const answered = once(sent, 'data');
	sent.write('no length of a chunk\r\n');
	t.regex(String(await answered), /^HTTP\/1\.1 400 /);
	await once(sent.resume(), 'close');
	await until('the staged file is removed', async () => (await staged()).length === 0);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/anonymous/Public')), []);
	await app.stop();
});
