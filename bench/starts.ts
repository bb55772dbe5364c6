import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { serveArgs } from '../test/serverProcess.js';
import { memoryOf, processorSeconds } from './measure.js';
import type { Suite } from './Workload.js';

const run = promisify(execFile);

/** How long a server is left alone before its memory counts as idle. */
const idleMs = 3_000;

/** From exec to the first answer, with a data folder that was there before; against Node alone. */
export const starts: Suite = {
	name: 'starts',
	async *workloads({ folder }) {
		const dataDir = await mkdtemp(path.join(folder, 'start-'));
		const seconds: number[] = [];
		const idle: number[] = [];
		yield {
			name: 'start, until the first answer',
			amount: { count: 1, unit: 'start' },
			by: 'latency',
			reference: {
				name: 'node -e 0',
				async run() {
					const begun = performance.now();
					await run(process.execPath, ['-e', '0']);
					return [performance.now() - begun];
				},
			},
			async stowage() {
				const begun = performance.now();
				const child = spawn(process.execPath, serveArgs(dataDir, '--log-level', 'warn'), {
					stdio: ['ignore', 'pipe', 'inherit'],
				});
				const ended = once(child, 'exit');
				try {
					for await (const line of createInterface({ input: child.stdout })) {
						const url = /https?:\/\/\S+/.exec(line)?.[0];
						if (url === undefined) continue;
						await (await fetch(`${url}/api/health`)).text();
						break;
					}
					const ms = performance.now() - begun;
					seconds.push(await processorSeconds(child.pid as number));
					await wait(idleMs);
					idle.push(await memoryOf(child.pid as number, 'VmRSS'));
					return [ms];
				} finally {
					child.kill();
					await ended;
				}
			},
			async end() {
				console.log(
					`Processor until the first answer of a start: ${seconds.map((each) => each.toFixed(2)).join(', ')} s`,
				);
				console.log(`Memory when idle: ${idle.map((bytes) => (bytes / 1024 ** 2).toFixed(0)).join(', ')} MB`);
				await rm(dataDir, { recursive: true });
			},
		};
	},
};
