import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { until } from '../packages/core/test/until.js';
import { plainArgs, type ServerProcess, startServer } from './serverProcess.js';

const tus = { 'tus-resumable': '1.0.0' };

/** More than any machine sends at once, so that the rest is sent later. */
export const fileBytes = 3 * 1024 * 1024;

export interface Pair {
	one: ServerProcess;
	two: ServerProcess;
	cookie: string;
	files: string;
	/** Another process over the same database and files. */
	start(): Promise<ServerProcess>;
}

/** Two server processes over one database and one data folder, with a user signed in to both. */
export async function serverPair(
	t: ExecutionContext,
	{ database, more = [] }: { database?: string | undefined; more?: readonly string[] } = {},
): Promise<Pair> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-pair-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const rest = [...more, ...(database === undefined ? [] : ['--database-url', database])];
	const start = () => startServer(t, { args: plainArgs(folder, '--log-level', 'error', ...rest) });
	const one = await start();
	const two = await start();
	return { one, two, start, cookie: await one.register('ada'), files: path.join(folder, 'files') };
}

/** A file that is uploaded by tus, with requests to any of the processes. */
export class TusUpload {
	readonly bytes = randomBytes(fileBytes);
	#location = '';

	constructor(
		readonly pair: Pair,
		readonly name: string,
	) {}

	async create(): Promise<this> {
		const answer = await this.#send('POST', this.pair.one, '/api/uploads', {
			'upload-length': String(fileBytes),
			'upload-metadata': `filename ${Buffer.from(this.name).toString('base64')}`,
		});
		if (answer.status !== 201) throw new Error(`create: ${answer.status} ${await answer.text()}`);
		this.#location = answer.headers.get('location') ?? '';
		return this;
	}

	head(server: ServerProcess): Promise<Response> {
		return this.#send('HEAD', server, this.#location);
	}

	remove(server: ServerProcess): Promise<Response> {
		return this.#send('DELETE', server, this.#location);
	}

	patch(server: ServerProcess, offset: number): Promise<Response> {
		const headers = { 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' };
		return this.#send('PATCH', server, this.#location, headers, this.bytes.subarray(offset));
	}

	/** Sends a part of the announced body, and then nothing; resolves once the bytes are in staging. */
	async sendPart(server: ServerProcess, bytes: number): Promise<ClientRequest & { hasEnded: Promise<void> }> {
		const { hostname, port } = new URL(server.url);
		const sent = request({
			...{ hostname, port, path: this.#location, method: 'PATCH', agent: false },
			headers: {
				...tus,
				cookie: this.pair.cookie,
				'upload-offset': '0',
				'content-type': 'application/offset+octet-stream',
				'content-length': String(fileBytes),
			},
		});
		const hasEnded = new Promise<void>((resolve) => {
			sent.on('error', () => resolve());
			sent.on('close', () => resolve());
			sent.on('response', (response) => response.resume());
		});
		sent.write(this.bytes.subarray(0, bytes));
		const staging = path.join(this.pair.files, '.stowage/staging');
		const sizeOf = async (name: string) => (await stat(path.join(staging, name)).catch(() => undefined))?.size;
		await until('the part is in staging', async () =>
			(await Promise.all((await readdir(staging)).map(sizeOf))).includes(bytes),
		);
		return Object.assign(sent, { hasEnded });
	}

	/**
	 * Continues at a process like a client that honours Retry-After. Resolves to the offset at which it continued, and
	 * how long that took.
	 */
	async resume(server: ServerProcess): Promise<{ offset: number; ms: number }> {
		const begun = performance.now();
		const refusals: number[] = [];
		for (;;) {
			const known = await this.head(server);
			if (known.status !== 200) throw new Error(`HEAD: ${known.status}`);
			const offset = Number(known.headers.get('upload-offset'));
			const answer = await this.patch(server, offset);
			if (answer.status === 204) return { offset, ms: performance.now() - begun };
			refusals.push(answer.status);
			// Bytes of the other connection were stored meanwhile.
			if (answer.status === 409) continue;
			if (answer.status !== 423) throw new Error(`PATCH: ${refusals.join(' ')} ${await answer.text()}`);
			const seconds = Number(answer.headers.get('retry-after'));
			if (!(seconds > 0)) throw new Error('423 without Retry-After');
			await wait(seconds * 1000);
		}
	}

	/** Asserts that the file exists once, with its bytes. */
	async assertWhole(t: ExecutionContext): Promise<void> {
		const home = path.join(this.pair.files, 'users/ada');
		const stem = this.name.split('.')[0] ?? '';
		t.deepEqual(
			(await readdir(home)).filter((name) => name.startsWith(stem)),
			[this.name],
		);
		t.true((await readFile(path.join(home, this.name))).equals(this.bytes), 'the file has the bytes that were sent');
	}

	#send(
		method: string,
		{ url }: ServerProcess,
		location: string,
		headers: Record<string, string> = {},
		body?: Buffer,
	): Promise<Response> {
		const init: RequestInit = { method, headers: { ...tus, cookie: this.pair.cookie, ...headers } };
		if (body !== undefined) init.body = new Uint8Array(body);
		return fetch(`${url}${location}`, init);
	}
}

/** Names in staging, except those of other calls. */
export async function staged({ files }: Pair): Promise<string[]> {
	return (await readdir(path.join(files, '.stowage/staging'))).filter((name) => /^[0-9a-f]{32}$/.test(name));
}

/** The client was cut off: its connection stays open and sends nothing. */
export async function takeOverSilent(t: ExecutionContext, pair: Pair, name: string): Promise<number> {
	const upload = await new TusUpload(pair, name).create();
	const part = 1_000_000;
	const silent = await upload.sendPart(pair.one, part);
	const { offset, ms } = await upload.resume(pair.two);
	t.is(offset, part, 'the bytes of the other process are kept');
	await silent.hasEnded;
	await upload.assertWhole(t);
	t.deepEqual(await staged(pair), []);
	return ms;
}

/** The process is stopped in the middle, and continues after its upload has been completed elsewhere. */
export async function takeOverStopped(t: ExecutionContext, pair: Pair, name: string): Promise<number> {
	const upload = await new TusUpload(pair, name).create();
	const sent = await upload.sendPart(pair.one, 1_000_000);
	process.kill(pair.one.pid, 'SIGSTOP');
	// The system holds these for the process, which reads them when it continues.
	sent.write(Buffer.alloc(100_000, 'late'));
	try {
		const { ms } = await upload.resume(pair.two);
		await upload.assertWhole(t);
		return ms;
	} finally {
		process.kill(pair.one.pid, 'SIGCONT');
		await sent.hasEnded;
		await upload.assertWhole(t);
		t.deepEqual(await staged(pair), []);
		// One that stood still for long answers 503 until it has its own leases again.
		const known = await until('the process serves again', async () => {
			const answer = await upload.head(pair.one);
			return answer.status === 503 ? undefined : answer;
		});
		t.is(known?.headers.get('stowage-entry-path'), name);
	}
}

/** The process is killed in the middle; resolves with the pair as it is after that. */
export async function takeOverKilled(t: ExecutionContext, pair: Pair, name: string): Promise<number> {
	const upload = await new TusUpload(pair, name).create();
	const sent = await upload.sendPart(pair.one, 1_000_000);
	await pair.one.stop('SIGKILL');
	await sent.hasEnded;
	const { ms } = await upload.resume(pair.two);
	await upload.assertWhole(t);
	t.deepEqual(await staged(pair), []);
	return ms;
}

/** Visitors begin more uploads than allowed, at both processes at once. */
export async function beginTooMany(t: ExecutionContext, { one, two }: Pair, most: number): Promise<void> {
	const begin = async ({ url }: ServerProcess, n: number) => {
		const headers = {
			...tus,
			'upload-length': '10',
			'upload-metadata': `filename ${Buffer.from(`visitor ${n}`).toString('base64')}`,
		};
		return fetch(`${url}/api/uploads`, { method: 'POST', headers });
	};
	const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => begin(n % 2 === 0 ? one : two, n)));
	t.deepEqual(
		answers.map(({ status }) => status).toSorted((a, b) => a - b),
		Array.from({ length: 12 }, (_, n) => (n < most ? 201 : 429)),
	);
	for (const { headers } of answers) {
		const location = headers.get('location');
		if (location !== null) await fetch(`${one.url}${location}`, { method: 'DELETE', headers: tus });
	}
}
