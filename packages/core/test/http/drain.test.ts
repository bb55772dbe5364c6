import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { Drain } from '../../src/http/connections/Drain.js';
import { collectGarbage } from '../memory.js';
import { until } from '../until.js';

test.serial('a server without connections leaves no timer that would keep its process alive', async (t) => {
	const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
	const before = timers();
	await new Drain().begin(0, async () => {});
	t.is(timers(), before);
});

test.serial(
	'a request that waits to be read when the last second is over makes its connection no idle one',
	async (t) => {
		const drain = new Drain();
		const server = createServer((_request, response) => response.end());
		drain.watch(server);
		let answered = 0;
		server.on('request', () => answered++);
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		t.teardown(() => server.close());
		const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
		const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
		client.write(request);
		await once(client, 'data');
		const drained = drain.begin(0, async () => {});
		// The process has begun its last second, in which it is held up, and looks at its timers next.
		await wait(10);
		await turn();
		client.write(request);
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100);
		await drained;
		t.is(answered, 2);
		client.destroy();
	},
);

test('a connection that is on its way when no further one is wanted is served before the server ends', async (t) => {
	const drain = new Drain();
	let served = 0;
	const server = createServer((_request, response) => {
		served++;
		response.end();
	});
	drain.watch(server);
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => server.close());
	const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
	await once(server, 'connection');
	client.destroy();
	await drain.whenEmpty();
	const late = { port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false } as const;
	await drain.begin(0, async () => {
		await wait(50);
		get(late, (response) => response.resume());
		await once(server, 'connection');
	});
	t.is(served, 1);
	await until('it is closed', () => drain.connections === 0);
});

test('responses that never got their turn go with their connection', async (t) => {
	const drain = new Drain();
	const responses: WeakRef<ServerResponse>[] = [];
	const server = createServer();
	drain.watch(server);
	server.on('request', (request, response) => {
		drain.add(request, response);
		responses.push(new WeakRef(response));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => server.close());
	const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
	client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));
	await until('all requests have arrived', () => responses.length === 3);
	client.destroy();
	await drain.whenEmpty();
	await until('no response is kept', () => {
		collectGarbage();
		return responses.every((response) => response.deref() === undefined);
	});
	t.is(drain.connections, 0);
});
