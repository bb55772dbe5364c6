import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { type Door, type Job, newJob, sendOn, startFailingServer, temporaryFolder } from './uploading.js';

const ways: readonly Job['way'][] = ['form', 'form', 'pieces', 'checked pieces'];

/**
 * Uploads by every way while the server is killed again and again, every second time right after a file was published and before anybody was told. What broke
 * off is sent on to the next server. In the end each file is there once, whole, under its own name.
 */
export async function killedWhileUploading(t: ExecutionContext, rounds: number): Promise<void> {
	const dataDir = await temporaryFolder(t);
	const home = path.join(dataDir, 'files/users/ada');
	const jobs = new Map<string, Job>();
	let cookie = '';
	let broken = 0;
	for (let round = 0; round <= rounds; round++) {
		const isLast = round === rounds;
		const diesAfterCommits = isLast || round % 2 === 0 ? 0 : 1 + Math.floor(Math.random() * 8);
		const server = await startFailingServer(t, { dataDir, diesAfterCommits });
		if (cookie === '') cookie = await server.register('ada');
		const lanes = ways.map((way, lane) => {
			const unfinished = [...jobs.values()].filter((job) => !job.isDone && job.name.startsWith(`${lane}-`));
			return uploadUntilItDies({ url: server.url, cookie }, jobs, unfinished, isLast ? 0 : 1000, lane, way);
		});
		if (!isLast && diesAfterCommits === 0) {
			await wait(Math.random() * 400);
			await server.stop('SIGKILL');
		}
		broken += (await Promise.all(lanes)).filter(Boolean).length;
		if (!isLast) await server.stop('SIGKILL');
		await assertWhole(t, home, jobs);
	}
	t.true(broken > rounds, `${broken} uploads were broken off`);
	const names = [...jobs.keys(), 'Public'].sort();
	t.deepEqual((await readdir(home)).sort(), names);
	t.log(`${jobs.size} files, ${broken} broken off`);
}

/** Sends what is unfinished, then so many new ones. Resolves to whether the server died under it. */
async function uploadUntilItDies(
	door: Door,
	jobs: Map<string, Job>,
	unfinished: readonly Job[],
	most: number,
	lane: number,
	way: Job['way'],
): Promise<boolean> {
	try {
		for (const job of unfinished) await sendOn(door, job);
		for (let n = 0; n < most; n++) {
			const job = newJob(`${lane}-${jobs.size}.bin`, way === 'form' ? 30_000 : 200_000, way);
			jobs.set(job.name, job);
			await sendOn(door, job);
		}
		return false;
	} catch (error) {
		// How fetch says that nobody answers.
		if (error instanceof TypeError) return true;
		throw error;
	}
}

async function assertWhole(t: ExecutionContext, home: string, jobs: ReadonlyMap<string, Job>): Promise<void> {
	const names = await readdir(home);
	for (const name of names) {
		if (name === 'Public') continue;
		t.true(jobs.get(name)?.bytes.equals(await readFile(path.join(home, name))), `${name} is what was sent`);
	}
	for (const { name, isDone } of jobs.values()) if (isDone) t.true(names.includes(name), `${name} was acknowledged`);
}
