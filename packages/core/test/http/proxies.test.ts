import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startCaddy } from '../../../../test/caddy.js';
import { startNginx } from '../../../../test/nginx.js';
import { ownAddress } from '../../../../test/ownAddress.js';
import { Client, field, file, json, recordsOf, type TestApp, testApp } from '../testApp.js';
import { head, metadata, patch } from '../tusClient.js';
import { until } from '../until.js';

/** The blocks of docs/proxy.md in one language: with the path prefix kept, and with it stripped. */
async function documented(language: 'nginx' | 'caddy'): Promise<{ kept: string; stripped: string }> {
	const text = await readFile('docs/proxy.md', 'utf8');
	const [kept = '', stripped = ''] = text
		.split(`\`\`\`${language}\n`)
		.slice(1)
		.map((rest) => rest.split('\n```')[0] ?? '');
	return { kept, stripped };
}

const address = (port: number) => `${ownAddress()}:${port}`;

/** Where the server listens, as each proxy writes it. */
interface Target {
	nginx: string;
	caddy: string;
}

async function proxyInFrontOf(
	t: ExecutionContext,
	name: 'nginx' | 'caddy',
	block: string,
	target: Target,
	port: number,
) {
	const at = address(port);
	if (name === 'nginx') {
		const nginx = await startNginx(
			at,
			`server { listen ${at};\n${block.replace('http://127.0.0.1:7420', target.nginx)}\n}`,
		);
		t.teardown(nginx.stop);
	} else {
		const site = `http://${at} {\n\tbind ${ownAddress()}\n${block.replace('127.0.0.1:7420', target.caddy)}\n}`;
		await startCaddy(t, at, `{\n\tadmin off\n}\n${site}\n`);
	}
	return `http://${at}`;
}

/** One client through the proxy. */
function clientAt(app: TestApp, uri: string): Client {
	return new Client({ ...app, server: { ...app.server, info: { ...app.server.info, uri } } } as TestApp);
}

const worksBehind = async (t: ExecutionContext, name: 'nginx' | 'caddy', prefix: 'kept' | 'stripped', port: number) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-socket-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	// TCP where the prefix is kept, a socket where it is stripped.
	const socket = path.join(folder, 'stowage.sock');
	const listening: Record<string, string> =
		prefix === 'kept' ? {} : { '--listen': `unix:${socket}`, '--socket-mode': '666' };
	const app = await testApp(t, {
		'--base-path': '/files',
		'--public-url': 'https://nas.lan/files',
		'--trusted-proxies': '127.0.0.1',
		...listening,
	});
	const target =
		prefix === 'kept'
			? { nginx: app.server.info.uri, caddy: new URL(app.server.info.uri).host }
			: { nginx: `http://unix:${socket}:`, caddy: `unix/${socket}` };
	const uri = await proxyInFrontOf(t, name, (await documented(name))[prefix], target, port);
	const visitor = clientAt(app, uri);
	const signedIn = await visitor.call('POST', '/files/api/register', {
		username: 'ada',
		password: 'correct horse',
		passwordConfirm: 'correct horse',
	});
	t.is(signedIn.statusCode, 200, signedIn.payload);
	const [cookie = ''] = signedIn.headers['set-cookie'] ?? [];
	t.regex(cookie, /; Secure/);
	t.regex(cookie, /; Path=\/files/);
	const ada = clientAt(app, uri);
	ada.cookie = cookie.split(';')[0];
	ada.binding = visitor.binding;

	const large = Buffer.alloc(3_000_000, 'stowage');
	const sent = await ada.upload('/files/api/upload', [field('type', 'private'), file('large.bin', large)]);
	t.is(sent.statusCode, 200, sent.payload);
	const part = await ada.get('/files/api/download/large.bin?type=private', { range: 'bytes=7-13' });
	t.is(part.statusCode, 206);
	t.is(part.payload, 'stowage');
	const begun = await ada.call('POST', '/files/api/uploads', undefined, {
		'tus-resumable': '1.0.0',
		'upload-length': '7',
		'upload-metadata': metadata({ filename: 'small.bin' }),
	});
	const resumable = String(begun.headers.location);
	t.regex(resumable, /^\/files\/api\/uploads\//, begun.payload);
	t.is((await patch(ada, resumable, 0, 'stow')).statusCode, 204);
	t.is((await head(ada, resumable)).headers['upload-offset'], '4');
	const link = json(await ada.post('/files/api/generateTempLink', { filePath: 'large.bin', expiration: '1h' }));
	t.is((await visitor.get(`/files/api/temp/${link.token}`)).bytes.length, large.length);

	const events = request(`${uri}/files/api/events?type=public&directory=`, { agent: false }).end();
	t.teardown(async () => void events.destroy());
	const [stream] = (await once(events, 'response')) as [IncomingMessage];
	t.is(stream.statusCode, 200);
	t.regex(String(stream.headers['content-type']), /^text\/event-stream/);
	await once(stream, 'data');
	if (prefix === 'stripped') t.is((await stat(socket)).mode & 0o777, 0o666);
};
test.serial('the server works behind nginx with the path prefix kept', worksBehind, 'nginx', 'kept', 7431);
test.serial(
	'the server works behind nginx with the path prefix stripped, at a unix socket',
	worksBehind,
	'nginx',
	'stripped',
	7432,
);
test.serial('the server works behind Caddy with the path prefix kept', worksBehind, 'caddy', 'kept', 7433);
test.serial(
	'the server works behind Caddy with the path prefix stripped, at a unix socket',
	worksBehind,
	'caddy',
	'stripped',
	7434,
);

/** What a client claims by headers that are a proxy's to set, and by which name it calls. */
const hostile = {
	'x-forwarded-for': '203.0.113.9',
	'x-forwarded-proto': 'ftp',
	forwarded: 'for=203.0.113.9;host=evil.example',
};

for (const [prefix, port] of [
	['kept', 7435],
	['stripped', 7436],
] as const) {
	test.serial(
		`behind the documented nginx no client says by itself who it is or by which host it calls: path ${prefix}`,
		async (t) => {
			const app = await testApp(t, {
				'--base-path': '/files',
				'--public-url': 'https://files.example.org/files',
				'--trusted-proxies': '127.0.0.3',
			});
			const { uri: target } = app.server.info;
			// From an address that the client does not have.
			const block = (await documented('nginx'))[prefix].replace('proxy_pass', 'proxy_bind 127.0.0.3; proxy_pass');
			const uri = await proxyInFrontOf(t, 'nginx', block, { nginx: target, caddy: '' }, port);
			const call = async (host: string, forwarded: string, more: Record<string, string> = {}) => {
				const headers = { ...hostile, ...more, host, 'x-forwarded-host': forwarded };
				return (await clientAt(app, uri).get('/files/api/health', headers)).statusCode;
			};
			t.is(await call('files.example.org', 'evil.example'), 200);
			for (const forwarded of ['files.example.org', '127.0.0.1', 'a, files.example.org'])
				t.is(await call('evil.example', forwarded), 421, forwarded);
			if (prefix === 'stripped')
				t.is(await call('files.example.org', 'files.example.org', { 'x-forwarded-prefix': '/other' }), 200);
			const wrong = { username: 'ada', password: 'wrong horse' };
			await clientAt(app, uri).call('POST', '/files/api/login', wrong, { ...hostile, host: 'files.example.org' });
			await until('the audit log has a line', async () => (await recordsOf(app)).length > 0);
			t.deepEqual(
				(await recordsOf(app)).map(({ action, address: from }) => [action, from]),
				[['signInFailed', '127.0.0.1']],
			);
		},
	);
}

test('a forwarded prefix of an untrusted client is ignored', async (t) => {
	const app = await testApp(t, { '--base-path': '/files' });
	const client = new Client(app);
	t.is((await client.get('/api/health', { 'x-forwarded-prefix': '/files' })).statusCode, 404);
	t.is((await client.get('/files/api/health', { 'x-forwarded-prefix': '/files' })).statusCode, 200);
});

test('a request line with a whole address is read by its path and query, also below a forwarded prefix', async (t) => {
	const app = await testApp(t, { '--base-path': '/files', '--trusted-proxies': '127.0.0.1' });
	const client = new Client(app);
	const prefix = { 'x-forwarded-prefix': '/files' };
	t.is((await client.get('http://nas/files/api/health')).statusCode, 200);
	t.is((await client.get('HTTPS://nas:443/api/health?a&a', prefix)).statusCode, 200);
	for (const address of ['http:///api/health', 'http:/api/health', 'ftp://nas/api/health', 'api/health', '*', '?a'])
		t.is((await client.get(address, prefix)).statusCode, 400, address);
});

test('a unix socket left by a crash is replaced, and one in use, a file or a link of its name is refused', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-socket-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = path.join(folder, 'stowage.sock');
	const flags = { '--listen': `unix:${at}` };
	const first = await testApp(t, flags);
	t.is((await stat(at)).mode & 0o777, 0o660);
	await t.throwsAsync(testApp(t, flags), { code: 'EADDRINUSE' });
	await first.stop();
	await writeFile(at, '');
	await t.throwsAsync(testApp(t, flags), { message: /is there and is no socket/ });
	await rm(at);
	await symlink('/etc/hostname', at);
	await t.throwsAsync(testApp(t, flags), { message: /is there and is no socket/ });
	await rm(at);
	await leaveSocket(at);
	await testApp(t, flags);
	t.is(await healthAt(at), 200);
});

/** Creates a socket file without a listener. */
async function leaveSocket(at: string): Promise<void> {
	const script = `import socket; socket.socket(socket.AF_UNIX).bind(${JSON.stringify(at)})`;
	await once(execFile('python3', ['-c', script]), 'exit');
}

async function healthAt(socketPath: string): Promise<number | undefined> {
	const [answer] = (await once(request({ socketPath, path: '/api/health' }).end(), 'response')) as [IncomingMessage];
	answer.resume();
	return answer.statusCode;
}
