import { createReadStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { cpuSeconds, peakMemory, type Row, seconds, type Target } from './target.js';

const bytes = 2 * 1024 ** 3;
const megabyte = 1024 ** 2;

/** One large file up and down, against copying it on the disk with an fsync at the end. */
export async function transferRows(target: Target): Promise<Row[]> {
	const source = path.join(target.folder, 'source.bin');
	await writeSource(source);
	const copy = path.join(target.folder, 'copy.bin');
	const floor = await seconds(() => copyDurably(source, copy));

	const cpuBefore = await cpuSeconds(target.pid);
	const up = await seconds(() => upload(target, source));
	const uploaded = path.join(target.home, 'source.bin');
	if ((await stat(uploaded)).size !== bytes) throw new Error('The upload is not whole.');
	const cpuUp = await cpuSeconds(target.pid);
	const readFloor = await seconds(() => pipeline(createReadStream(uploaded, { highWaterMark: megabyte }), drain));
	const down = await seconds(() => download(target, 'source.bin'));
	const cpuDown = await cpuSeconds(target.pid);
	const memory = await peakMemory(target.pid);
	await Promise.all([rm(source), rm(copy), rm(uploaded)]);

	const gigabytes = bytes / 1024 ** 3;
	return [
		{
			work: 'upload 2 GB, durable',
			stowage: speed(up),
			floor: `copy and fsync ${speed(floor)}`,
			ratio: floor / up,
			better: 'higher',
			note: `${((cpuUp - cpuBefore) / gigabytes).toFixed(2)} CPU s/GB`,
		},
		{
			work: 'download 2 GB, read by Node',
			stowage: speed(down),
			floor: `read ${speed(readFloor)}`,
			ratio: readFloor / down,
			better: 'higher',
			note: `${((cpuDown - cpuUp) / gigabytes).toFixed(2)} CPU s/GB`,
		},
		{
			work: 'server memory at its peak',
			stowage: `${(memory / megabyte).toFixed(0)} MB`,
			floor: 'bar 200 MB',
			ratio: memory / (200 * megabyte),
			better: 'lower',
		},
	];
}

const speed = (time: number) => `${(bytes / megabyte / time).toFixed(0)} MB/s`;

export async function writeSource(file: string): Promise<void> {
	const handle = await open(file, 'w');
	const chunk = Buffer.alloc(megabyte);
	for (let at = 0; at < chunk.length; at += 4) chunk.writeUInt32LE((at * 2654435761) >>> 0, at);
	for (let written = 0; written < bytes; written += chunk.length) await handle.write(chunk);
	await handle.sync();
	await handle.close();
}

export async function copyDurably(from: string, to: string): Promise<void> {
	const target = await open(to, 'w');
	for await (const chunk of createReadStream(from, { highWaterMark: megabyte })) await target.write(chunk);
	await target.sync();
	await target.close();
}

async function drain(source: AsyncIterable<Buffer>): Promise<void> {
	for await (const _chunk of source);
}

async function upload({ url, cookie }: Target, source: string): Promise<void> {
	const boundary = 'stowage-bench';
	const head = Buffer.from(
		`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="source.bin"\r\n\r\n`,
	);
	const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
	const request = http.request(`${url}/api/upload`, {
		method: 'POST',
		headers: {
			cookie,
			'content-type': `multipart/form-data; boundary=${boundary}`,
			'content-length': head.length + bytes + tail.length,
		},
	});
	const answered = new Promise<http.IncomingMessage>((resolve, reject) =>
		request.on('response', resolve).on('error', reject),
	);
	request.write(head);
	await pipeline(createReadStream(source, { highWaterMark: megabyte }), request, { end: false });
	request.end(tail);
	const answer = await answered;
	await drain(answer);
	if (answer.statusCode !== 200) throw new Error(`The upload was answered ${answer.statusCode}.`);
}

async function download({ url, cookie }: Target, name: string): Promise<void> {
	const answer = await new Promise<http.IncomingMessage>((resolve, reject) =>
		http.get(`${url}/api/download/${name}?type=private`, { headers: { cookie } }, resolve).on('error', reject),
	);
	let received = 0;
	for await (const chunk of answer) received += chunk.length;
	if (received !== bytes) throw new Error(`The download has ${received} bytes.`);
}
