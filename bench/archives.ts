import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { fetchAll, fetchTimed } from './requests.js';
import { gigabyte, megabyte, sized, writeSource } from './sources.js';
import type { Suite, Target, Workload } from './Workload.js';

const run = promisify(execFile);
const smallFiles = 10_000;
const smallBytes = 10_000;

/** Archives over HTTP, against `zip -0`, which writes the same files to the disk. */
export const archives: Suite = {
	name: 'archives',
	async *workloads(target) {
		const { home, scale } = target;
		const [one, many] = ['one', 'many'].map((name) => path.join(home, name)) as [string, string];
		const bytes = Math.round((gigabyte * scale) / megabyte) * megabyte;
		const count = Math.round(smallFiles * scale);
		await mkdir(one);
		await writeSource(path.join(one, 'large.bin'), bytes);
		// The checksum of a file that was written just now is not remembered, as the file may still change.
		await run('touch', ['-d', '2020-01-01', path.join(one, 'large.bin')]);
		await mkdir(many);
		for (let n = 0; n < count; n++) await writeFile(path.join(many, `${n}.bin`), Buffer.alloc(smallBytes, n));
		try {
			yield archive(target, 'one', `archive of ${sized(bytes)}`, { count: bytes / gigabyte, unit: 'GB' });
			const files = `${count.toLocaleString('en-US')} files of 10 kB`;
			yield archive(target, 'many', `archive of ${files}`, { count, unit: 'file' });
			yield firstByte(target, `the first byte of the archive of ${files}`);
		} finally {
			await Promise.all([one, many].map((folder) => rm(folder, { recursive: true })));
		}
	},
};

const zipFile = ({ folder }: Target) => path.join(folder, 'reference.zip');

const zip = async (target: Target, name: string) =>
	void (await run('zip', ['-0', '-q', '-r', zipFile(target), name], { cwd: target.home }));

const source = ({ url, cookie }: Target, name: string) => ({
	url: `${url}/api/download/${name}?type=private`,
	headers: { cookie },
});

function archive(target: Target, name: string, title: string, amount: Workload['amount']): Workload {
	return {
		name: title,
		amount,
		by: 'time',
		reference: { name: 'zip -0', run: () => zip(target, name) },
		stowage: () => fetchAll(source(target, name)),
		reset: () => rm(zipFile(target), { force: true }),
		end: async () => {},
	};
}

/** Against the whole of `zip -0`, which has nothing to show before. */
function firstByte(target: Target, title: string): Workload {
	const agent = new http.Agent();
	return {
		name: title,
		amount: { count: 1, unit: 'request' },
		by: 'latency',
		reference: {
			name: 'zip -0, whole',
			async run() {
				const begun = performance.now();
				await zip(target, 'many');
				return [performance.now() - begun];
			},
		},
		async stowage() {
			return [(await fetchTimed(source(target, 'many'), agent, { isDropped: true })).first];
		},
		reset: () => rm(zipFile(target), { force: true }),
		end: async () => agent.destroy(),
	};
}
