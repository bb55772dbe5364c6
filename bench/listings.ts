import { mkdir, rm } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { serveFolder } from './nginxFolder.js';
import { fetchTimed, type Source } from './requests.js';
import { emptyFiles } from './sources.js';
import type { Suite, Workload } from './Workload.js';

/** How often one run lists each folder. */
const repeats: readonly (readonly [entries: number, times: number])[] = [
	[1_000, 20],
	[10_000, 5],
	[100_000, 1],
];

/** Folders of files as JSON over HTTP, against nginx's lists of names, types, sizes and times. */
export const listings: Suite = {
	name: 'listings',
	async *workloads({ home, url, cookie, scale }) {
		const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
		for (const [most, times] of repeats) {
			const entries = Math.round(most * scale);
			const folder = path.join(home, 'many');
			await mkdir(folder);
			await emptyFiles(folder, entries);
			const nginx = await serveFolder(home);
			const own: Source = {
				url: `${url}/api/browse?type=private&directory=many`,
				headers: { cookie, 'accept-encoding': 'identity' },
			};
			const other: Source = { url: `${nginx.url}/many/`, headers: {} };
			const list = async (source: Source, part: 'first' | 'whole') => {
				const ms: number[] = [];
				for (let n = 0; n < times; n++) {
					const timed = await fetchTimed(source, agent);
					if (timed.bytes < entries * 30) throw new Error('The list is not whole.');
					ms.push(timed[part]);
				}
				return ms;
			};
			const count = entries.toLocaleString('en-US');
			const workload = (name: string, part: 'first' | 'whole'): Workload => ({
				name,
				amount: { count: entries * times, unit: 'entry' },
				by: 'latency',
				reference: { name: 'nginx, autoindex', run: () => list(other, part) },
				stowage: () => list(own, part),
				end: async () => {},
			});
			try {
				yield workload(`list ${count} entries`, 'whole');
				if (most === 100_000) yield workload(`the first bytes of the list of ${count} entries`, 'first');
			} finally {
				await nginx.stop();
				await rm(folder, { recursive: true });
			}
		}
		agent.destroy();
	},
};
