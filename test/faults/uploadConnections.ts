import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { fileTeardown } from '../fileTeardown.js';
import type { ServerProcess, Teardown } from '../serverProcess.js';
import {
	type Client,
	continueUpload,
	type Job,
	newJob,
	Refusal,
	startFailingServer,
	temporaryFolder,
} from './uploading.js';

const ways = ['form', 'chunks', 'checked chunks'] as const;

interface Site {
	server: ServerProcess;
	dataDir: string;
}

async function startSite(t: Teardown, clock?: string): Promise<Site> {
	const dataDir = await temporaryFolder(t);
	return { dataDir, server: await startFailingServer(t, { dataDir, ...(clock === undefined ? {} : { clock }) }) };
}

const shared = fileTeardown();
let site: Promise<Site> | undefined;

/** A user of a server with a correct clock. */
function sharedUser(username: string) {
	site ??= startSite(shared);
	return newUser(site, username);
}

async function newUser(at: Promise<Site>, username: string) {
	const { server, dataDir } = await at;
	const client: Client = { url: server.url, cookie: await server.register(username) };
	return { server, client, home: path.join(dataDir, 'files/users', username) };
}

/**
 * A proxy that cuts each connection after so many uploaded bytes; `Infinity` never. Every second cut is not visible to
 * the server, as when a radio is switched off.
 */
async function cuttingProxy(t: ExecutionContext, server: ServerProcess, bytesUntilCut: () => number) {
	const { hostname, port } = new URL(server.url);
	const sockets = new Set<Socket>();
	let cuts = 0;
	const line = createServer((client) => {
		const up = connect(Number(port), hostname);
		for (const socket of [client, up]) {
			sockets.add(socket);
			socket.on('error', () => {});
		}
		let left = bytesUntilCut();
		client.on('data', (chunk) => {
			if (left <= 0) return;
			up.write(chunk.subarray(0, left));
			left -= chunk.length;
			if (left > 0) return;
			cuts++;
			client.destroy();
			if (cuts % 2 === 0) up.destroy();
		});
		up.on('data', (chunk) => void client.write(chunk));
		up.on('close', () => client.destroy());
		client.on('close', () => {
			if (left > 0) up.destroy();
		});
	});
	await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		for (const socket of sockets) socket.destroy();
		line.close();
	});
	return { url: `http://127.0.0.1:${(line.address() as AddressInfo).port}`, cuts: () => cuts };
}

/** Sends a job until it is done, as often as the connection breaks or another one is writing; resolves to the number of retries. */
async function sendUntilDone(client: Client, job: Job): Promise<number> {
	// Unbounded: an upload that never completes ends with the timeout of the run.
	for (let tries = 0; ; tries++) {
		try {
			await continueUpload(client, job);
			return tries;
		} catch (error) {
			const isPassing = error instanceof TypeError || (error instanceof Refusal && [409, 423].includes(error.status));
			if (!isPassing) throw error;
			await wait(200);
		}
	}
}

/** Cuts at random bytes, visible to the server or not: every upload is stored complete and once. */
export async function cutConnections(t: ExecutionContext, cuts: number): Promise<void> {
	const { server, client, home } = await sharedUser('cut');
	// Some let a whole form of 300 kB pass, or none would arrive before the last cut.
	const line = await cuttingProxy(t, server, () =>
		line.cuts() < cuts ? 1 + Math.random() * 600_000 : Number.POSITIVE_INFINITY,
	);
	const jobs: Job[] = [];
	do {
		const batch = ways.map((way) => newJob(`${jobs.length} ${way}`, 300_000, way));
		jobs.push(...batch);
		await Promise.all(batch.map((job) => sendUntilDone({ ...client, url: line.url }, job)));
	} while (line.cuts() < cuts);
	t.deepEqual((await readdir(home)).sort(), [...jobs.map(({ name }) => name), 'Public'].sort());
	for (const { name, bytes } of jobs) t.true((await readFile(path.join(home, name))).equals(bytes), name);
}

/** The same file from two tabs at once, under one key: it is stored once and complete. */
export async function twoTabs(t: ExecutionContext, times: number): Promise<void> {
	const { client, home } = await sharedUser('tabs');
	for (let time = 0; time < times; time++) {
		for (const way of ways) {
			const job = newJob(`${time} ${way}`, 500_000, way);
			await Promise.all([job, { ...job }].map((tab) => sendUntilDone(client, tab)));
			t.true((await readFile(path.join(home, job.name))).equals(job.bytes), job.name);
		}
	}
	t.is((await readdir(home)).length, 1 + times * ways.length);
}

/** The clock of the server jumps by days and back during uploads: the session may end, no upload does. */
export async function jumpingClock(t: ExecutionContext, times: number): Promise<void> {
	const clock = path.join(await temporaryFolder(t), 'clock');
	await writeFile(clock, '0');
	const { client, home } = await newUser(startSite(t, clock), 'ada');
	const dayMs = 24 * 60 * 60 * 1000;
	for (let time = 0; time < times; time++) {
		const job = newJob(`${time}.bin`, 1_000_000, 'chunks');
		const jumping = (async () => {
			for (const days of [40, -40, 365, 0]) {
				await writeFile(clock, String(days * dayMs));
				await wait(15);
			}
		})();
		for (let tries = 0; !job.isDone && tries < 50; tries++) {
			try {
				await continueUpload(client, job);
			} catch (error) {
				if (!(error instanceof Refusal)) throw error;
				t.is(error.status, 401, error.message);
				client.cookie = await signIn(client.url);
			}
		}
		await jumping;
		t.true(job.isDone, `${job.name} was completed`);
		t.true((await readFile(path.join(home, job.name))).equals(job.bytes));
	}
	t.is((await readdir(home)).length, 1 + times);
}

async function signIn(url: string): Promise<string> {
	const answer = await fetch(`${url}/api/login`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ username: 'ada', password: 'correct horse' }),
	});
	const text = await answer.text();
	if (!answer.ok) throw new Error(`The sign-in was answered ${answer.status}: ${text}`);
	return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}
