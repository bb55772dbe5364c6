import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type ServerProcess, startServer, type Teardown } from '../serverProcess.js';

/** The options of the server that can be made to fail. */
export interface FailingServer {
	dataDir: string;
	flags?: Record<string, string>;
	/** It kills itself right after so many files were published. */
	diesAfterCommits?: number;
	/** The file with the offset of its clock in milliseconds. */
	clock?: string;
	/** It kills itself right after so many files were replaced. */
	diesAfterReplacements?: number;
}

export function startFailingServer(t: Teardown, server: FailingServer): Promise<ServerProcess> {
	const flags = { '--port': '0', '--data-dir': server.dataDir, '--log-level': 'error', ...server.flags };
	const more = [String(server.diesAfterCommits ?? 0), server.clock ?? '', String(server.diesAfterReplacements ?? 0)];
	return startServer(t, { args: ['test/faults/programs/serve.js', JSON.stringify(flags), ...more] });
}

export async function temporaryFolder(t: Teardown): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-faults-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** The server and the cookie of a client. */
export interface Client {
	url: string;
	cookie: string;
}

/** The upload of one file, by a single form or in chunks. It has the state that a client keeps, and can be continued at any time. */
export interface Job {
	name: string;
	bytes: Buffer<ArrayBuffer>;
	key: string;
	way: 'form' | 'chunks' | 'checked chunks';
	location?: string;
	/** Bytes that the server has acknowledged. */
	acknowledged: number;
	isDone: boolean;
}

const chunkBytes = 64 * 1024;

export function newJob(name: string, size: number, way: Job['way']): Job {
	const key = randomBytes(16).toString('hex');
	return { name, bytes: randomBytes(size), key, way, acknowledged: 0, isDone: false };
}

/** Continues a job until it is done. Rejects with a TypeError when the connection breaks, and with an Error for an unexpected answer. */
export async function continueUpload(client: Client, job: Job): Promise<void> {
	await (job.way === 'form' ? sendForm(client, job) : sendChunks(client, job));
	job.isDone = true;
}

async function sendForm({ url, cookie }: Client, { name, bytes, key }: Job): Promise<void> {
	const form = new FormData();
	form.set('file', new Blob([bytes]), name);
	const headers = { cookie, 'stowage-upload-key': key };
	const answer = await fetch(`${url}/api/upload`, { method: 'POST', body: form, headers });
	const text = await answer.text();
	if (answer.status !== 200) throw new Refusal(`${name} was answered ${answer.status}: ${text}`, answer.status);
	const names = (JSON.parse(text) as { entries: { name: string }[] }).entries.map((entry) => entry.name);
	if (names.join() !== name) throw new Error(`${name} became ${names.join()}`);
}

async function sendChunks(client: Client, job: Job): Promise<void> {
	job.location ??= await create(client, job);
	for (;;) {
		const held = await ask(client, job, 'HEAD');
		if (held.isDone) return;
		if (held.offset < job.acknowledged) throw new Error(`${job.name} has lost bytes that were acknowledged.`);
		let at = held.offset;
		while (at < job.bytes.length) {
			const chunk = job.bytes.subarray(at, at + chunkBytes);
			const answer = await ask(client, job, 'PATCH', { at, chunk });
			at = answer.offset;
			job.acknowledged = at;
			if (answer.isDone) return;
		}
	}
}

async function create({ url, cookie }: Client, { name, bytes, key }: Job): Promise<string> {
	const answer = await fetch(`${url}/api/uploads`, {
		method: 'POST',
		headers: {
			cookie,
			'tus-resumable': '1.0.0',
			'stowage-upload-key': key,
			'upload-length': String(bytes.length),
			'upload-metadata': `filename ${Buffer.from(name).toString('base64')}`,
		},
	});
	const text = await answer.text();
	if (answer.status !== 201) throw new Refusal(`${name} was answered ${answer.status}: ${text}`, answer.status);
	return String(answer.headers.get('location'));
}

async function ask(
	{ url, cookie }: Client,
	{ name, location, way }: Job,
	method: 'HEAD' | 'PATCH',
	body?: { at: number; chunk: Buffer<ArrayBuffer> },
): Promise<{ offset: number; isDone: boolean }> {
	const headers: Record<string, string> = { cookie, 'tus-resumable': '1.0.0' };
	if (body !== undefined) {
		headers['content-type'] = 'application/offset+octet-stream';
		headers['upload-offset'] = String(body.at);
		if (way === 'checked chunks') {
			headers['upload-checksum'] = `sha256 ${createHash('sha256').update(body.chunk).digest('base64')}`;
		}
	}
	const answer = await fetch(new URL(location ?? '', url), {
		method,
		headers,
		...(body === undefined ? {} : { body: body.chunk }),
	});
	const text = await answer.text();
	if (!answer.ok) throw new Refusal(`${name}: ${method} was answered ${answer.status}: ${text}`, answer.status);
	const place = answer.headers.get('stowage-entry-path');
	if (place !== null && decodeURIComponent(place) !== name) throw new Error(`${name} became ${place}`);
	return { offset: Number(answer.headers.get('upload-offset')), isDone: place !== null };
}

/** An answer that is a refusal. */
export class Refusal extends Error {
	constructor(
		message: string,
		readonly status: number,
	) {
		super(message);
	}
}
