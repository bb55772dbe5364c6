import { once } from 'node:events';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { until } from '../../packages/core/test/until.js';
import { seededNumbers } from '../model/randomCalls.js';
import { serveArgs, startServer } from '../serverProcess.js';
import { randomStream, type Stream, sweep } from './randomStreams.js';

const atOnce = 24;

/** Between two packets, so that they are read one by one. */
const betweenMs = 2;

/** How long the client waits for an answer; nothing depends on it. */
const patienceMs = 1000;

/** Writes a stream and resolves to the answer. */
async function play(port: number, { packets, ending, isRead }: Stream): Promise<string> {
	const socket = connect(port, '127.0.0.1').setNoDelay();
	let text = '';
	const closed = new Promise<void>((resolve) => socket.on('error', () => resolve()).once('close', () => resolve()));
	const answered = new Promise<void>((resolve) => {
		if (!isRead) return;
		socket.on('data', (data) => {
			text += data.toString('latin1');
			resolve();
		});
	});
	if (await Promise.race([once(socket, 'connect').then(() => false), closed.then(() => true)])) return text;
	for (const [at, packet] of packets.entries()) {
		if (at > 0) await wait(betweenMs);
		if (!socket.destroyed) socket.write(packet);
	}
	if (ending === 'end') socket.end();
	if (ending !== 'reset') {
		await Promise.race([closed, answered, wait(patienceMs)]);
		// The rest of an answer is nearly always in the same packet.
		await Promise.race([closed, wait(betweenMs)]);
	}
	// A reset fails while the end of what was written is still on its way; Node then forgets the handle, and this process could never end.
	if (ending === 'wait' || socket.writableEnded) socket.destroy();
	else if (!socket.destroyed) socket.resetAndDestroy();
	await closed;
	return text;
}

/** Broken, cut and pipelined HTTP of all kinds: the server stays the same process, answers no 5xx and keeps nothing open. */
export async function brokenStreams(t: ExecutionContext, count: number): Promise<void> {
	// On a slow machine the runner would take the silence for a hang.
	t.timeout(15 * 60_000 + count * 200);
	const seed = Number(process.env.STOWAGE_SEED ?? Date.now() % 2 ** 32);
	t.log(`seed ${seed}`);
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-streams-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const plugins = { '@stowage/auth-password': { memoryKiB: 19456, iterations: 2, parallelism: 1 } };
	const server = await startServer(t, { args: serveArgs(folder, '--plugins', JSON.stringify(plugins)) });
	const port = Number(new URL(server.url).port);
	let hasEnded = false;
	void server.ended.then(() => {
		hasEnded = true;
	});
	const descriptors = async () => {
		const all = await readdir(`/proc/${server.pid}/fd`);
		return Promise.all(all.map((fd) => readlink(`/proc/${server.pid}/fd/${fd}`).catch(() => '')));
	};
	const sockets = async () => (await descriptors()).filter((target) => target.startsWith('socket:')).length;
	const files = async () => (await descriptors()).filter((target) => target.startsWith(`${folder}/files/`)).length;
	const socketsAtStart = await sockets();
	const { headers } = await call(server.url, 'POST', '/api/register', {
		username: 'ada',
		password: 'correct horse',
		passwordConfirm: 'correct horse',
	});
	const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
	t.regex(cookie, /^sid=/);
	const swept = sweep(cookie);

	const streamOf = (index: number): Stream => {
		// Each stream has numbers of its own, so that it can be replayed alone.
		if (index % 2 === 1) return randomStream(seededNumbers(seed + index), cookie);
		const stride = Math.max(1, Math.floor(swept.count / (count / 2)));
		return swept.stream((index / 2) * stride + (seed % stride));
	};
	const statuses = new Map<string, number>();
	let index = 0;
	const playAll = async (end: number) => {
		while (index < end && !hasEnded) {
			const at = index++;
			const stream = streamOf(at);
			const text = await play(port, stream);
			for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d\d\d) /g)) {
				statuses.set(status, (statuses.get(status) ?? 0) + 1);
				if (status.startsWith('5')) {
					t.fail(`seed ${seed}, stream ${at}: ${JSON.stringify(stream.packets.map(String))} was answered ${text}`);
				}
			}
		}
	};
	const playUntil = async (end: number) => {
		await Promise.all(Array.from({ length: atOnce }, () => playAll(end)));
		await until('all connections are closed', async () => hasEnded || (await sockets()) <= socketsAtStart);
	};
	await playUntil(Math.min(1000, count / 4));
	const filesBefore = await files();
	const before = (await descriptors()).length;
	await playUntil(count);
	t.false(hasEnded, `seed ${seed}: the server ended near stream ${index}`);
	t.is((await call(server.url, 'GET', '/api/health')).statusCode, 200);
	await until('no more files are open than before', async () => (await files()) <= filesBefore);
	// A few are opened once and kept, such as a connection of the database or a watch of a folder.
	await until('no more descriptors are open than before', async () => (await descriptors()).length <= before + 6);
	t.log(
		`${index} streams: ${[...statuses]
			.sort()
			.map(([status, times]) => `${times} × ${status}`)
			.join(', ')}`,
	);
	t.is(await server.stop(), 0);
}

/** A call on a connection of its own, which is closed when it returns. */
async function call(url: string, method: string, address: string, payload?: object): Promise<IncomingMessage> {
	const sent = request(url + address, { method, agent: false, headers: { 'content-type': 'application/json' } });
	sent.end(payload === undefined ? undefined : JSON.stringify(payload));
	const [answer] = (await once(sent, 'response')) as [IncomingMessage];
	await once(answer.resume(), 'close');
	return answer;
}
