import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createPacedRequests, PacedRequest } from '../../src/http/connections/pacedRequest.js';
import { rawRequest } from '../rawRequest.js';
import { testApp } from '../testApp.js';
import { until } from '../until.js';

const head = (path: string, headers = '') =>
	`POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n${headers}\r\n`;
const inSingleBytes = (text: string) => `${[...text].map((letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`;

/** A server whose requests are paced as Stowage's are. */
async function pacedServer(t: ExecutionContext, onRequest: (request: IncomingMessage) => void) {
	const server: Server = createServer({ IncomingMessage: createPacedRequests() }, (request, response) => {
		onRequest(request);
		request.once('end', () => response.end());
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	return (text: string) => {
		const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
		socket.resume().write(text);
		return socket;
	};
}

test('bytes that come in chunks of one each are read together, in their order', async (t) => {
	const read: Buffer[] = [];
	const text = Array.from({ length: 5_000 }, (_, n) => String(n % 10)).join('');
	const send = await pacedServer(t, (request) => request.on('data', (data: Buffer) => read.push(data)));
	await once(send(head('/') + inSingleBytes(text)), 'close');
	t.is(Buffer.concat(read).toString(), text);
	t.true(read.length < 100, `${read.length} pieces`);
});

test('after very many small chunks a connection is left unread for a while, and others have their turn', async (t) => {
	const length = 60_000;
	let arrived = 0;
	let most = 0;
	const send = await pacedServer(t, (request) => {
		request.on('data', ({ length }: Buffer) => {
			arrived += length;
		});
		const count = (before: number) => {
			most = Math.max(most, arrived - before);
			if (!request.complete) setImmediate(count, arrived);
		};
		count(arrived);
	});
	await once(send(head('/') + inSingleBytes('a'.repeat(length))), 'close');
	t.is(arrived, length);
	t.true(most < 30_000, `${most} chunks in one turn`);
});

test('a body of which each byte is a chunk is understood', async (t) => {
	const app = await testApp(t);
	const clients: (string | undefined)[] = [];
	app.server.listener.on('request', (request: IncomingMessage) => {
		clients.push(request instanceof PacedRequest ? request.client : undefined);
	});
	const names = { username: 'ada', password: 'correct horse', passwordConfirm: 'correct horse' };
	const body = `${' '.repeat(30_000)}${JSON.stringify(names)}`;
	const request = head('/api/register', 'Content-Type: application/json\r\n');
	t.is((await rawRequest(app, request + inSingleBytes(body))).status, 200);
	t.deepEqual(clients, ['127.0.0.1']);
});

test('a connection that closes while it waits for its turn leaves nothing behind', async (t) => {
	const requests: IncomingMessage[] = [];
	const send = await pacedServer(t, (request) => {
		requests.push(request);
		request.on('error', () => {}).resume();
	});
	const socket = send(head('/') + inSingleBytes('a'.repeat(60_000)).slice(0, -5));
	await until('the request', () => requests.length === 1);
	socket.destroy();
	await until('the end of the request', () => requests[0]?.destroyed === true);
	t.pass();
});
