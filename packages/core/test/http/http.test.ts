import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { createClientReader, createPeers } from '../../src/http/requests/proxy.js';
import { addressOf, cutAfterFirstBytes, rawRequest } from '../rawRequest.js';
import { Client, file, json, testApp } from '../testApp.js';
import { until } from '../until.js';

const gigabyte = 1024 ** 3;
const chunk = Buffer.alloc(256 * 1024);

const leavesUnread = async (
	t: ExecutionContext,
	request: string,
	status: number,
	flags: Record<string, string> = {},
) => {
	const app = await testApp(t, flags);
	const sockets: Socket[] = [];
	app.server.listener.on('connection', (socket: Socket) => sockets.push(socket));
	const head = `${request}\r\nHost: x\r\nContent-Length: ${2 * gigabyte}\r\n\r\n`;
	const answer = await rawRequest(app, head, { chunk, most: 2 * gigabyte });
	t.is(answer.status, status, answer.text);
	t.regex(answer.text, /connection: close/i);
	const read = sockets[0]?.bytesRead ?? Number.NaN;
	t.true(read < 1024 * 1024, `${read} bytes were read`);
};
test.serial('a body sent to an unknown path is not read', leavesUnread, 'POST /nowhere HTTP/1.1', 404);
test.serial('a body sent with a wrong method is not read', leavesUnread, 'PATCH /api/login HTTP/1.1', 405);
test.serial('the body of a GET is not read', leavesUnread, 'GET /api/health HTTP/1.1', 200);
test.serial(
	'an upload without a session is not read',
	leavesUnread,
	'POST /api/upload HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x',
	401,
);
test.serial(
	'a JSON body that is too long is not read',
	leavesUnread,
	'POST /api/login HTTP/1.1\r\nContent-Type: application/json',
	413,
);
test.serial(
	'an upload from another site is not read',
	leavesUnread,
	'POST /api/upload/public HTTP/1.1\r\nSec-Fetch-Site: cross-site\r\nContent-Type: multipart/form-data; boundary=x',
	403,
);
test.serial(
	'an upload without free space on the disk is not read',
	leavesUnread,
	'POST /api/upload/public HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x',
	507,
	{ '--uploads-free-space-reserve': '8000 TB' },
);
test.serial('a body sent to a path with invalid encoding is not read', leavesUnread, 'POST /api/%zz HTTP/1.1', 400);

test('the connection of a refused body is closed by the server, at least a second after the answer', async (t) => {
	const app = await testApp(t);
	const started = performance.now();
	const answer = await rawRequest(app, 'POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n');
	const lasted = performance.now() - started;
	t.true(lasted > 1000, `closed after ${lasted} ms`);
	t.true(answer.isClosedByServer);
});

test('refused requests that were sent whole leave no connections that count for their client', async (t) => {
	const app = await testApp(t, { '--max-connections-per-address': '5' });
	const body = Buffer.alloc(100_000);
	// A connection each; those of the first would be left for longer than all the others take.
	for (let n = 0; n < 40; n++) t.is((await new Client(app).call('POST', '/nowhere', body)).statusCode, 404);
});

test('refused requests whose client has gone leave no connections that count for it', async (t) => {
	const app = await testApp(t, { '--max-connections-per-address': '5' });
	const open = () =>
		new Promise<number>((resolve) => app.server.listener.getConnections((_error, count) => resolve(count)));
	for (let n = 0; n < 40; n++) {
		await cutAfterFirstBytes(app, 'POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
		t.true((await open()) < 5, 'the connections of those before have ended');
	}
});

test('a client of HTTP/1.0 gets its answer and no 100 Continue before it', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const form = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--b--\r\n';
	const tus = 'Tus-Resumable: 1.0.0\r\nUpload-Length: 1\r\nUpload-Metadata: filename YQ==';
	for (const [path, headers, body, status] of [
		['/api/upload', 'Content-Type: multipart/form-data; boundary=b', form, 200],
		['/api/uploads', `${tus}\r\nContent-Type: application/offset+octet-stream`, 'x', 201],
		['/api/createFolder', 'Content-Type: application/json', '{}', 400],
	]) {
		const head = `POST ${path} HTTP/1.0\r\nHost: x\r\nCookie: ${ada.cookie}\r\nExpect: 100-continue\r\n${headers}`;
		const answer = await rawRequest(app, `${head}\r\nContent-Length: ${String(body).length}\r\n\r\n${body}`);
		t.is(answer.status, Number(status), answer.text);
	}
});

test('a refused upload with Expect: 100-continue gets no 100 Continue', async (t) => {
	const app = await testApp(t);
	const answer = await rawRequest(
		app,
		'POST /api/upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n',
	);
	t.regex(answer.text, /^HTTP\/1\.1 401 /);
});

test.serial('a JSON body that stalls is answered 408', async (t) => {
	const app = await testApp(t);
	const head =
		'POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"user';
	const answer = await rawRequest(app, head);
	t.is(answer.status, 408);
});

test.serial('an upload whose connection is cut leaves no staged or published file', async (t) => {
	const app = await testApp(t);
	const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf of it';
	const head = `POST /api/upload/public HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 5000\r\n\r\n${part}`;
	const staged = () => readdir(`${app.filesDir}/.stowage/staging`);
	const sent = connect(addressOf(app), () => sent.write(head));
	await until('the upload has begun', async () => (await staged()).length > 0);
	sent.destroy();
	await until('its staged file is removed', async () => (await staged()).length === 0);
	t.deepEqual(await readdir(`${app.filesDir}/users/anonymous/Public`), []);
});

const crossSite = async (t: ExecutionContext, headers: Record<string, string>, status: number) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const make = await ada.post('/api/createFolder', { directory: '', folderName: 'made', type: 'private' }, headers);
	t.is(make.statusCode, status);
	if (status === 403) t.is(json(make).code, 'CROSS_SITE');
	const listed = json(await ada.get('/api/browse?type=private')).entries.some(
		({ name }: { name: string }) => name === 'made',
	);
	t.is(listed, status === 200);
	t.is((await ada.get('/api/logout', headers)).statusCode, status);
	t.is((await ada.get('/api/health', headers)).statusCode, 200);
};
test('a change without Origin and Sec-Fetch-Site, as by a program, is accepted', crossSite, {}, 200);
test(
	'a change by a page of the same origin is accepted',
	crossSite,
	{ host: 'nas:7420', origin: 'http://nas:7420', 'sec-fetch-site': 'same-origin' },
	200,
);
test('a change with Sec-Fetch-Site none is accepted', crossSite, { 'sec-fetch-site': 'none' }, 200);

const signOut = async (t: ExecutionContext, headers: Record<string, string>, status: number) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const answer = await ada.get('/api/logout', headers);
	t.is(answer.statusCode, status);
	if (status === 403) t.is(json(answer).code, 'CROSS_SITE');
	t.is((await ada.get('/api/sessions')).statusCode, status === 403 ? 200 : 401);
};
const ofBrowser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
test(
	'a link to the sign-out is refused, also one of the same origin',
	signOut,
	{ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', accept: ofBrowser },
	403,
);
test('the address of the sign-out in a picture is refused', signOut, { 'sec-fetch-mode': 'no-cors' }, 403);
test('a link to the sign-out over plain HTTP is refused', signOut, { accept: ofBrowser }, 403);
test(
	'the address of the sign-out in a picture over plain HTTP is refused',
	signOut,
	{ accept: 'image/avif,image/webp,image/apng,image/*,*/*;q=0.8' },
	403,
);
test('the address of the sign-out in a style sheet is refused', signOut, { accept: 'text/css,*/*;q=0.1' }, 403);
test(
	'the page signs out',
	signOut,
	{ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', accept: 'application/json' },
	200,
);
test('the page signs out in a browser that says nothing of itself', signOut, { accept: 'application/json' }, 200);

test('a change by another site is refused', crossSite, { 'sec-fetch-site': 'cross-site' }, 403);
test('a change by another origin of the same site is refused', crossSite, { 'sec-fetch-site': 'same-site' }, 403);
test(
	'a change by another origin over plain HTTP is refused',
	crossSite,
	{ host: 'nas:7420', origin: 'http://evil.example' },
	403,
);
test(
	'a change by an origin with another port is refused',
	crossSite,
	{ host: 'nas:7420', origin: 'http://nas:8080' },
	403,
);
test('a change by an opaque origin is refused', crossSite, { host: 'nas:7420', origin: 'null' }, 403);

test('JSON with a content type of forms, or without one, is refused', async (t) => {
	const app = await testApp(t);
	for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '']) {
		const answer = await new Client(app).post('/api/login', { username: 'a', password: 'b' }, { 'content-type': type });
		t.is(answer.statusCode, 415, type);
	}
});

test('all errors have the same fields and headers, and do not contain the path of the data folder', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const answers = await Promise.all([
		ada.get('/api/browse?type=private&directory=nowhere'),
		ada.get('/nothing/here'),
		ada.call('POST', '/api/login', '{"username":', { 'content-type': 'application/json' }),
		ada.call('POST', '/api/login', '[]', { 'content-type': 'application/json' }),
		ada.call('POST', '/api/login', `${'['.repeat(5000)}${']'.repeat(5000)}`, { 'content-type': 'application/json' }),
		ada.call('POST', '/api/login', Buffer.from([0x22, 0xff, 0x22]), { 'content-type': 'application/json' }),
		ada.get('/api/download/a?type=other'),
		ada.get('/api/download/..%2f..%2fetc%2fpasswd'),
	]);
	for (const answer of answers) {
		const body = json(answer);
		t.true(answer.statusCode >= 400 && answer.statusCode < 500, answer.payload);
		t.is(body.statusCode, answer.statusCode);
		t.is(body.error, body.message);
		t.regex(body.code, /^[A-Z_]+$/);
		t.false(answer.payload.includes(app.dataDir));
		t.is(answer.headers['cache-control'], 'private, no-store');
		t.is(answer.headers['x-content-type-options'], 'nosniff');
	}
});

for (const basePath of ['', '/files'])
	test(`who opens an address below ${basePath || 'the root'} that does not work gets a page, and a program JSON`, async (t) => {
		const app = await testApp(t, basePath === '' ? {} : { '--base-path': basePath });
		const visitor = new Client(app);
		const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
		for (const [url, status, title, advice] of [
			['/brows', 404, 'There is nothing here', 'It may have been moved, renamed or removed.'],
			['/api/download/none.txt?type=public', 404, 'There is no such file', 'It may have been moved'],
			['/api/download/none.txt?type=private', 401, 'You must be logged in', 'Sign in, and open this address again.'],
			[`/api/downloadTickets/${'A'.repeat(43)}`, 404, '', ''],
			[`/api/share/${'A'.repeat(43)}/download/a.txt`, 404, 'This share does not exist', 'Ask the person who sent it'],
		] as const) {
			const page = await visitor.get(`${basePath}${url}`, { accept });
			t.is(page.statusCode, status, url);
			t.is(page.headers['content-type'], 'text/html; charset=utf-8', url);
			t.true(page.payload.includes(title) && page.payload.includes(advice), page.payload);
			t.true(page.payload.includes(`href="${basePath}/"`));
			t.like(page.headers, { 'cache-control': 'private, no-store', 'x-frame-options': 'DENY' });
			t.regex(String(page.headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-/);
			const program = await visitor.get(`${basePath}${url}`, { accept: '*/*' });
			t.is(json(program).statusCode, status, url);
		}
		const ada = new Client(app);
		const password = 'correct horse';
		await ada.post(`${basePath}/api/register`, { username: 'ada', password, passwordConfirm: password });
		await ada.upload(`${basePath}/api/upload`, [file('a.txt', 'a')]);
		const share = await ada.post(`${basePath}/api/shares`, {
			items: [{ path: 'a.txt' }],
			mode: 'view',
			password: 'open sesame',
		});
		const token = /\/s\/([\w-]+)/.exec(share.payload)?.[1];
		const closed = await visitor.get(`${basePath}/api/share/${token}/download/a.txt`, { accept });
		t.is(closed.statusCode, 401, share.payload);
		t.true(closed.payload.includes('enter its password'), closed.payload);
		for (const [method, url] of [
			['GET', '/api/nothing'],
			['GET', '/api/browse?type=private'],
			['POST', '/brows'],
		] as const) {
			const answer = await visitor.call(method, `${basePath}${url}`, undefined, { accept });
			t.is(typeof json(answer).code, 'string', url);
		}
	});

test('answers of the API have Cache-Control: private, no-store', async (t) => {
	const ada = await new Client(await testApp(t)).register('ada');
	const answers = await Promise.all([
		ada.get('/api/checkLoginStatus'),
		ada.get('/api/capabilities'),
		ada.get('/api/links'),
		ada.get('/api/browse?type=private'),
		ada.call('PUT', '/api/settings', { settings: { enablePreview: false } }),
		ada.post('/api/createFolder', { directory: '', folderName: 'docs', type: 'private' }),
		ada.upload('/api/upload', [file('a.txt', 'A')]),
		ada.call('OPTIONS', '/api/uploads'),
	]);
	for (const { statusCode, headers } of answers) {
		t.true(statusCode === 200 || statusCode === 204);
		t.is(headers['cache-control'], 'private, no-store');
	}
	t.is((await ada.get('/api/logout')).headers['cache-control'], 'private, no-store');
});

test('pipelined downloads close their files when the connection is cut', async (t) => {
	const app = await testApp(t);
	await writeFile(path.join(app.filesDir, 'Public/large.bin'), Buffer.alloc(8 * 1024 * 1024));
	const openFiles = async () => {
		const all = await readdir('/proc/self/fd');
		const targets = await Promise.all(all.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
		return targets.filter((target) => target.endsWith('/large.bin') && target.startsWith(app.filesDir)).length;
	};
	const head = 'GET /api/download/large.bin HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20);
	await Promise.all([1, 2, 3].map(() => cutAfterFirstBytes(app, head)));
	await until('no file is open any more', async () => (await openFiles()) === 0);
	t.is((await new Client(app).get('/api/download/large.bin', { range: 'bytes=0-0' })).statusCode, 206);
});

test('existing assets may be cached for a year, and assets, frame and page have their own cache and security headers', async (t) => {
	const webRoot = await mkdtemp(path.join(os.tmpdir(), 'stowage-web-'));
	t.teardown(() => rm(webRoot, { recursive: true }));
	await mkdir(path.join(webRoot, 'assets'));
	await writeFile(path.join(webRoot, 'assets/app-1a2b.js'), 'export {};');
	await writeFile(path.join(webRoot, 'assets/viewerFrame-3c4d.js'), 'export {};');
	await writeFile(
		path.join(webRoot, 'index.html'),
		'<meta content="__BASE_HREF__"><script nonce="__NONCE__"></script>',
	);
	const visitor = new Client(await testApp(t, {}, { webRoot }));
	t.is((await visitor.get('/assets/app-1a2b.js')).headers['cache-control'], 'public, max-age=31536000, immutable');
	t.is((await visitor.get('/assets/other.js')).headers['cache-control'], 'private, no-store');
	// Browsers apply the policy of an asset to workers only.
	t.regex(
		String((await visitor.get('/assets/app-1a2b.js')).headers['content-security-policy']),
		/^default-src 'none'; script-src 'self'; connect-src 'self'$/,
	);
	const frame = await visitor.get('/viewer-frame?script=viewerFrame-3c4d.js');
	const [, own = ''] =
		/^<!doctype html><title><\/title><script type="module" nonce="([^"]+)" src="[^"]+">/.exec(frame.payload) ?? [];
	t.is(
		frame.headers['content-security-policy'],
		`sandbox allow-scripts; default-src 'none'; script-src 'nonce-${own}' 'strict-dynamic' 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self'; style-src 'unsafe-inline'; img-src blob: data:; font-src 'self' blob: data:; frame-ancestors 'self'`,
	);
	t.not((await visitor.get('/viewer-frame?script=viewerFrame-3c4d.js')).payload, frame.payload);
	for (const other of ['app-1a2b.js', 'viewerFrame-5e6f.js', '']) {
		t.is((await visitor.get(`/viewer-frame?script=${other}`)).statusCode, 404);
	}
	t.is((await visitor.get('/viewer-frame')).statusCode, 404);
	// Only the frame has another origin.
	t.is((await visitor.get('/assets/app-1a2b.js')).headers['access-control-allow-origin'], '*');
	t.is((await visitor.get('/assets/')).statusCode, 404);
	const page = await visitor.get('/browser/any/where?type=public');
	t.is(page.headers['cache-control'], 'no-store');
	t.is(page.headers.etag, undefined);
	const [, nonce = ''] = /nonce="([^"]+)"/.exec(page.payload) ?? [];
	t.true(String(page.headers['content-security-policy']).includes(`script-src 'nonce-${nonce}' 'strict-dynamic'`));
	t.true(String(page.headers['content-security-policy']).includes("base-uri 'none'"));
	t.not((await visitor.get('/')).payload, page.payload);
});

test('an asset is compressed once, when it is first asked for, or sent as it is', async (t) => {
	const webRoot = await mkdtemp(path.join(os.tmpdir(), 'stowage-web-'));
	t.teardown(() => rm(webRoot, { recursive: true }));
	await mkdir(path.join(webRoot, 'assets'));
	const text = 'export {};'.repeat(10_000);
	await writeFile(path.join(webRoot, 'assets/app-1a2b.js'), text);
	await writeFile(path.join(webRoot, 'assets/small-3c4d.js'), 'export {};');
	await writeFile(path.join(webRoot, 'assets/noise-5e6f.wasm'), randomBytes(5000));
	await writeFile(path.join(webRoot, 'index.html'), '');
	const visitor = new Client(await testApp(t, {}, { webRoot }));
	const ask = (name: string, accepts: string) => visitor.get(`/assets/${name}`, { 'accept-encoding': accepts });
	const first = await Promise.all(Array.from({ length: 8 }, () => ask('app-1a2b.js', 'gzip, deflate, br')));
	t.true(first.every(({ bytes }) => bytes.equals(first[0]?.bytes ?? Buffer.alloc(0))));
	// What is compressed already is not read again.
	await writeFile(path.join(webRoot, 'assets/app-1a2b.js'), text.toUpperCase());
	for (const [name, accepts, encoding] of [
		['app-1a2b.js', 'gzip, deflate, br', 'gzip'],
		['app-1a2b.js', 'deflate', undefined],
		['app-1a2b.js', 'identity', undefined],
		['small-3c4d.js', 'gzip, deflate, br', undefined],
		['noise-5e6f.wasm', 'gzip, deflate, br', undefined],
	] as const) {
		const { statusCode, bytes, headers } = await ask(name, accepts);
		t.is(statusCode, 200);
		t.is(headers['content-encoding'], encoding, `${name} ${accepts}`);
		if (encoding === 'gzip') t.is(gunzipSync(bytes).toString(), text);
		else t.true(bytes.equals(await readFile(path.join(webRoot, 'assets', name))), `${name} ${accepts}`);
		t.is(headers['content-length'], String(bytes.length));
		t.is(headers.vary, 'accept-encoding');
		if (name.endsWith('.js')) t.regex(String(headers['content-type']), /^(text|application)\/javascript/);
	}
});

test('an answer of any size ends with its connection when its client reads nothing for a long time', async (t) => {
	const app = await testApp(t);
	const timeouts: (number | undefined)[] = [];
	app.server.listener.on('request', (_request, response: ServerResponse) =>
		response.once('prefinish', () => timeouts.push(response.socket?.timeout)),
	);
	const client = new Client(app);
	for (const url of ['/api/health', '/nowhere']) await client.get(url);
	t.deepEqual(timeouts, [300_000, 300_000]);
});

const wrongMethod = async (t: ExecutionContext, method: string, url: string, allow: string) => {
	const answer = await new Client(await testApp(t, { '--base-path': '/files' })).call(method, `/files${url}`);
	t.is(answer.statusCode, 405);
	t.is(answer.headers.allow, allow);
	t.like(json(answer), { code: 'METHOD_NOT_ALLOWED', message: 'This method is not allowed here.' });
};
test('a wrong method is answered 405 with the allowed one', wrongMethod, 'GET', '/api/login', 'POST');
test('the allowed methods include HEAD where GET is allowed', wrongMethod, 'PUT', '/api/browse', 'GET, HEAD');
test('a wrong method is answered 405 with all allowed ones', wrongMethod, 'PUT', '/api/uploads', 'POST, OPTIONS');
test(
	'a wrong method on a path with a parameter is answered 405 with the allowed one',
	wrongMethod,
	'POST',
	'/api/links/7',
	'DELETE',
);

test('compressed JSON is refused with 415', async (t) => {
	const visitor = new Client(await testApp(t));
	const login = (encoding: string) =>
		visitor.post('/api/login', { username: 'ada', password: 'wrong guess' }, { 'content-encoding': encoding });
	t.is((await login('gzip')).statusCode, 415);
	t.is((await login('identity')).statusCode, 401);
});

test('health, readiness and capabilities are answered without a session', async (t) => {
	const app = await testApp(t);
	const visitor = new Client(app);
	t.like(json(await visitor.get('/api/health')), { status: 'ok' });
	t.deepEqual(json(await visitor.get('/api/ready')), {
		status: 'ok',
		checks: { database: 'ok', storage: 'ok', plugins: 'ok' },
	});
	t.deepEqual(json(await visitor.get('/api/capabilities')), {
		registration: 'open',
		visitors: 'upload',
		maxFileSize: 0,
		externalViewers: false,
		hasPublicHttps: false,
		publicOrigin: null,
		trashKeepFor: 30 * 24 * 60 * 60_000,
		versionsKeepFor: 30 * 24 * 60 * 60_000,
		shares: { enabled: true, maxLifetime: 0, requirePassword: false },
		handbrake: false,
		thumbnails: false,
		thumbnailExtensions: [],
	});
	const known = new Client(await testApp(t, { '--public-url': 'https://files.example.org/files' }));
	t.is(json(await known.get('/api/capabilities')).publicOrigin, 'https://files.example.org');
});

test('a forwarded address of an untrusted client is ignored', async (t) => {
	// The clock is frozen: all attempts must fall into one minute, however slow the machine is.
	const now = Date.now();
	const app = await testApp(t, {}, { now: () => now });
	const answers = [];
	for (let n = 0; n < 12; n++) {
		answers.push(
			await new Client(app).post(
				'/api/login',
				{ username: 'ada', password: 'wrong guess' },
				{ 'x-forwarded-for': `198.51.100.${n}` },
			),
		);
	}
	t.is(answers.at(-1)?.statusCode, 429);
});

test('the server answers below its base path only', async (t) => {
	const app = await testApp(t, { '--base-path': '/files' });
	const ada = new Client(app);
	t.is((await ada.get('/files/api/health')).statusCode, 200);
	t.is((await ada.get('/api/health')).statusCode, 404);
	t.is((await ada.get('/files/')).headers.location, '/files');
	const body = { username: 'ada', password: 'correct horse', passwordConfirm: 'correct horse' };
	t.is((await ada.post('/files/api/register', body)).statusCode, 200);
	await ada.post('/files/api/createFolder', { directory: '', folderName: 'x', type: 'private' });
	t.is((await ada.get('/files/api/download/x?type=private')).headers['content-type'], 'application/zip');
});

const wrongPlugin = async (t: ExecutionContext, plugins: object, message: RegExp) => {
	const error = await t.throwsAsync(testApp(t, { '--plugins': JSON.stringify(plugins) }));
	t.regex(error?.message ?? '', message);
};
test(
	'the start fails with the name of a missing plugin',
	wrongPlugin,
	{ 'stowage-plugin-nowhere': {} },
	/stowage-plugin-nowhere/,
);
test(
	'the start fails with the name of an invalid plugin option',
	wrongPlugin,
	{ '@stowage/auth-password': { rounds: 3 } },
	/auth-password.*rounds/,
);
test(
	'the start fails without the auth plugin',
	wrongPlugin,
	{ '@stowage/auth-password': false },
	/auth provider 'password'/,
);
test('the start fails without the storage plugin', wrongPlugin, { '@stowage/storage-local': false }, /storage 'local'/);
test('the start fails with a package that is not a plugin', wrongPlugin, { zod: {} }, /zod.*plugin/);

const overridden = async (t: ExecutionContext, url: string, method: string) => {
	const app = await testApp(t);
	const head = 'HTTP/1.1\r\nHost: x\r\nTus-Resumable: 1.0.0\r\n';
	const post = `POST ${url} ${head}X-HTTP-Method-Override: ${method}\r\nContent-Length: 0\r\n\r\n`;
	const { text } = await rawRequest(app, `${post}GET /api/health ${head}Connection: close\r\n\r\n`);
	const [first = '', second = ''] = text.split(/(?=HTTP\/1\.1 )/);
	const body = first.slice(first.indexOf('\r\n\r\n') + 4);
	t.is(body.length, Number(/^content-length: (\d+)/im.exec(first)?.[1]), first);
	t.regex(first, /^HTTP\/1\.1 4/);
	t.regex(second, /^HTTP\/1\.1 200 /);
};
for (const method of ['HEAD', 'GET', 'CONNECT', 'OPTIONS']) {
	test(
		`a POST with the method override ${method} is refused, and the next request on its connection is answered`,
		overridden,
		'/api/uploads/x',
		method,
	);
}
test(
	'a POST with a method override outside of uploads is refused, and the next request on its connection is answered',
	overridden,
	'/api/login',
	'DELETE',
);

test('the client behind trusted proxies is the last other hop of X-Forwarded-For, or the proxy itself if that is not an address', (t) => {
	const read = createClientReader(
		createPeers({ listen: '', host: '::', trustedProxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8:ffff::/48'] }),
		'',
	);
	const address = (forwardedFor: string | undefined, remoteAddress = '127.0.0.1') => {
		const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
		return read({ headers, socket: { remoteAddress } } as unknown as IncomingMessage).address;
	};
	t.is(address(undefined), '127.0.0.1');
	t.is(address('198.51.100.7'), '198.51.100.7');
	t.is(address('6.6.6.6, 198.51.100.7:5678'), '198.51.100.7');
	t.is(address('6.6.6.6, 198.51.100.7:5678, 10.1.2.3:80'), '198.51.100.7');
	t.is(address('6.6.6.6, [2001:db8::1]:443'), '2001:db8::1');
	t.is(address('6.6.6.6,[2001:db8::1] , [2001:DB8:FFFF::2]'), '2001:db8::1');
	t.is(address('6.6.6.6, ::FFFF:198.51.100.7'), '198.51.100.7');
	for (const hop of [
		'unknown',
		'_hidden',
		'',
		' ',
		'_SEVKISEK',
		'198.51.100.7:',
		'198.51.100.7:x',
		'[::1',
		'fe80::1%eth0',
		'1.2.3',
	]) {
		t.is(address(`6.6.6.6, ${hop}`), '127.0.0.1', hop);
		t.is(address(`6.6.6.6, ${hop}, 10.1.2.3`), '10.1.2.3', hop);
	}
	t.is(address('6.6.6.6', '198.51.100.7'), '198.51.100.7', 'the header of an untrusted client is ignored');
});

test('the body of a download request is not read', async (t) => {
	const app = await testApp(t);
	await writeFile(path.join(app.filesDir, 'Public/a.txt'), 'A');
	const sockets: Socket[] = [];
	app.server.listener.on('connection', (socket: Socket) => sockets.push(socket));
	const head = `GET /api/download/a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 ** 31}\r\n\r\n`;
	const answer = await rawRequest(app, head, { chunk: Buffer.alloc(256 * 1024), most: 2 ** 31 });
	t.is(answer.status, 200);
	t.true((sockets[0]?.bytesRead ?? Number.NaN) < 1024 * 1024);
});
