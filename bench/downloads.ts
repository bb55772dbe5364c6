import { mkdir, rm } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { serveFolder } from './nginxFolder.js';
import { fetchAll, fetchTimed, type Source } from './requests.js';
import { gigabyte, megabyte, sized, writeSource } from './sources.js';
import type { Suite } from './Workload.js';

const largeBytes = 2 * gigabyte;
const mediumFiles = 64;
const mediumBytes = 16 * megabyte;
const ranges = 1_000;
const rangeBytes = 256 * 1024;
const seeks = 500;

/** Downloads over HTTP, against nginx with sendfile, which sends the same files. */
export const downloads: Suite = {
	name: 'downloads',
	async *workloads({ home, url, cookie, scale }) {
		const folder = path.join(home, 'served');
		await mkdir(folder);
		const bytes = Math.round((largeBytes * scale) / megabyte) * megabyte;
		await writeSource(path.join(folder, 'large.bin'), bytes);
		for (let n = 0; n < mediumFiles; n++) await writeSource(path.join(folder, `${n}.bin`), mediumBytes);
		const nginx = await serveFolder(folder);
		const own = (name: string): Source => ({
			url: `${url}/api/download/served/${name}?type=private`,
			headers: { cookie },
		});
		const other = (name: string): Source => ({ url: `${nginx.url}/${name}`, headers: {} });
		const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
		const both = <T>(run: (source: (name: string) => Source) => Promise<T>) => ({
			reference: { name: 'nginx', run: () => run(other) },
			stowage: () => run(own),
			end: async () => {},
		});
		try {
			const all = `[0-${mediumFiles - 1}].bin`;
			yield {
				name: `download ${sized(bytes)}`,
				by: 'time',
				amount: { count: bytes / gigabyte, unit: 'GB' },
				...both((source) => fetchAll(source('large.bin'))),
			};
			yield {
				name: '64 downloads of 16 MB at once',
				by: 'time',
				amount: { count: (mediumFiles * mediumBytes) / gigabyte, unit: 'GB' },
				...both((source) => fetchAll(source(all), mediumFiles)),
			};
			yield {
				name: 'the first byte of each of 64 downloads at once',
				by: 'latency',
				amount: { count: mediumFiles, unit: 'request' },
				...both(async (source) => {
					const many = new http.Agent({ keepAlive: true, maxSockets: mediumFiles });
					const names = Array.from({ length: mediumFiles }, (_, n) => `${n}.bin`);
					const times = await Promise.all(names.map((name) => fetchTimed(source(name), many)));
					many.destroy();
					return times.map(({ first }) => first);
				}),
			};
			const count = Math.round(ranges * scale);
			yield {
				name: `${count.toLocaleString('en-US')} ranges of 256 kB`,
				by: 'latency',
				amount: { count, unit: 'request' },
				...both(async (source) => {
					const ms: number[] = [];
					for (let n = 0; n < count; n++) {
						const start = (n * 7919 * 4096) % (mediumBytes - rangeBytes);
						const range = `bytes=${start}-${start + rangeBytes - 1}`;
						const { whole, bytes } = await fetchTimed(source('0.bin'), agent, { extra: { range } });
						if (bytes !== rangeBytes) throw new Error(`A range has ${bytes} bytes.`);
						ms.push(whole);
					}
					return ms;
				}),
			};
			const dropped = Math.round(seeks * scale);
			yield {
				name: 'a seek in a film: an open range, dropped after its first bytes',
				by: 'latency',
				amount: { count: dropped, unit: 'request' },
				...both(async (source) => {
					const ms: number[] = [];
					for (let n = 0; n < dropped; n++) {
						const range = `bytes=${(n * 7919 * 4096) % (bytes / 2)}-`;
						ms.push((await fetchTimed(source('large.bin'), agent, { isDropped: true, extra: { range } })).first);
					}
					return ms;
				}),
			};
		} finally {
			agent.destroy();
			await nginx.stop();
			await rm(folder, { recursive: true });
		}
	},
};
