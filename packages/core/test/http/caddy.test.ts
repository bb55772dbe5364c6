import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { startCaddy } from '../../../../test/caddy.js';
import { ownAddress } from '../../../../test/ownAddress.js';
import { Client, field, file, recordsOf, type TestApp, testApp } from '../testApp.js';

const caddyAddress = `${ownAddress()}:7423`;

/** Only Caddy connects from this address. */
const proxyAddress = '127.0.0.1';

/** The shipped configuration, with this machine's ports and without certificates, in a real Caddy. */
async function caddyInFrontOf(t: ExecutionContext, app: TestApp): Promise<Client> {
	const shipped = await readFile('config/proxies/Caddyfile', 'utf8');
	const config = shipped
		.replace('{\n', '{\n\tadmin off\n')
		.replace('files.example.org {', `http://${caddyAddress} {\n\tbind ${caddyAddress.split(':')[0]}`)
		.replace('127.0.0.1:7420', new URL(app.server.info.uri).host);
	await startCaddy(t, caddyAddress, config);
	return new Client({
		...app,
		server: { ...app.server, info: { ...app.server.info, uri: `http://${caddyAddress}` } },
	} as TestApp);
}

test.serial('uploads and range requests pass through Caddy unchanged', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': proxyAddress });
	const caddy = await caddyInFrontOf(t, app);
	await caddy.register('ada');
	const large = Buffer.alloc(3_000_000, 'stowage');
	const answer = await caddy.upload('/api/upload', [field('type', 'private'), file('large.bin', large)]);
	t.is(answer.statusCode, 200, answer.payload);
	const part = await caddy.get('/api/download/large.bin?type=private', { range: 'bytes=7-13' });
	t.is(part.statusCode, 206);
	t.is(part.payload, 'stowage');
});

test.serial('through Caddy a request with too long headers is answered 431, and the next one 200', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': proxyAddress });
	const caddy = await caddyInFrontOf(t, app);
	t.is((await caddy.get('/api/health', { 'x-long': 'x'.repeat(60_000) })).statusCode, 431);
	t.is((await caddy.get('/api/health')).statusCode, 200);
});

test.serial(
	'a client behind Caddy hides its address by no number of headers, behind which Caddy sorts its own',
	async (t) => {
		const app = await testApp(t, { '--trusted-proxies': proxyAddress });
		await caddyInFrontOf(t, app);
		const [host, port] = caddyAddress.split(':');
		const clientAddress = '127.0.0.9';
		const body = JSON.stringify({ username: 'ada', password: 'wrong horse' });
		const signIn = async (headers: number) => {
			const socket = connect({ host, port: Number(port), localAddress: clientAddress });
			const head = `POST /api/login HTTP/1.1\r\nHost: ${caddyAddress}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
			socket.write(`${head}Content-Length: ${body.length}\r\n${'D:\r\n'.repeat(headers)}\r\n${body}`);
			return (await buffer(socket)).toString('latin1');
		};
		t.regex(await signIn(900), /^HTTP\/1\.1 401 /);
		t.regex(await signIn(1000), /^HTTP\/1\.1 431 /);
		await app.stop();
		const failures = (await recordsOf(app)).filter(({ action }) => action === 'signInFailed');
		t.deepEqual(
			failures.map(({ address }) => address),
			[clientAddress],
		);
	},
);
