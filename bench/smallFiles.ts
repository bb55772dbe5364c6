import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { cpuSeconds, type Row, seconds, type Target } from './target.js';

const files = 5_000;
const bytes = 10_000;

/** Many small files up, one after another and four at once, against writing each with an fsync. */
export async function smallFileRows(target: Target): Promise<Row[]> {
	const rows: Row[] = [];
	for (const lanes of [1, 4]) {
		for (const isKeyed of [false, true]) rows.push(await smallFileRow(target, lanes, isKeyed));
	}
	return rows;
}

async function smallFileRow(target: Target, lanes: number, isKeyed: boolean): Promise<Row> {
	const name = `small-${lanes}-${isKeyed ? 'keyed' : 'plain'}`;
	const content = randomBytes(bytes);
	const floorFolder = path.join(target.folder, name);
	await mkdir(floorFolder);
	const floor = await seconds(() =>
		inLanes(lanes, async (n) => {
			const file = await open(path.join(floorFolder, `${n}.bin`), 'wx');
			await file.write(content);
			await file.sync();
			await file.close();
		}),
	);
	await rm(floorFolder, { recursive: true });

	const folder = path.join(target.home, name);
	await mkdir(folder);
	const agent = new http.Agent({ keepAlive: true, maxSockets: lanes });
	const cpuBefore = await cpuSeconds(target.pid);
	const stowage = await seconds(() => inLanes(lanes, (n) => upload(target, agent, name, n, content, isKeyed)));
	const cpu = (await cpuSeconds(target.pid)) - cpuBefore;
	agent.destroy();
	if ((await readdir(folder)).length !== files) throw new Error('Some of the small files are missing.');
	await rm(folder, { recursive: true });
	return {
		work: `upload 5,000 files of 10 kB, ${lanes === 1 ? 'one after another' : 'four at once'}${isKeyed ? ', with keys' : ''}`,
		stowage: `${(files / stowage).toFixed(0)} files/s`,
		floor: `write and fsync ${(files / floor).toFixed(0)} files/s`,
		ratio: floor / stowage,
		better: 'higher',
		note: `${((cpu / files) * 1000).toFixed(2)} CPU ms a file`,
	};
}

async function inLanes(lanes: number, work: (n: number) => Promise<void>): Promise<void> {
	let next = 0;
	const lane = async () => {
		while (next < files) await work(next++);
	};
	await Promise.all(Array.from({ length: lanes }, lane));
}

async function upload(
	{ url, cookie }: Target,
	agent: http.Agent,
	folder: string,
	n: number,
	content: Buffer,
	isKeyed: boolean,
): Promise<void> {
	const field = (name: string, value: string) =>
		`--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
	const head = `${field('type', 'private')}${field('directory', folder)}--x\r\nContent-Disposition: form-data; name="file"; filename="${n}.bin"\r\n\r\n`;
	const body = Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--x--\r\n')]);
	const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
		const request = http.request(`${url}/api/upload`, {
			agent,
			method: 'POST',
			headers: {
				cookie,
				'content-type': 'multipart/form-data; boundary=x',
				'content-length': body.length,
				...(isKeyed ? { 'stowage-upload-key': randomBytes(16).toString('hex') } : {}),
			},
		});
		request.on('response', resolve).on('error', reject);
		request.end(body);
	});
	const text = await buffer(answer);
	if (answer.statusCode !== 200) throw new Error(`A small file was answered ${answer.statusCode}: ${text}`);
}
