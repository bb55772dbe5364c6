import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { addressOf } from '../rawRequest.js';
import { waitScheduled } from '../scheduledTime.js';
import { Client, type TestApp, testApp } from '../testApp.js';
import { begin, head, metadata, uploadState } from '../tusClient.js';
import { until } from '../until.js';

/** A second of the body timeouts, so that a minute takes little more than a second here. */
const secondMs = 20;

interface Sender {
	socket: Socket;
	/** The response so far. */
	answer(): string;
}

/** Sends the head of a request and the first bytes of its body. */
async function open(t: ExecutionContext, app: TestApp, lines: readonly string[], first: string): Promise<Sender> {
	const socket = connect(addressOf(app));
	let text = '';
	socket
		.on('error', () => {})
		.on('data', (data) => {
			text += data.toString('latin1');
		});
	t.teardown(() => void socket.destroy());
	await once(socket, 'connect');
	socket.write(`${[...lines, 'Host: x', '', ''].join('\r\n')}${first}`);
	return { socket, answer: () => text };
}

const formStart = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';

interface Kind {
	lines(location: string): string[];
	first: string;
}

const tus = ['Tus-Resumable: 1.0.0', 'Content-Type: application/offset+octet-stream'];

const kinds: Record<string, Kind> = {
	'a form': {
		lines: () => [
			'POST /api/upload/public HTTP/1.1',
			'Content-Type: multipart/form-data; boundary=x',
			'Content-Length: 1000000',
		],
		first: `${formStart}first`,
	},
	'a form of unknown length': {
		lines: () => [
			'POST /api/upload/public HTTP/1.1',
			'Content-Type: multipart/form-data; boundary=x',
			'Transfer-Encoding: chunked',
		],
		first: `f4240\r\n${formStart}first`,
	},
	'a chunk of a resumable upload': {
		lines: (location) => [`PATCH ${location} HTTP/1.1`, ...tus, 'Upload-Offset: 0', 'Content-Length: 1000000'],
		first: 'first',
	},
	'a resumable upload with its first chunk': {
		lines: () => [
			'POST /api/uploads HTTP/1.1',
			...tus,
			`Upload-Metadata: ${metadata({ filename: 'b.txt' })}`,
			'Upload-Length: 1000000',
			'Content-Length: 1000000',
		],
		first: 'first',
	},
	'a JSON body': {
		lines: () => ['POST /api/login HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 50000'],
		first: '{"username": "',
	},
};

/** A server with the head and first bytes of one body under way. */
async function underWay(t: ExecutionContext, { lines, first }: Kind) {
	const app = await testApp(t, {}, { bodySecondMs: secondMs });
	const location = await begin(new Client(app), 1_000_000, { filename: 'a.txt' });
	return { app, location, sender: await open(t, app, lines(location), first) };
}

for (const [name, kind] of Object.entries(kinds)) {
	test(`${name} that stalls is answered 408, and its connection is closed`, async (t) => {
		const { sender } = await underWay(t, kind);
		await until('its connection is closed', () => sender.socket.closed);
		t.regex(sender.answer(), /^HTTP\/1\.1 408 /);
	});

	test(`${name} that arrives at 35 bytes a second is answered 408, and its connection is closed`, async (t) => {
		const { sender } = await underWay(t, kind);
		const trickle = setInterval(() => sender.socket.write('x'.repeat(35)), secondMs);
		t.teardown(() => clearInterval(trickle));
		await until('its connection is closed', () => sender.socket.closed);
		t.regex(sender.answer(), /^HTTP\/1\.1 408 /);
	});
}

test('a resumable upload that stalls keeps the bytes that arrived before', async (t) => {
	const { app, location, sender } = await underWay(t, kinds['a chunk of a resumable upload'] as Kind);
	await until('its connection is closed', () => sender.socket.closed);
	t.deepEqual(uploadState(await head(new Client(app), location)), [200, 5, undefined]);
});

for (const name of ['a form', 'a chunk of a resumable upload']) {
	test(`${name} that arrives at 4 kB a second is still accepted after four minutes`, async (t) => {
		const { app, sender } = await underWay(t, kinds[name] as Kind);
		// Four minutes at the speed of a modem.
		for (let seconds = 0; seconds < 240; seconds++) {
			sender.socket.write('x'.repeat(4096));
			await waitScheduled(secondMs);
		}
		t.is(sender.answer(), '');
		t.false(sender.socket.closed);
		const staging = path.join(app.filesDir, '.stowage/staging');
		await until('all of it is on the disk', async () => {
			const sizes = await Promise.all(
				(await readdir(staging)).map(async (file) => (await readFile(path.join(staging, file))).length),
			);
			return Math.max(...sizes) >= 240 * 4096;
		});
	});

	test(`${name} that waits two minutes for a slow disk is not refused`, async (t) => {
		const app = await testApp(t, {}, { bodySecondMs: secondMs });
		const { files } = app.services;
		const { stage } = files;
		files.stage = async (...ids) => {
			const staged = await stage(...ids);
			const append = staged.append.bind(staged);
			staged.append = (body, at) => append(afterTwoMinutes(body), at);
			return staged;
		};
		const location = await begin(new Client(app), 1_000_000, { filename: 'a.txt' });
		const { lines, first } = kinds[name] as Kind;
		const sender = await open(t, app, lines(location), first);
		const length = 1_000_000 - first.length;
		const end = name === 'a form' ? '\r\n--x--\r\n' : '';
		sender.socket.write(`${'x'.repeat(length - end.length)}${end}`);
		await until('it was answered', () => sender.answer() !== '');
		t.regex(sender.answer(), /^HTTP\/1\.1 20[04] /);
	});
}

/** Passes the first bytes on, then blocks for two minutes, as a slow disk does. */
async function* afterTwoMinutes(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	let isFirst = true;
	for await (const chunk of body) {
		yield chunk;
		if (isFirst) await waitScheduled(120 * secondMs);
		isFirst = false;
	}
}

test('Node’s own timeouts for a request and for an idle connection are off', async (t) => {
	const app = await testApp(t);
	t.is((app.server.listener as { requestTimeout?: number }).requestTimeout, 0);
	t.is((app.server.listener as { timeout?: number }).timeout, 0);
});
