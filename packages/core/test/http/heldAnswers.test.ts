import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import type { ServerRoute } from '@hapi/hapi';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { createHeldAnswers } from '../../src/http/connections/heldAnswers.js';
import { isVisitorKey } from '../../src/http/requests/proxy.js';
import { RecentNetworks } from '../../src/limits/RecentNetworks.js';
import { addressOf } from '../rawRequest.js';
import { Client, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const MB = 1024 * 1024;

/** Larger than what the kernel takes of an answer that nobody reads. */
const large = 'x'.repeat(15 * MB);

/** A connection that reads nothing but the beginning of its answer. */
async function unread(t: ExecutionContext, app: TestApp, url: string, headers = '') {
	const socket = connect(addressOf(app)).on('error', () => {});
	t.teardown(() => socket.destroy());
	socket.write(`GET ${url} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
	const [data] = (await once(socket, 'data')) as [Buffer];
	socket.pause();
	return { socket, status: Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1'))?.[1]) };
}

for (const [kind, handler] of Object.entries({
	'a list': () => ({ entries: [large] }),
	'a text': (_request, h) => h.response(large).type('text/plain'),
	'a picture': (_request, h) => h.response(Buffer.from(large)).type('image/webp'),
} satisfies Record<string, ServerRoute['handler']>)) {
	test(`${kind} that nobody reads is kept in memory twice for a client, and given up with its connection`, async (t) => {
		const app = await testApp(t);
		app.server.route({ method: 'GET', path: '/api/large', handler });
		const { cookie } = await new Client(app).register('ada');
		const ask = () => unread(t, app, '/api/large', `Cookie: ${cookie}\r\n`);
		const [first, second, third] = [await ask(), await ask(), await ask()];
		t.deepEqual([first.status, second.status, third.status], [200, 200, 429]);
		t.is((await new Client(app).get('/api/health')).statusCode, 200);
		first.socket.destroy();
		await until('there is room again', async () => {
			const { socket, status } = await ask();
			socket.destroy();
			return status === 200;
		});
	});
}

test('a large list is the same JSON as a small one, with the headers of its route', async (t) => {
	const app = await testApp(t);
	app.server.route({
		method: 'GET',
		path: '/api/lists/{count}',
		options: { auth: false },
		handler: ({ params }, h) =>
			h
				.response({ entries: ['é'.repeat(Number(params.count))] })
				.code(201)
				.header('x-kept', '1'),
	});
	const client = new Client(app);
	const [small, whole] = [await client.get('/api/lists/1'), await client.get('/api/lists/100000')];
	t.deepEqual(json(whole), { entries: ['é'.repeat(100_000)] });
	t.is(whole.statusCode, small.statusCode);
	for (const name of ['content-type', 'x-kept', 'cache-control', 'x-content-type-options'])
		t.is(whole.headers[name], small.headers[name], name);
});

test('answers that addresses don’t read give way to those of others: the oldest of who has most', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': '127.0.0.1' });
	const smaller = large.slice(0, 11 * MB);
	app.server.route({
		method: 'GET',
		path: '/api/large',
		handler: (_request, h) => h.response(smaller).type('text/plain'),
	});
	const ask = async (address: string, cookie = 'x=y') => {
		const { socket, status } = await unread(
			t,
			app,
			'/api/large',
			`X-Forwarded-For: ${address}\r\nCookie: ${cookie}\r\n`,
		);
		return { socket, status, ended: once(socket, 'close') };
	};
	const [first, second] = [await ask('192.0.2.1'), await ask('192.0.2.1')];
	const other = await ask('2001:db8:1:1::1');
	t.deepEqual([first.status, second.status, other.status], [200, 200, 200]);
	t.is((await ask('192.0.2.2')).status, 200);
	first.socket.resume();
	await first.ended;
	t.is((await ask('2001:db8:1:2::1')).status, 503, 'its site has as much as any');
	t.is((await ask('192.0.2.3')).status, 503);
	const ada = await new Client(app).register('ada');
	t.is((await ask('192.0.2.1', ada.cookie)).status, 200, 'an account');
	t.false(second.socket.destroyed || other.socket.destroyed);
});

test('answers that many accounts of one network don’t read give way to those of another network, and to none of their own', (t) => {
	const bytes = 70_000;
	const group = { total: 5 * bytes, includes: isVisitorKey };
	const limits = { total: 10 * bytes, perClient: 4 * bytes, group, reservedPerSite: bytes };
	const hold = createHeldAnswers(limits, new RecentNetworks(1000, () => 0));
	const ended: string[] = [];
	/** Whether somebody's answer is sent. */
	const ask = (id: string, address: string) => {
		const destroy = () => ended.push(id);
		const res = Object.assign(new EventEmitter(), { closed: false, destroy });
		const viewer = { kind: 'user', id, username: id };
		const request = { method: 'get', raw: { res }, viewer, client: { address } };
		const response = { source: Buffer.alloc(bytes), variety: 'buffer' };
		try {
			hold(request as never, response as never, {} as never);
			return true;
		} catch (error) {
			if (!isFailure(error, 'unavailable')) throw error;
			return false;
		}
	};
	const strangers = '198.51.100.1';
	for (let n = 0; n < 10; n++) t.true(ask(`eve${n}`, strangers));
	t.false(ask('eve10', strangers));
	t.true(ask('ada', '203.0.113.1'));
	t.deepEqual(ended, ['eve0']);
	t.false(ask('eve11', strangers));
	t.true(ask('bob', '203.0.113.2'));
	t.deepEqual(ended, ['eve0', 'eve1']);
});
