import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type ServerProcess, startServer, type Teardown } from '../serverProcess.js';

/** What the server that can be made to fail is told. */
export interface FailingServer {
	dataDir: string;
	flags?: Record<string, string>;
	/** It dies right after so many files were published. */
	diesAfterCommits?: number;
	/** The file that holds by how much its clock is off. */
	clock?: string;
}

export function startFailingServer(t: Teardown, server: FailingServer): Promise<ServerProcess> {
	const flags = { '--port': '0', '--data-dir': server.dataDir, '--log-level': 'error', ...server.flags };
	const more = [String(server.diesAfterCommits ?? 0), server.clock ?? ''];
	return startServer(t, { args: ['test/faults/programs/serve.js', JSON.stringify(flags), ...more] });
}

export async function temporaryFolder(t: Teardown): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-faults-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** Who uploads where. */
export interface Door {
	url: string;
	cookie: string;
}

/** One file on its way, by a single form or in pieces. It remembers what a client would, and can be sent on at any time. */
export interface Job {
	name: string;
	bytes: Buffer<ArrayBuffer>;
	key: string;
	way: 'form' | 'pieces' | 'checked pieces';
	location?: string;
	/** Bytes that the server said it has. */
	acknowledged: number;
	isDone: boolean;
}

const pieceBytes = 64 * 1024;

export function newJob(name: string, size: number, way: Job['way']): Job {
	const key = randomBytes(16).toString('hex');
	return { name, bytes: randomBytes(size), key, way, acknowledged: 0, isDone: false };
}

/** Sends a job on until it is done. Rejects with a TypeError when the connection breaks, and with an Error for an answer that is none to expect. */
export async function sendOn(door: Door, job: Job): Promise<void> {
	await (job.way === 'form' ? sendForm(door, job) : sendPieces(door, job));
	job.isDone = true;
}

async function sendForm({ url, cookie }: Door, { name, bytes, key }: Job): Promise<void> {
	const form = new FormData();
	form.set('file', new Blob([bytes]), name);
	const headers = { cookie, 'stowage-upload-key': key };
	const answer = await fetch(`${url}/api/upload`, { method: 'POST', body: form, headers });
	const text = await answer.text();
	if (answer.status !== 200) throw new Refusal(`${name} was answered ${answer.status}: ${text}`, answer.status);
	const names = (JSON.parse(text) as { entries: { name: string }[] }).entries.map((entry) => entry.name);
	if (names.join() !== name) throw new Error(`${name} became ${names.join()}`);
}

async function sendPieces(door: Door, job: Job): Promise<void> {
	job.location ??= await create(door, job);
	for (;;) {
		const held = await ask(door, job, 'HEAD');
		if (held.isDone) return;
		if (held.offset < job.acknowledged) throw new Error(`${job.name} has lost bytes that were acknowledged.`);
		let at = held.offset;
		while (at < job.bytes.length) {
			const piece = job.bytes.subarray(at, at + pieceBytes);
			const answer = await ask(door, job, 'PATCH', { at, piece });
			at = answer.offset;
			job.acknowledged = at;
			if (answer.isDone) return;
		}
	}
}

async function create({ url, cookie }: Door, { name, bytes, key }: Job): Promise<string> {
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
	{ url, cookie }: Door,
	{ name, location, way }: Job,
	method: 'HEAD' | 'PATCH',
	body?: { at: number; piece: Buffer<ArrayBuffer> },
): Promise<{ offset: number; isDone: boolean }> {
	const headers: Record<string, string> = { cookie, 'tus-resumable': '1.0.0' };
	if (body !== undefined) {
		headers['content-type'] = 'application/offset+octet-stream';
		headers['upload-offset'] = String(body.at);
		if (way === 'checked pieces') {
			headers['upload-checksum'] = `sha256 ${createHash('sha256').update(body.piece).digest('base64')}`;
		}
	}
	const answer = await fetch(new URL(location ?? '', url), {
		method,
		headers,
		...(body === undefined ? {} : { body: body.piece }),
	});
	const text = await answer.text();
	if (!answer.ok) throw new Refusal(`${name}: ${method} was answered ${answer.status}: ${text}`, answer.status);
	const place = answer.headers.get('stowage-entry-path');
	if (place !== null && decodeURIComponent(place) !== name) throw new Error(`${name} became ${place}`);
	return { offset: Number(answer.headers.get('upload-offset')), isDone: place !== null };
}

/** An answer that says no. */
export class Refusal extends Error {
	constructor(
		message: string,
		readonly status: number,
	) {
		super(message);
	}
}
