import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { isListening } from '../../../test/isListening.js';
import { ownAddress } from '../../../test/ownAddress.js';
import { Client, field, file, type TestApp, testApp } from './testApp.js';

const caddyAddress = `${ownAddress()}:7423`;

/** Caddy alone calls from here. */
const proxyAddress = '127.0.0.1';

/** The configuration that we ship, with this machine's ports and without certificates, in a real Caddy. */
async function caddyBefore(t: ExecutionContext, app: TestApp): Promise<Client> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-caddy-'));
	const shipped = await readFile('config/proxies/Caddyfile', 'utf8');
	const config = path.join(folder, 'Caddyfile');
	await writeFile(
		config,
		shipped
			.replace('{\n', '{\n\tadmin off\n')
			.replace('files.example.org {', `http://${caddyAddress} {\n\tbind ${caddyAddress.split(':')[0]}`)
			.replace('127.0.0.1:7420', new URL(app.server.info.uri).host),
	);
	const caddy = spawn('caddy', ['run', '--config', config, '--adapter', 'caddyfile'], {
		env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
		stdio: ['ignore', 'ignore', 'pipe'],
	});
	let said = '';
	caddy.stderr.on('data', (chunk: Buffer) => {
		said += chunk.toString();
	});
	const ended = once(caddy, 'exit');
	t.teardown(async () => {
		caddy.kill();
		await ended;
		await rm(folder, { recursive: true, force: true });
	});
	while (!(await isListening(caddyAddress))) {
		if (caddy.exitCode !== null) throw new Error(`Caddy did not start: ${said}`);
		await wait(20);
	}
	return new Client({
		...app,
		server: { ...app.server, info: { ...app.server.info, uri: `http://${caddyAddress}` } },
	} as TestApp);
}

test.serial('uploads, ranges and the client’s address pass through Caddy as they are', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': proxyAddress });
	const caddy = await caddyBefore(t, app);
	await caddy.register('ada');
	const large = Buffer.alloc(3_000_000, 'stowage');
	const answer = await caddy.upload('/api/upload', [field('type', 'private'), file('large.bin', large)]);
	t.is(answer.statusCode, 200, answer.payload);
	const part = await caddy.get('/api/download/large.bin?type=private', { range: 'bytes=7-13' });
	t.is(part.statusCode, 206);
	t.is(part.payload, 'stowage');
});

test.serial('Caddy ends a request whose headers are longer than Stowage takes', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': proxyAddress });
	const caddy = await caddyBefore(t, app);
	t.is((await caddy.get('/api/health', { 'x-long': 'x'.repeat(60_000) })).statusCode, 431);
	t.is((await caddy.get('/api/health')).statusCode, 200);
});
