import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { watchForStall } from '../src/uploads/stall.js';
import { testApp } from './testApp.js';
import { until } from './until.js';

/** A body under way, and whether the watch says that it stalled. */
async function bodyUnderWay(t: ExecutionContext, windowMs: number) {
	const server = createServer();
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const sender = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', method: 'POST' });
	sender.on('error', () => {});
	sender.write('first');
	const [received] = (await once(server, 'request')) as [IncomingMessage];
	let stalls = 0;
	const stopWatching = watchForStall(received, () => stalls++, windowMs);
	t.teardown(() => {
		stopWatching();
		sender.destroy();
		server.close();
	});
	return { sender, received, stalls: () => stalls };
}

test('a body that stops coming has stalled', async (t) => {
	const { received, stalls } = await bodyUnderWay(t, 100);
	received.resume();
	await until('it is said to have stalled', () => stalls() > 0);
	await wait(300);
	t.is(stalls(), 1, 'it is said once');
});

test('a body that trickles has stalled', async (t) => {
	const { sender, received, stalls } = await bodyUnderWay(t, 100);
	received.resume();
	await until('it is said to have stalled', () => {
		sender.write('x');
		return stalls() > 0;
	});
	t.is(stalls(), 1);
});

// Its clock is the process's, so nothing else may run meanwhile.
test.serial('a slow body that keeps coming has not', async (t) => {
	mock.timers.enable({ apis: ['setInterval'] });
	t.teardown(() => mock.timers.reset());
	const { sender, received, stalls } = await bodyUnderWay(t, 30_000);
	received.resume();
	for (let n = 0; n < 10; n++) {
		const before = received.socket.bytesRead;
		sender.write('x'.repeat(1024));
		await until('the bytes are here', () => received.socket.bytesRead >= before + 1024);
		mock.timers.tick(30_000);
	}
	t.is(stalls(), 0);
	mock.timers.tick(30_000);
	t.is(stalls(), 1);
});

test('a body that waits for us has not', async (t) => {
	const { sender, received, stalls } = await bodyUnderWay(t, 100);
	received.pause();
	sender.write('x'.repeat(1_000_000));
	await wait(500);
	t.is(stalls(), 0);
});

test('no upload is cut off for taking long', async (t) => {
	const app = await testApp(t);
	t.is((app.server.listener as { requestTimeout?: number }).requestTimeout, 0);
	t.is((app.server.listener as { timeout?: number }).timeout, 0);
});
