import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { type ServerProcess, serveArgs, startServer } from '../serverProcess.js';

const megabyte = 1024 * 1024;
const bars = { p99Ms: 250, memory: 400 * megabyte };
const program = fileURLToPath(new URL('floodClient.js', import.meta.url));

/** Creates the files that the floods request. */
async function writeFiles(folder: string): Promise<void> {
	await writeFile(path.join(folder, 'large.bin'), '');
	await truncate(path.join(folder, 'large.bin'), 1024 * megabyte);
	for (const [name, depth] of [
		['deep', 20],
		['many', 1],
	] as const) {
		for (let level = 0, at = folder; level < depth; level++) {
			at = path.join(at, name);
			await mkdir(at);
			for (let n = 0; n < 1000 / depth; n++) await writeFile(path.join(at, `${n}.txt`), `file ${n}`);
		}
	}
}

/** Milliseconds that the main thread of a process waited for a processor although it could have run. */
function waitedForProcessor(pid: number): number {
	return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}

/**
 * Requests the health ten times a second, each on a new connection, whether the earlier ones were answered or not;
 * resolves to the time of each, infinite if it was no 200. The time in which the server or this client had no
 * processor is left out, or the machine's other work would be measured.
 */
async function measureHealth({ url, pid }: ServerProcess, seconds: number): Promise<number[]> {
	const requests: Promise<number>[] = [];
	const end = performance.now() + seconds * 1000;
	for (let next = performance.now(); next < end; next += 100) {
		await wait(Math.max(0, next - performance.now()));
		requests.push(measureRequest(`${url}/api/health`, pid));
	}
	return (await Promise.all(requests)).sort((a, b) => a - b);
}

async function measureRequest(url: string, pid: number): Promise<number> {
	const waited = () => waitedForProcessor(pid) + waitedForProcessor(process.pid);
	const began = performance.now() - waited();
	const sent = request(url, { agent: false }).end();
	try {
		const [answer] = await once(sent, 'response');
		answer.resume();
		await once(answer, 'end');
		return answer.statusCode === 200 ? performance.now() - waited() - began : Number.POSITIVE_INFINITY;
	} catch {
		// Not answered at all.
		return Number.POSITIVE_INFINITY;
	}
}

const percentile = (sorted: readonly number[], share: number) =>
	sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
const percentiles = (sorted: readonly number[]) =>
	[0.5, 0.99, 1].map((share) => `${Math.round(percentile(sorted, share))} ms`).join(', ');

/** One address floods a server with default settings: others are answered as usual, and its memory stays bounded. */
export async function flood(t: ExecutionContext, name: string, seconds: number): Promise<void> {
	t.timeout(15 * 60_000);
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-flood-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const server = await startServer(t, { args: serveArgs(folder) });
	const cookie = await server.register('mallory');
	await writeFiles(path.join(folder, 'files/Public'));
	const usual = await measureHealth(server, 3);

	const flooding = spawn(process.execPath, [program, name, server.url, String(seconds), cookie], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	t.teardown(async () => {
		flooding.kill('SIGKILL');
	});
	const summary = text(flooding.stdout);
	let most = 0;
	const watching = setInterval(async () => {
		const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
		most = Math.max(most, Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024);
	}, 100);
	const times = await measureHealth(server, seconds);
	clearInterval(watching);

	const load = (await readFile('/proc/loadavg', 'utf8')).split(' ', 1)[0];
	t.log(`answers to the flood: ${(await summary).trim()}; load ${load}`);
	t.log(
		`health (median, 99 %, longest): ${percentiles(times)}, before it ${percentiles(usual)}; ${Math.round(most / megabyte)} MB`,
	);
	t.true(percentile(times, 0.99) < bars.p99Ms, `the 99th percentile is ${percentiles(times)}`);
	t.true(most < bars.memory, `${Math.round(most / megabyte)} MB`);
}
