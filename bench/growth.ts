import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { openDatabase } from '@stowage/database';
import { processorSeconds } from './measure.js';
import { fetchAll, fetchTimed, send } from './requests.js';
import { emptyFiles, gigabyte, megabyte, writeSource } from './sources.js';
import type { Figure, Survey, Target } from './Workload.js';

/** A processor's clock ticks a hundred times a second, so work is repeated until it took this long. */
const leastMs = 1500;

/**
 * How the server's processor time for one call grows with what there is. The exponent is the slope of its logarithm over
 * that of the size: 1 where each entry or byte costs the same, 0 where a call costs the same however much there is.
 */
export const growth: Survey = {
	name: 'growth',
	async *figures(target) {
		const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
		try {
			yield* ofEntries(target, agent);
			yield* ofBytes(target);
			yield* ofUsers(target, agent);
		} finally {
			agent.destroy();
		}
	},
};

async function* ofEntries({ home, url, cookie, pid, scale }: Target, agent: http.Agent): AsyncGenerator<Figure> {
	const folder = path.join(home, 'growing');
	const headers = { cookie, 'accept-encoding': 'identity' };
	const list: Point[] = [];
	const range: Point[] = [];
	await mkdir(folder);
	let present = 0;
	for (const size of [1_000, 10_000, 100_000, 1_000_000].map((each) => each * scale)) {
		await emptyFiles(folder, size, present);
		present = size;
		const listed = { url: `${url}/api/browse?type=private&directory=growing`, headers };
		list.push({ size, ms: await processorMs(pid, () => fetchTimed(listed, agent)) });
		const downloaded = { url: `${url}/api/download/growing/IMG_000000.jpg?type=private`, headers };
		range.push({ size, ms: await processorMs(pid, () => send(downloaded.url, { method: 'GET', agent, headers })) });
	}
	yield* figuresOf('list of a folder', 'entries', list, 1);
	yield* figuresOf('download from a folder', 'entries', range, 0);
	await rm(folder, { recursive: true });
}

async function* ofBytes({ home, folder, url, cookie, pid, scale }: Target): AsyncGenerator<Figure> {
	const source = path.join(folder, 'growing.bin');
	const uploaded = path.join(home, 'growing.bin');
	const uploads: Point[] = [];
	const downloads: Point[] = [];
	for (const size of [megabyte, 32 * megabyte, gigabyte, 20 * gigabyte].map((each) => Math.round(each * scale))) {
		await writeSource(source, size);
		const upload = async () => {
			await rm(uploaded, { force: true });
			await uploadRaw(`${url}/api/uploads`, cookie, source, size);
		};
		uploads.push({ size, ms: await processorMs(pid, upload) });
		const address = `${url}/api/download/growing.bin?type=private`;
		downloads.push({ size, ms: await processorMs(pid, () => fetchAll({ url: address, headers: { cookie } })) });
	}
	yield* figuresOf('upload', 'bytes', uploads, 1);
	yield* figuresOf('download', 'bytes', downloads, 1);
	await Promise.all([source, uploaded].map((each) => rm(each)));
}

async function* ofUsers({ dataDir, url, cookie, pid, scale }: Target, agent: http.Agent): AsyncGenerator<Figure> {
	const database = await openDatabase(`sqlite:${path.join(dataDir, 'stowage.db')}`);
	const points: Point[] = [];
	let present = 1;
	try {
		for (const size of [1, 100, 10_000 * scale]) {
			for (; present < size; present++) await database.users.add({ username: `user${present}`, secret: 'none' });
			const listed = { url: `${url}/api/browse?type=private`, headers: { cookie } };
			points.push({ size, ms: await processorMs(pid, () => fetchTimed(listed, agent)) });
		}
	} finally {
		await database.close();
	}
	yield* figuresOf('list for one of many users', 'users', points, 0);
}

/** One call of a resumable upload with all bytes in one request. */
async function uploadRaw(endpoint: string, cookie: string, source: string, size: number): Promise<void> {
	const headers = {
		cookie,
		'tus-resumable': '1.0.0',
		'upload-length': String(size),
		'upload-metadata': `filename ${Buffer.from(path.basename(source)).toString('base64')}`,
		'content-type': 'application/offset+octet-stream',
		'content-length': size,
	};
	await new Promise<void>((resolve, reject) => {
		const request = http.request(endpoint, { method: 'POST', headers }, (answer) => {
			answer.resume().on('end', () => {
				if (answer.statusCode === 201) resolve();
				else reject(new Error(`The upload was answered ${answer.statusCode}.`));
			});
		});
		request.on('error', reject);
		createReadStream(source, { highWaterMark: megabyte }).pipe(request);
	});
}

interface Point {
	size: number;
	/** Of the server's processor, for one call. */
	ms: number;
}

/** The processor time of one call, in the mean of as many as take long enough to be measured; the first one does not count. */
async function processorMs(pid: number, call: () => Promise<unknown>): Promise<number> {
	await call();
	const before = await processorSeconds(pid);
	for (let calls = 1; ; calls++) {
		await call();
		const ms = ((await processorSeconds(pid)) - before) * 1000;
		if (ms >= leastMs) return ms / calls;
	}
}

function* figuresOf(name: string, unit: string, points: readonly Point[], aim: number): Generator<Figure> {
	for (const { size, ms } of points)
		yield { name: `${name}, ${size.toLocaleString('en-US')} ${unit}`, value: ms, unit: 'ms' };
	yield { name: `${name}: exponent`, value: slope(points), unit: '', aim };
}

/** By least squares, of the logarithms. */
function slope(points: readonly Point[]): number {
	const logs = points.map(({ size, ms }) => [Math.log(size), Math.log(ms)] as const);
	const mean = (at: 0 | 1) => logs.reduce((sum, log) => sum + log[at], 0) / logs.length;
	const [x, y] = [mean(0), mean(1)];
	const products = logs.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
	return products / logs.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}
