import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ExecutionContext } from 'ava';
import { until } from '../packages/core/test/until.js';
import { type ServerProcess, serveArgs, startServer, type Teardown } from './serverProcess.js';

const plugin = pathToFileURL(path.resolve('test/faults/programs/jobsPlugin.js')).href;

export interface JobSite {
	dataDir: string;
	/** Where the test plugin leaves its traces. */
	traces: string;
	args: string[];
	/** Another server process over the same database and files. */
	start(...more: string[]): Promise<ServerProcess>;
	/** The lines of a trace; none if there is none yet. */
	lines(file: string): Promise<string[]>;
}

/** A data folder that several server processes share, with a plugin whose jobs leave traces. */
export async function jobSite(t: Teardown, database?: string): Promise<JobSite> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-jobs-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const traces = path.join(folder, 'traces');
	await mkdir(traces);
	const dataDir = path.join(folder, 'data');
	const args = [
		...['--plugins', JSON.stringify({ '@stowage/preview': false, [plugin]: { folder: traces } })],
		...(database === undefined ? [] : ['--database-url', database]),
	];
	return {
		dataDir,
		traces,
		args,
		start: (...more) => startServer(t, { args: serveArgs(dataDir, '--log-level', 'error', ...args, ...more) }),
		lines: async (file) =>
			(await readFile(path.join(traces, file), 'utf8').catch(() => '')).split('\n').filter(Boolean),
	};
}

export interface JobPair {
	site: JobSite;
	one: ServerProcess;
	two: ServerProcess;
}

/** Two server processes over one database and data folder. */
export async function jobPair(t: Teardown, database?: string): Promise<JobPair> {
	const site = await jobSite(t, database);
	return { site, one: await site.start(), two: await site.start() };
}

/** Both exit with 0 when asked to stop. */
export async function stopBoth(t: ExecutionContext, { one, two }: JobPair): Promise<void> {
	for (const server of [one, two]) t.is(await server.stop(), 0);
}

/** The calls of one user to any of the processes. */
export function callerOf(cookie: string) {
	const call = async (method: string, { url }: ServerProcess, address: string) => {
		const answer = await fetch(`${url}/api/${address}`, { method, headers: { cookie } });
		if (!answer.ok) throw new Error(`${method} ${address}: ${await answer.text()}`);
		return answer.json();
	};
	return {
		startJobs: (server: ServerProcess, kind: string, count: number) =>
			call('POST', server, `testJobs/${kind}/${count}`) as Promise<string[]>,
		find: (server: ServerProcess, id: string) => call('GET', server, `jobs/${id}`) as Promise<Record<string, unknown>>,
		list: (server: ServerProcess) => call('GET', server, 'jobs') as Promise<Record<string, unknown>[]>,
		cancel: (server: ServerProcess, id: string) => call('DELETE', server, `jobs/${id}`),
	};
}

/** Starts `count` jobs over two processes, kills one in the middle, and checks that each job took effect once. */
export async function runManyJobs(t: ExecutionContext, count: number, database?: string): Promise<void> {
	const site = await jobSite(t, database);
	const one = await site.start();
	const two = await site.start();
	const ada = callerOf(await one.register('ada'));
	const bob = callerOf(await one.register('bob'));
	const alone = Math.floor(count / 10);
	const [first, second, third] = await Promise.all([
		ada.startJobs(one, 'many', count - 2 * alone),
		bob.startJobs(two, 'many', alone),
		bob.startJobs(one, 'alone', alone),
	]);
	const ids = [...first, ...second, ...third];
	t.is(new Set(ids).size, count);
	await until('half of the jobs ran', async () => (await site.lines('ran')).length >= count / 2);
	await one.stop('SIGKILL');
	const effects = async () => (await readdir(site.traces)).filter((name) => name.endsWith('.effect'));
	await until('all jobs took effect', async () => (await effects()).length === count);
	for (const last of [first, second, third])
		for (const id of last.slice(-5)) {
			const { find } = last === first ? ada : bob;
			await until('the last jobs have ended', async () => (await find(two, id)).status === 'completed');
		}
	t.deepEqual((await effects()).sort(), ids.map((id) => `${id}.effect`).sort());
	const runs = (await site.lines('ran')).map((line) => line.split(' ') as [string, string, string]);
	const again = runs.filter(([, attempt]) => attempt !== '1');
	// Only jobs of the process that was killed may have begun a second time.
	t.true(again.length <= 5, `${again.length} ran again`);
	t.deepEqual(
		again.filter(([, , pid]) => Number(pid) !== two.pid),
		[],
	);
	t.true(runs.length <= count + again.length);
	for (const pid of [one.pid, two.pid])
		t.true(
			runs.some(([, , ran]) => Number(ran) === pid),
			'both processes ran jobs',
		);
	// A job that ran beside another one would have failed instead of leaving an effect.
	t.deepEqual(
		(await readdir(site.traces)).filter(
			(name) => name.endsWith('.staged') && !again.some(([id]) => name.startsWith(id)),
		),
		[],
	);
	await two.stop();
}
