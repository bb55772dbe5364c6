import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test, { type ExecutionContext } from 'ava';
import { startCaddy } from '../caddy.js';
import { startNginx } from '../nginx.js';
import { ownAddress } from '../ownAddress.js';
import { serveArgs, startServer } from '../serverProcess.js';

/** More than fits into 31 bits, and into the buffers of a proxy. */
const bytes = 3 * 1024 ** 3;

const upload = async (t: ExecutionContext, name: 'nginx' | 'caddy', port: number) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-large-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const server = await startServer(t, { args: serveArgs(folder, '--trusted-proxies', '127.0.0.1') });
	const at = `${ownAddress()}:${port}`;
	const { host } = new URL(server.url);
	if (name === 'nginx') {
		const shipped = await readFile('config/proxies/nginx.conf', 'utf8');
		const nginx = await startNginx(at, shipped.replace('127.0.0.1:7420', host).replace('listen 80;', `listen ${at};`));
		t.teardown(nginx.stop);
	} else {
		const shipped = await readFile('config/proxies/Caddyfile', 'utf8');
		const site = `http://${at} {\n\tbind ${ownAddress()}`;
		const adapted = shipped.replace('127.0.0.1:7420', host).replace('files.example.org {', site);
		await startCaddy(t, at, adapted.replace('{\n', '{\n\tadmin off\n'));
	}

	const hash = createHash('sha256');
	const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n';
	const sent = request(`http://${at}/api/upload/public`, {
		method: 'POST',
		headers: {
			'content-type': 'multipart/form-data; boundary=b',
			'content-length': head.length + bytes + '\r\n--b--\r\n'.length,
		},
	});
	const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
	const body = function* () {
		yield Buffer.from(head);
		const block = randomBytes(1024 * 1024);
		for (let left = bytes; left > 0; left -= block.length) {
			block.writeDoubleLE(left);
			hash.update(block);
			yield Buffer.from(block);
		}
		yield Buffer.from('\r\n--b--\r\n');
	};
	await pipeline(Readable.from(body()), sent);
	const [answer] = await answered;
	t.is(answer.statusCode, 200);
	answer.resume();
	const arrived = path.join(folder, 'files/users/anonymous/Public/large.bin');
	t.is((await stat(arrived)).size, bytes);
	const found = createHash('sha256');
	await pipeline(createReadStream(arrived), found);
	t.is(found.digest('hex'), hash.digest('hex'));
};
test.serial('an upload of 3 GB arrives unchanged through nginx', upload, 'nginx', 7441);
test.serial('an upload of 3 GB arrives unchanged through Caddy', upload, 'caddy', 7442);
