import { createHash } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { cpuSeconds, peakMemory, type Row, seconds, type Target } from './target.js';
import { copyDurably, writeSource } from './transfer.js';

const chunkBytes = 8 * 1024 ** 2;
const megabyte = 1024 ** 2;

/** One large file in chunks with checksums, each durable before the next, against copying it on the disk with an fsync at the end. */
export async function chunkRows(target: Target): Promise<Row[]> {
	const source = path.join(target.folder, 'source.bin');
	await writeSource(source);
	const { size } = await stat(source);
	const copy = path.join(target.folder, 'copy.bin');
	const floor = await seconds(() => copyDurably(source, copy));
	await rm(copy);
	const cpuBefore = await cpuSeconds(target.pid);
	const stowage = await seconds(() => upload(target, source, size));
	const cpu = (await cpuSeconds(target.pid)) - cpuBefore;
	const uploaded = path.join(target.home, 'chunks.bin');
	if ((await stat(uploaded)).size !== size) throw new Error('The upload in chunks is not whole.');
	await Promise.all([rm(source), rm(uploaded)]);
	const speed = (time: number) => `${(size / megabyte / time).toFixed(0)} MB/s`;
	const memory = await peakMemory(target.pid);
	return [
		{
			work: 'upload 2 GB in chunks of 8 MB with SHA-256',
			stowage: speed(stowage),
			floor: `copy and fsync ${speed(floor)}`,
			ratio: floor / stowage,
			better: 'higher',
			note: `${((cpu / size) * 1024 ** 3).toFixed(2)} CPU s/GB, ${(memory / megabyte).toFixed(0)} MB at its peak`,
		},
	];
}

async function upload(target: Target, source: string, size: number): Promise<void> {
	const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
	const created = await send(target, agent, 'POST', '/api/uploads', {
		'upload-length': String(size),
		'upload-metadata': `filename ${Buffer.from('chunks.bin').toString('base64')}`,
	});
	const location = String(created.headers.location);
	const file = await open(source);
	// Like a client that reads and hashes the next chunk while one is sent.
	const prepare = async (at: number) => {
		const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size - at));
		await file.read(chunk, 0, chunk.length, at);
		return { chunk, checksum: createHash('sha256').update(chunk).digest('base64') };
	};
	let next = prepare(0);
	for (let at = 0; at < size; at += chunkBytes) {
		const { chunk, checksum } = await next;
		if (at + chunkBytes < size) next = prepare(at + chunkBytes);
		const headers = {
			'content-type': 'application/offset+octet-stream',
			'upload-offset': String(at),
			'upload-checksum': `sha256 ${checksum}`,
		};
		await send(target, agent, 'PATCH', location, headers, chunk);
	}
	await file.close();
	agent.destroy();
}

async function send(
	{ url, cookie }: Target,
	agent: http.Agent,
	method: string,
	address: string,
	headers: Record<string, string>,
	body = Buffer.alloc(0),
): Promise<http.IncomingMessage> {
	const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
		const request = http.request(new URL(address, url), {
			agent,
			method,
			headers: { cookie, 'tus-resumable': '1.0.0', 'content-length': body.length, ...headers },
		});
		request.on('response', resolve).on('error', reject);
		request.end(body);
	});
	const text = await buffer(answer);
	if ((answer.statusCode ?? 0) >= 300) throw new Error(`${method} was answered ${answer.statusCode}: ${text}`);
	return answer;
}
