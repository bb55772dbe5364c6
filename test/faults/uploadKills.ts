import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { type Client, continueUpload, type Job, newJob, startFailingServer, temporaryFolder } from './uploading.js';

const ways: readonly Job['way'][] = ['form', 'form', 'chunks', 'checked chunks'];

/**
 * Uploads in every way while the server is killed again and again, every second time right after a file was published
 * and before its client gets an answer. Interrupted uploads continue at the next server. In the end each file exists
 * once, complete, under its own name.
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
	t.true(broken > rounds, `${broken} uploads were interrupted`);
	const names = [...jobs.keys(), 'Public'].sort();
	t.deepEqual((await readdir(home)).sort(), names);
	t.log(`${jobs.size} files, ${broken} interrupted`);
}

/** Sends the unfinished files, then `most` new ones. Resolves to whether the server has ended meanwhile. */
async function uploadUntilItDies(
	client: Client,
	jobs: Map<string, Job>,
	unfinished: readonly Job[],
	most: number,
	lane: number,
	way: Job['way'],
): Promise<boolean> {
	try {
		for (const job of unfinished) await continueUpload(client, job);
		for (let n = 0; n < most; n++) {
			const job = newJob(`${lane}-${jobs.size}.bin`, way === 'form' ? 30_000 : 200_000, way);
			jobs.set(job.name, job);
			await continueUpload(client, job);
		}
		return false;
	} catch (error) {
		// The error of fetch if the server does not answer.
		if (error instanceof TypeError) return true;
		throw error;
	}
}

async function assertWhole(t: ExecutionContext, home: string, jobs: ReadonlyMap<string, Job>): Promise<void> {
	const names = await readdir(home);
	for (const name of names) {
		if (name === 'Public') continue;
		t.true(jobs.get(name)?.bytes.equals(await readFile(path.join(home, name))), `${name} has the bytes that were sent`);
	}
	for (const { name, isDone } of jobs.values()) if (isDone) t.true(names.includes(name), `${name} was acknowledged`);
}
