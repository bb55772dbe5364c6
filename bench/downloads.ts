import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startNginx } from '../test/nginx.js';
import { ownAddress } from '../test/ownAddress.js';
import { cpuSeconds, medianSeconds, type Row, type Target } from './target.js';
import { writeSource } from './transfer.js';

const run = promisify(execFile);
const runs = 3;
const largeBytes = 2 * 1024 ** 3;
const atOnce = 64;
const mediumBytes = 16 * 1024 ** 2;
const ranges = 1000;
const rangeBytes = 64 * 1024;

/** A server from which curl fetches the files: the URL of a name, and further options. */
interface Source {
	url(name: string): string;
	options: readonly string[];
}

/** Downloads over HTTP, against nginx sending the same files; curl is the client of both. */
export async function downloadRows(target: Target): Promise<Row[]> {
	const folder = path.join(target.home, 'served');
	await mkdir(folder);
	await writeSource(path.join(folder, 'large.bin'));
	const medium = Buffer.alloc(mediumBytes, 'stowage');
	for (let n = 0; n < atOnce; n++) await writeFile(path.join(folder, `${n}.bin`), medium);

	const nginx = await serveByNginx(folder);
	const stowage: Source = {
		url: (name) => `${target.url}/api/download/served/${name}?type=private`,
		options: ['-b', target.cookie],
	};
	const nginxSource: Source = { url: (name) => `${nginx.url}/${name}`, options: [] };
	try {
		const rows: Row[] = [];
		const compare = async (work: string, bar: string, fetch: (source: Source) => Promise<void>, gigabytes?: number) => {
			// A warm-up: both read from the page cache afterwards.
			await fetch(nginxSource);
			const floor = await medianSeconds(runs, () => fetch(nginxSource));
			const before = await cpuSeconds(target.pid);
			const time = await medianSeconds(runs, () => fetch(stowage));
			const cpu = (await cpuSeconds(target.pid)) - before;
			const cost = gigabytes === undefined ? '' : `, ${(cpu / runs / gigabytes).toFixed(2)} CPU s/GB`;
			rows.push({
				work,
				stowage: `${time.toFixed(2)} s`,
				floor: `nginx ${floor.toFixed(2)} s`,
				ratio: floor / time,
				better: 'higher',
				note: `bar ${bar}${cost}`,
			});
		};
		await compare('download 2 GB', '0.50', fetchLarge, largeBytes / 1024 ** 3);
		await compare('64 downloads of 16 MB at once', '1.20', fetchAtOnce, (atOnce * mediumBytes) / 1024 ** 3);
		await compare('1,000 ranges of 64 kB', '0.40', (source) => fetchRanges(source, target.folder));
		return rows;
	} finally {
		await nginx.stop();
		await rm(folder, { recursive: true });
	}
}

async function fetchLarge({ url, options }: Source): Promise<void> {
	await run('curl', ['-sSf', ...options, '-o', '/dev/null', url('large.bin')]);
}

async function fetchAtOnce({ url, options }: Source): Promise<void> {
	const many = url(`[0-${atOnce - 1}].bin`);
	await run('curl', [
		'-sSf',
		'--parallel',
		'--parallel-immediate',
		'--parallel-max',
		String(atOnce),
		...options,
		'-o',
		'/dev/null',
		many,
	]);
}

/** One after another over one connection, as a player that seeks requests them. */
async function fetchRanges({ url, options }: Source, folder: string): Promise<void> {
	const list = path.join(folder, 'ranges.txt');
	const [, cookie] = options;
	const requests = Array.from({ length: ranges }, (_, index) => {
		const start = (index * 7919 * 4096) % (mediumBytes - rangeBytes);
		return [
			`url = "${url('0.bin')}"`,
			`range = "${start}-${start + rangeBytes - 1}"`,
			'output = "/dev/null"',
			...(cookie === undefined ? [] : [`cookie = "${cookie}"`]),
		].join('\n');
	});
	await writeFile(list, requests.join('\nnext\n'));
	await run('curl', ['-sSf', '-K', list]);
}

/** nginx with sendfile over one folder. */
async function serveByNginx(folder: string): Promise<{ url: string; stop(): Promise<void> }> {
	const address = `${ownAddress()}:7421`;
	const { stop } = await startNginx(
		address,
		`sendfile on; tcp_nopush on; keepalive_requests 100000; server { listen ${address}; root ${folder}; }`,
	);
	return { url: `http://${address}`, stop };
}
