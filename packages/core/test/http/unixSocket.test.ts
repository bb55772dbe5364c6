import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { server as createHapiServer } from '@hapi/hapi';
import test from 'ava';
import { listen } from '../../src/http/connections/unixSocket.js';

// As in a container whose umask is open. This file has a process of its own.
test.before(() => process.umask(0));

test('a unix socket is closed to other users from the first instant, and then has its own mode', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-socket-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const socket = path.join(folder, 'stowage.sock');
	const server = createHapiServer({ port: socket });
	t.teardown(() => server.stop());
	const listening = once(server.listener, 'listening');
	const modeAtOnce = listening.then(() => statSync(socket).mode & 0o777);
	const begin = server.listener.listen.bind(server.listener) as (...words: unknown[]) => typeof server.listener;
	let modeOfBind: number | undefined;
	server.listener.listen = (...words: unknown[]) => {
		const begun = begin(...words);
		modeOfBind = statSync(socket).mode & 0o777;
		return begun;
	};
	await listen(server, { listen: `unix:${socket}`, socketMode: '660', basePath: '' });
	t.is(modeOfBind, 0o700);
	t.is(await modeAtOnce, 0o700);
	t.is((await stat(socket)).mode & 0o777, 0o660);
	t.is(process.umask(), 0, 'the umask of the process is as before');
	const client = connect(socket);
	await once(client, 'connect');
	client.destroy();
});
