import { once } from 'node:events';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startNginx } from '../../../../test/nginx.js';
import { ownAddress } from '../../../../test/ownAddress.js';
import { type Answer, Client, field, file, json, type TestApp, testApp } from '../testApp.js';

const nginxAddress = `${ownAddress()}:7421`;
const strictAddress = `${ownAddress()}:7422`;

/** The shipped configuration, with this machine's ports and folder, in a real nginx. */
async function nginxInFrontOf(
	t: ExecutionContext,
	app: TestApp,
	onlyFile?: string,
	address = nginxAddress,
	change = (config: string) => config,
): Promise<Client> {
	const shipped = await readFile('config/proxies/nginx.conf', 'utf8');
	const here = {
		'127.0.0.1:7420': new URL(app.server.info.uri).host,
		'listen 80;': `listen ${address};`,
		'/var/lib/stowage/files': app.filesDir,
		'proxy_http_version 1.1;': `proxy_http_version 1.1; proxy_bind ${proxyAddress};`,
	};
	const server = Object.entries(here).reduce((config, [line, value]) => {
		t.true(config.includes(line), `the shipped configuration has ${line}`);
		return config.replaceAll(line, value);
	}, change(shipped));
	const nginx = await startNginx(address, onlyFile === undefined ? server : alwaysSending(server, onlyFile));
	t.teardown(nginx.stop);
	return new Client({
		...app,
		server: { ...app.server, info: { ...app.server.info, uri: `http://${address}` } },
	} as TestApp);
}

/** Makes nginx send the same file for every path that is handed over. */
function alwaysSending(config: string, file: string): string {
	return config
		.replace('location /stowage-files/ {', 'location ~ ^/stowage-files/ {')
		.replace(/alias .*;/, `alias ${file};`);
}

/** The parts of an answer that must be equal: all but those in which servers differ. */
function comparable({ statusCode, headers, bytes }: Answer) {
	// nginx sends Accept-Ranges with a whole file only, which is where clients read it.
	const { date, server, connection, 'keep-alive': keepAlive, 'accept-ranges': takesRanges, ...others } = headers;
	if (statusCode === 200) return { statusCode, takesRanges, headers: others, bytes: bytes.toString('latin1') };
	// Boundaries are random.
	const isSeveral = /^multipart/.test(headers['content-type'] ?? '');
	if (isSeveral) return { statusCode, etag: headers.etag };
	return { statusCode, headers: others, bytes: bytes.toString('latin1') };
}

/** Only nginx connects from this address, so that direct clients are not trusted as a proxy. */
const proxyAddress = '127.0.0.3';

test.serial('a file sent by nginx has the same status, headers and content as one sent by the server', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': proxyAddress, '--downloads-accel-redirect': '/stowage-files' });
	const direct = await new Client(app).register('ada');
	const nginx = await nginxInFrontOf(t, app);
	nginx.cookie = direct.cookie;
	const docs = path.join(app.filesDir, 'users/ada/docs');
	mkdirSync(docs);
	const names = ['plain.txt', 'page.html', 'naïve 100% & more?#.txt', 'a+b;c.bin', 'empty', 'doc.pdf'];
	for (const name of names) {
		writeFileSync(path.join(docs, name), name === 'empty' ? '' : `%PDF-1.4 ${'0123456789'.repeat(10)}`);
	}
	for (const name of names) {
		const url = `/api/download/docs/${encodeURIComponent(name)}?type=private`;
		const { etag = '', 'last-modified': modified = '' } = (await direct.get(url)).headers;
		const conditions: Record<string, string>[] = [
			{},
			{ range: 'bytes=2-5' },
			{ range: 'bytes=0-' },
			{ range: 'bytes=-3' },
			{ range: 'bytes=999999-' },
			{ range: 'bytes=0-1,5-6' },
			{ range: 'bytes=2-5', 'if-range': etag },
			{ range: 'bytes=2-5', 'if-range': '"another"' },
			{ range: 'bytes=2-5', 'if-range': modified },
			{ 'if-modified-since': modified },
			{ 'if-none-match': etag },
			{ 'if-none-match': '"another"' },
			{ 'if-match': etag },
			{ 'if-match': '"another"' },
			{ 'if-modified-since': new Date().toUTCString() },
		];
		for (const headers of conditions) {
			const [expected, actual] = [await direct.get(url, headers), await nginx.get(url, headers)];
			t.deepEqual(comparable(actual), comparable(expected), `${name} ${JSON.stringify(headers)}`);
		}
		for (const [method, target] of [
			['HEAD', url],
			['GET', `${url}&inline=1`],
		] as const) {
			t.deepEqual(
				comparable(await nginx.call(method, target)),
				comparable(await direct.call(method, target)),
				`${method} ${target}`,
			);
		}
	}
	t.is((await nginx.get('/api/download/docs/gone?type=private')).statusCode, 404);
	t.is((await nginx.get('/stowage-files/users/ada/docs/plain.txt')).statusCode, 404, 'closed to clients');
	t.is((await new Client(nginx.app).get('/api/download/docs/plain.txt?type=private')).statusCode, 401);
});

test.serial('nginx follows no link that replaced a file or a folder above it', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': proxyAddress, '--downloads-accel-redirect': '/stowage-files' });
	const direct = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	const nginx = await nginxInFrontOf(t, app, path.join(home, 'docs/swapped.txt'));
	nginx.cookie = direct.cookie;
	mkdirSync(path.join(home, 'real'));
	writeFileSync(path.join(home, 'real/swapped.txt'), 'reached');
	writeFileSync(path.join(home, 'a.txt'), 'content');
	// nginx opens the same path for every request, as if the file there had been replaced after the server checked it.
	const ask = () => nginx.get('/api/download/a.txt?type=private');
	mkdirSync(path.join(home, 'docs'));
	symlinkSync('/etc/hostname', path.join(home, 'docs/swapped.txt'));
	t.is((await ask()).statusCode, 403);
	rmSync(path.join(home, 'docs'), { recursive: true });
	symlinkSync('real', path.join(home, 'docs'));
	t.is((await ask()).statusCode, 404);
	rmSync(path.join(home, 'docs'));
	mkdirSync(path.join(home, 'docs'));
	writeFileSync(path.join(home, 'docs/swapped.txt'), 'a file');
	t.is((await ask()).payload, 'a file');
});

test.serial('uploads, archives and tickets pass through nginx unchanged', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': proxyAddress, '--downloads-accel-redirect': '/stowage-files' });
	const direct = await new Client(app).register('ada');
	const nginx = await nginxInFrontOf(t, app);
	nginx.cookie = direct.cookie;
	const large = Buffer.alloc(3_000_000, 'stowage');
	const answer = await nginx.upload('/api/upload', [field('type', 'private'), file('large.bin', large)]);
	t.is(answer.statusCode, 200, answer.payload);
	t.true((await nginx.get('/api/download/large.bin?type=private')).bytes.equals(large));
	const folder = { directory: '', folderName: 'docs', type: 'private' };
	t.is((await nginx.post('/api/createFolder', folder)).statusCode, 200);
	await nginx.upload('/api/upload', [field('directory', 'docs'), field('type', 'private'), file('a.bin', large)]);
	const archive = '/api/download/docs?type=private';
	const sent = await nginx.get(archive);
	t.deepEqual([sent.statusCode, sent.headers['content-type']], [200, 'application/zip']);
	t.true(sent.bytes.length > large.length);
	t.deepEqual(comparable(sent), comparable(await direct.get(archive)));
	const files = [{ path: 'large.bin' }];
	const ticket = json(await nginx.post('/api/downloadTickets', { files, type: 'private', directory: '' }));
	// A ticket publishes its progress and can be cancelled, so the server sends it and does not hand it over.
	t.is((await direct.get(ticket.url)).headers['x-accel-redirect'], undefined);
	t.true((await nginx.get(ticket.url)).bytes.equals(large));
});

test.serial('nginx answers 100 concurrent requests, and 429 to requests over its rate limit', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': proxyAddress });
	const nginx = await nginxInFrontOf(t, app);
	const ask = async () => (await nginx.get('/api/health')).statusCode;
	t.deepEqual(new Set(await Promise.all(Array.from({ length: 100 }, ask))), new Set([200]));
	const strict = await nginxInFrontOf(t, app, undefined, strictAddress, (config) =>
		config.replace('rate=200r/s', 'rate=1r/m').replace('burst=1000 nodelay', 'burst=2 nodelay'),
	);
	const answers: number[] = [];
	for (let count = 0; count < 6; count++) answers.push((await strict.get('/api/health')).statusCode);
	t.deepEqual(answers, [200, 200, 200, 429, 429, 429]);
});

test.serial('nginx refuses open requests of a client over its limit with 429', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': proxyAddress });
	const nginx = await nginxInFrontOf(t, app, undefined, strictAddress, (config) =>
		config.replace('limit_conn stowage_connections 128', 'limit_conn stowage_connections 2'),
	);
	const open = [await openEvents(t), await openEvents(t)];
	t.deepEqual(
		open.map((answer) => answer.statusCode),
		[200, 200],
	);
	t.is((await nginx.get('/api/health')).statusCode, 429);
});

/** An open event stream of a visitor. */
async function openEvents(t: ExecutionContext): Promise<IncomingMessage> {
	const [hostname, port] = strictAddress.split(':');
	const sent = request({ hostname, port, path: '/api/events?type=public&directory=', agent: false }).end();
	t.teardown(async () => void sent.destroy());
	const [answer] = (await once(sent, 'response')) as [IncomingMessage];
	return answer;
}
