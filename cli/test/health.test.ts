import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import path from 'node:path';
import test from 'ava';
import { testApp } from '../../packages/core/test/testApp.js';
import { dataFolder, run } from './program.js';

test('health asks the server below its base path, at its port or its socket, under a name that it answers to', async (t) => {
	const socket = `unix:${path.join(await dataFolder(t), 'stowage.sock')}`;
	const site = ['--base-path', '/files', '--public-url', 'https://files.example.org'];
	const flags = Object.fromEntries([site.slice(0, 2), site.slice(2)]);
	for (const listen of [{}, { '--listen': socket }]) {
		const app = await testApp(t, { '--host': '0.0.0.0', '--port': '0', ...flags, ...listen });
		const address = await app.start();
		const port = '--listen' in listen ? [] : ['--host', '0.0.0.0', '--port', new URL(address).port];
		const where = ['--data-dir', app.dataDir, ...port, ...Object.entries(listen).flat()];
		for (const option of [[], ['--ready']]) {
			t.deepEqual(await run(['health', ...option, ...where, ...site]), { code: 0, stdout: 'ok', stderr: '' });
		}
		const elsewhere = await run(['health', ...where, '--base-path', '/other']);
		t.is(elsewhere.code, 1);
		t.regex(elsewhere.stderr, /^The server answers 404 to \/other\/api\/health\.$/);
		await app.stop();
		const stopped = await run(['health', ...where, ...site]);
		t.is(stopped.code, 1);
		t.regex(stopped.stderr, /^The server can't be asked at \S+ \((ECONNREFUSED|ENOENT)\)\.$/);
	}
});

test('health fails for a server that is not ready, and for one that does not answer in time', async (t) => {
	const failing = createServer((request, response) => {
		response.writeHead(request.url === '/api/ready' ? 503 : 200).end('{}');
	});
	const silent = createSocketServer();
	for (const each of [failing, silent]) {
		await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve));
		t.teardown(() => each.close());
	}
	const at = (server: typeof silent) => ['--port', String((server.address() as AddressInfo).port)];
	t.is((await run(['health', ...at(failing)])).code, 0);
	t.like(await run(['health', '--ready', ...at(failing)]), {
		code: 1,
		stderr: 'The server answers 503 to /api/ready.',
	});
	const late = await run(['health', ...at(silent)]);
	t.is(late.code, 1);
	t.regex(late.stderr, /\(no answer within 5 s\)\.$/);
	t.is((await run(['health', '--port', '0'])).code, 78);
});

test('the health check of the image is the command, which reads the configuration of the server', async (t) => {
	t.regex(await readFile('Dockerfile', 'utf8'), /^HEALTHCHECK .* CMD \["\/usr\/bin\/stowage", "health"\]$/m);
});
