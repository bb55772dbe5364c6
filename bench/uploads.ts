import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { send } from './requests.js';
import { gigabyte, inLanes, megabyte, sized, writeSource } from './sources.js';
import type { Suite, Target, Workload } from './Workload.js';

const run = promisify(execFile);
const largeBytes = 2 * gigabyte;
const chunkBytes = 8 * megabyte;
const smallFiles = 5_000;
const smallBytes = 10_000;

export const uploads: Suite = {
	name: 'uploads',
	async *workloads(target) {
		const bytes = Math.round((largeBytes * target.scale) / megabyte) * megabyte;
		yield await largeUpload(target, bytes, `upload ${sized(bytes)} by form`, byForm);
		yield await largeUpload(target, bytes, `upload ${sized(bytes)} in chunks of 8 MB with SHA-256`, inChunks);
		for (const lanes of [1, 4]) yield await smallUploads(target, lanes, Math.round(smallFiles * target.scale));
	},
};

/** One large file, against copying it on the disk and syncing it. */
async function largeUpload(
	target: Target,
	bytes: number,
	name: string,
	upload: (target: Target, source: string) => Promise<void>,
): Promise<Workload> {
	const source = path.join(target.folder, 'source.bin');
	const copy = path.join(target.folder, 'copy.bin');
	const uploaded = path.join(target.home, 'source.bin');
	await writeSource(source, bytes);
	return {
		name,
		amount: { count: bytes / gigabyte, unit: 'GB' },
		by: 'time',
		reference: {
			name: 'dd with fsync',
			run: async () => void (await run('dd', [`if=${source}`, `of=${copy}`, 'bs=1M', 'conv=fsync', 'status=none'])),
		},
		async stowage() {
			await upload(target, source);
			if ((await stat(uploaded)).size !== bytes) throw new Error('The upload is not whole.');
		},
		async reset() {
			await Promise.all([rm(copy, { force: true }), rm(uploaded, { force: true })]);
		},
		end: () => rm(source),
	};
}

async function byForm({ url, cookie }: Target, source: string): Promise<void> {
	const { size } = await stat(source);
	const head = Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filename="source.bin"\r\n\r\n');
	const tail = Buffer.from('\r\n--x--\r\n');
	const headers = {
		cookie,
		'content-type': 'multipart/form-data; boundary=x',
		'content-length': head.length + size + tail.length,
	};
	const request = http.request(`${url}/api/upload`, { method: 'POST', headers });
	const answered = new Promise<http.IncomingMessage>((resolve, reject) =>
		request.on('response', resolve).on('error', reject),
	);
	request.write(head);
	await pipeline(createReadStream(source, { highWaterMark: megabyte }), request, { end: false });
	request.end(tail);
	const answer = await answered;
	answer.resume();
	if (answer.statusCode !== 200) throw new Error(`The upload was answered ${answer.statusCode}.`);
}

/** Like a client that reads and hashes the next chunk while one is sent. */
async function inChunks({ url, cookie }: Target, source: string): Promise<void> {
	const { size } = await stat(source);
	const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
	const own = { cookie, 'tus-resumable': '1.0.0' };
	const created = await send(`${url}/api/uploads`, {
		method: 'POST',
		agent,
		headers: {
			...own,
			'upload-length': String(size),
			'upload-metadata': `filename ${Buffer.from('source.bin').toString('base64')}`,
		},
	});
	const location = new URL(String(created.headers.location), url).href;
	const file = await open(source);
	const prepare = async (at: number) => {
		const body = Buffer.allocUnsafe(Math.min(chunkBytes, size - at));
		await file.read(body, 0, body.length, at);
		return { body, checksum: createHash('sha256').update(body).digest('base64') };
	};
	let next = prepare(0);
	for (let at = 0; at < size; at += chunkBytes) {
		const { body, checksum } = await next;
		if (at + chunkBytes < size) next = prepare(at + chunkBytes);
		const headers = {
			...own,
			'content-type': 'application/offset+octet-stream',
			'upload-offset': String(at),
			'upload-checksum': `sha256 ${checksum}`,
		};
		await send(location, { method: 'PATCH', agent, headers, body });
	}
	await file.close();
	agent.destroy();
}

/** Many small files, against writing each with an fsync. */
async function smallUploads(target: Target, lanes: number, count: number): Promise<Workload> {
	const written = path.join(target.folder, 'small');
	const uploaded = path.join(target.home, 'small');
	const agent = new http.Agent({ keepAlive: true, maxSockets: lanes });
	const content = randomBytes(smallBytes);
	const reset = async () => {
		for (const folder of [written, uploaded]) {
			await rm(folder, { recursive: true, force: true });
			await mkdir(folder);
		}
	};
	await reset();
	return {
		name: `upload ${count.toLocaleString('en-US')} files of 10 kB, ${lanes === 1 ? 'one after another' : 'four at once'}`,
		amount: { count, unit: 'file' },
		by: 'time',
		reference: {
			name: 'write and fsync',
			run: () =>
				inLanes(lanes, count, async (n) => {
					const file = await open(path.join(written, `${n}.bin`), 'wx');
					await file.write(content);
					await file.sync();
					await file.close();
				}),
		},
		async stowage() {
			await inLanes(lanes, count, (n) => uploadSmall(target, agent, `${n}.bin`, content));
			if ((await readdir(uploaded)).length !== count) throw new Error('Some of the small files are missing.');
		},
		reset,
		async end() {
			agent.destroy();
			for (const folder of [written, uploaded]) await rm(folder, { recursive: true });
		},
	};
}

async function uploadSmall({ url, cookie }: Target, agent: http.Agent, name: string, content: Buffer): Promise<void> {
	const field = (name: string, value: string) =>
		`--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
	const head = `${field('type', 'private')}${field('directory', 'small')}--x\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
	const body = Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--x--\r\n')]);
	const headers = { cookie, 'content-type': 'multipart/form-data; boundary=x' };
	await send(`${url}/api/upload`, { method: 'POST', agent, headers, body });
}
