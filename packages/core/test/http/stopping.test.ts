import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { Client, type TestApp, testApp } from '../testApp.js';
import { begin, head, uploadState } from '../tusClient.js';
import { until } from '../until.js';

test('a stopping server removes an unfinished form, and keeps all bytes of an unfinished resumable upload', async (t) => {
	const app = await testApp(t);
	const { uploads } = app.services.database;
	const { saveProgress } = uploads;
	let isStored = false;
	uploads.saveProgress = async (...progress) => {
		isStored = await saveProgress(...progress);
		return isStored;
	};
	const staging = path.join(app.filesDir, '.stowage/staging');
	const ada = await new Client(app).register('ada');
	const location = await begin(ada, 100, { filename: 'a' });
	const { hostname, port } = new URL(app.server.info.uri);
	const send = async (method: string, url: string, headers: Record<string, string>, start: string) => {
		const sent = request({
			hostname,
			port,
			path: url,
			method,
			agent: false,
			headers: { cookie: ada.cookie ?? '', 'content-length': '1000', ...headers },
		});
		sent.on('error', () => {}).write(start);
		await once(sent, 'socket');
		return sent;
	};
	const formHead = '--b\r\nContent-Disposition: form-data; name="file"; filename="form"\r\n\r\n';
	await send('POST', '/api/upload', { 'content-type': 'multipart/form-data; boundary=b' }, `${formHead}form`);
	const chunk = await send(
		'PATCH',
		location,
		{
			'content-type': 'application/offset+octet-stream',
			'tus-resumable': '1.0.0',
			'upload-offset': '0',
			'content-length': '100',
		},
		'0123456789',
	);
	while ((await readdir(staging)).length < 2) await wait(20);

	await until('the progress of the first bytes is stored', () => isStored);
	chunk.write('more, after what was noted');
	const all = '0123456789more, after what was noted';
	const sizes = async () =>
		Promise.all((await readdir(staging)).map(async (name) => (await stat(path.join(staging, name))).size));
	await until('the server has received them', async () => (await sizes()).includes(all.length));
	await app.stop();
	const left = await readdir(staging);
	t.is(left.length, 1, 'the form is removed');
	t.is(await readFile(path.join(staging, left[0] ?? ''), 'utf8'), all);

	const again = await testApp(t, { '--data-dir': app.dataDir });
	const visitor = new Client(again);
	visitor.cookie = ada.cookie;
	t.deepEqual(uploadState(await head(visitor, location)), [200, all.length, undefined]);
});

/** A client that keeps its one connection. */
function keptConnection({ server }: TestApp) {
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	return async (url: string) => {
		const sent = request(`${server.info.uri}${url}`, { agent });
		sent.end();
		const [answer] = (await once(sent, 'response')) as [IncomingMessage];
		const text = (await buffer(answer)).toString();
		return { status: answer.statusCode, connection: answer.headers.connection, isReused: sent.reusedSocket, text };
	};
}

test('a server that is about to end says so, and goes on answering for as long as drainDelay says', async (t) => {
	const app = await testApp(t, { '--drain-delay': '2 seconds' });
	const kept = keptConnection(app);
	t.is((await kept('/api/health')).connection, 'keep-alive');
	const stopped = app.stop();
	const ready = await kept('/api/ready');
	t.like(ready, { status: 503, connection: 'close', isReused: true });
	t.is(JSON.parse(ready.text).status, 'draining');
	const anew = await kept('/api/health');
	t.like(anew, { status: 200, connection: 'close', isReused: false });
	await stopped;
	await t.throwsAsync(kept('/api/health'), { code: 'ECONNREFUSED' });
});

test('the request that a client sends on an open connection while the server stops is answered', async (t) => {
	const app = await testApp(t);
	const kept = keptConnection(app);
	const other = keptConnection(app);
	await Promise.all([kept('/api/health'), other('/api/health')]);
	const stopped = app.stop();
	await until('no connection is accepted', () => !app.server.listener.listening);
	t.like(await kept('/api/health'), { status: 200, connection: 'close', isReused: true });
	// The other one is idle to the end, and holds nothing up.
	await stopped;
});
