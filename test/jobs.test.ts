import path from 'node:path';
import test from 'ava';
import { execa } from 'execa';
import { run } from '../cli/test/program.js';
import { until } from '../packages/core/test/until.js';
import { callerOf, jobSite, runManyJobs } from './jobServers.js';
import { pageEvents } from './pageEvents.js';

test('300 jobs over two server processes, one of which is killed in the middle, take effect once each', (t) =>
	runManyJobs(t, 300));

test('a job continues after kill -9 and after SIGTERM, and other processes and the command line list and cancel it', async (t) => {
	const site = await jobSite(t);
	const first = await site.start();
	const cookie = await first.register('ada');
	const ada = callerOf(cookie);
	const [id = ''] = await ada.startJobs(first, 'steps', 1);
	const steps = () => site.lines(`${id}.steps`);
	await until('the job makes progress', async () => (await steps()).length >= 5);
	await first.stop('SIGKILL');
	const killedAt = (await steps()).length;

	const second = await site.start();
	await until('the job continues', async () => (await steps()).length >= killedAt + 5);
	const third = await site.start();
	const page = await pageEvents(third, cookie);
	const jobEvents = () =>
		page.received.filter(({ event }) => event === 'job').map(({ data }) => data.job as Record<string, unknown>);
	await until('a page at a process that does not run the job gets its events', () =>
		jobEvents().some((job) => job.id === id && job.status === 'processing' && Number(job.done) > killedAt),
	);
	t.is(await second.stop('SIGTERM'), 0);
	const stoppedAt = (await steps()).length;
	await until('another process continues the job', async () => (await steps()).length > stoppedAt + 5);
	t.deepEqual(
		(await site.lines('begun')).map((line) => line.split(' ').slice(1).map(Number)),
		[first, second, third].map(({ pid }, index) => [index + 1, pid]),
	);
	// In order, from one to the next; the step at which it was killed may have been done and not saved.
	const done = (await steps()).map(Number);
	const repeated = done.filter((step, index) => index > 0 && step === done[index - 1]);
	t.true(repeated.length <= 1);
	t.deepEqual(
		[...new Set(done)],
		[...new Set(done)].map((_, index) => index),
	);

	const fourth = await site.start();
	const settings = ['--data-dir', site.dataDir, ...site.args, '--log-level', 'error'];
	const cli = (...words: string[]) => run(['job', ...words, ...settings]);
	await ada.startJobs(fourth, 'steps', 1);
	const listed = (await cli('list', '--user', 'ada')).stdout.split('\n').map((line) => line.split('\t'));
	t.deepEqual(
		listed.map((columns) => [columns[1], columns[2], columns[3], columns[6]]),
		[
			['ada', 'steps', 'queued', 'steps 0'],
			['ada', 'steps', 'processing', 'steps 0'],
		],
	);
	t.regex(listed[1]?.[4] ?? '', /^\d+ %$/);
	const [waiting = ''] = listed[0] ?? [];
	const words = [path.resolve('cli/bin/stowage.js'), 'job', 'cancel', id, waiting, ...settings];
	t.is((await execa(process.execPath, words)).stdout, `Cancelled ${id}.\nCancelled ${waiting}.`);
	await until('the job has ended', async () => (await ada.find(fourth, id)).status === 'cancelled');
	await until('the page gets the event of that', () =>
		jobEvents().some((job) => job.id === id && job.status === 'cancelled'),
	);
	t.is((await cli('list')).stdout, '');
	const all = JSON.parse((await cli('list', '--all', '--json')).stdout) as Record<string, unknown>[];
	t.deepEqual(
		all.map(({ user, status }) => [user, status]),
		[
			['ada', 'cancelled'],
			['ada', 'cancelled'],
		],
	);

	// The other way round: cancelled at one process, run by another.
	const [next = ''] = await ada.startJobs(fourth, 'steps', 1);
	await until('the job runs', async () => (await ada.find(fourth, next)).status === 'processing');
	const otherProcess = (await site.lines('begun')).at(-1)?.endsWith(` ${fourth.pid}`) ? third : fourth;
	await ada.cancel(otherProcess, next);
	await until('the job has ended', async () => (await ada.find(otherProcess, next)).status === 'cancelled');
	await page.close();
});

test('a server that 20 jobs of one user would end serves after three ends, and another user’s job has ended', async (t) => {
	const site = await jobSite(t);
	const held = await site.start('--jobs-run', 'false');
	const mallory = callerOf(await held.register('mallory'));
	const ada = callerOf(await held.register('ada'));
	await mallory.startJobs(held, 'deadly', 20);
	const [honest = ''] = await ada.startJobs(held, 'deadly', 1);
	t.true((await mallory.list(held)).every(({ hold }) => hold !== null));
	t.deepEqual(await site.lines('deadly'), [], 'none begins in a server that holds them back');
	t.is(await held.stop(), 0);

	const waitsForAdministrator = ({ hold }: Record<string, unknown>) =>
		(hold as { reason: string } | null)?.reason.includes('wait for the administrator');
	/** Serves until a job ends it, or all jobs of mallory have ended or wait; resolves to the server that goes on. */
	const serve = async () => {
		// A job that was never interrupted may end it at once.
		const server = await site.start().catch(() => undefined);
		if (server === undefined) return undefined;
		let hasEnded = false;
		void server.ended.then(() => {
			hasEnded = true;
		});
		// The pause after the second end takes half a minute.
		await until('the server has ended, or serves on', async () => {
			const jobs = await mallory.list(server).catch(() => []);
			return hasEnded || (jobs.length > 0 && jobs.every((job) => job.endTime !== null || waitsForAdministrator(job)));
		});
		return hasEnded ? undefined : server;
	};
	let ends = 0;
	let last = await serve();
	for (; last === undefined; last = await serve()) t.true(++ends <= 3, 'it ended too often');
	t.is(ends, 3);
	t.is((await site.lines('deadly')).filter((user) => user === 'mallory').length, 3);
	const server = last;
	await until('the honest job has ended', async () => (await ada.find(server, honest)).status === 'completed');
	const statuses = (await mallory.list(server)).map(({ status }) => status).sort();
	t.deepEqual(statuses, ['failed', ...Array.from({ length: 19 }, () => 'queued')]);
	const settings = ['--data-dir', site.dataDir, ...site.args, '--log-level', 'error'];
	const listed = (await run(['job', 'list', '--user', 'mallory', ...settings])).stdout.split('\n');
	t.is(listed.length, 19);
	for (const line of listed) t.regex(line, /3 times.*wait for the administrator\. By itself not before \d{4}-/);
	// Before any begins, also while no server runs.
	await server.stop();
	t.is(
		(await run(['job', 'cancel', '--user', 'mallory', '--kind', 'deadly', ...settings])).stdout.split('\n').length,
		19,
	);
	t.is((await run(['job', 'release', '--user', 'mallory', ...settings])).stdout, 'The jobs go on.');
	const again = await site.start();
	t.true((await mallory.list(again)).every(({ status }) => status === 'cancelled' || status === 'failed'));
});
