import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fetchTimed } from './requests.js';
import type { Suite, Workload } from './Workload.js';

const run = promisify(execFile);
const names = 200_000;
const namesOfFolder = 100;
const searchesOfRun = 5;

/** How long the server may take until all names are in its index. */
const indexMs = 15 * 60_000;

const stowage = (dataDir: string, ...words: string[]) =>
	run(process.execPath, ['cli/bin/stowage.js', ...words, '--data-dir', dataDir]);

/** Asks the server to index what was put there beside it, and resolves once it has. */
async function indexed(dataDir: string, names: number): Promise<void> {
	await stowage(dataDir, 'search', 'rebuild');
	for (const end = performance.now() + indexMs; performance.now() < end; await wait(2000)) {
		const { stdout } = await stowage(dataDir, 'search', 'status', '--json');
		const { roots } = JSON.parse(stdout) as { roots: { names: number; waiting: number }[] };
		if (roots.every(({ waiting }) => waiting === 0) && roots.some((root) => root.names >= names)) return;
	}
	throw new Error('The names were not indexed in time.');
}

/** Searches in many names that lie in the index, against `find`, which walks them. */
export const searches: Suite = {
	name: 'searches',
	async *workloads({ home, url, cookie, scale }) {
		const count = Math.round(names * scale);
		const top = path.join(home, 'library');
		for (let n = 0; n < count; n++) {
			const folder = path.join(top, `year ${Math.floor(n / 20_000)}`, `album ${Math.floor(n / namesOfFolder)}`);
			if (n % namesOfFolder === 0) await mkdir(folder, { recursive: true });
			const word = n % (count / 10) === 7 ? 'sunrise' : 'holiday';
			await writeFile(path.join(folder, `${word} ${String(n).padStart(7, '0')}.jpg`), '');
		}
		await indexed(path.join(home, '../../..'), count);
		const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
		const workload = (kind: string, term: string): Workload => ({
			name: `search ${count.toLocaleString('en-US')} names for a ${kind} word`,
			amount: { count: searchesOfRun, unit: 'search' },
			by: 'latency',
			reference: {
				name: 'find',
				async run() {
					const ms: number[] = [];
					for (let n = 0; n < searchesOfRun; n++) {
						const begun = performance.now();
						await run('find', [top, '-iname', `*${term}*`], { maxBuffer: 1024 ** 3 });
						ms.push(performance.now() - begun);
					}
					return ms;
				},
			},
			async stowage() {
				const ms: number[] = [];
				const address = `${url}/api/browse?type=private&directory=library&search=${term}`;
				for (let n = 0; n < searchesOfRun; n++)
					ms.push((await fetchTimed({ url: address, headers: { cookie } }, agent)).whole);
				return ms;
			},
			end: async () => {},
		});
		try {
			yield workload('rare', 'sunrise');
			yield workload('missing', 'nowhere');
			yield workload('common', 'holiday');
		} finally {
			agent.destroy();
			await rm(top, { recursive: true });
		}
	},
};
