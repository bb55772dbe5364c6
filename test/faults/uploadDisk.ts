import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import {
	type Client,
	continueUpload,
	type Job,
	newJob,
	Refusal,
	startFailingServer,
	temporaryFolder,
} from './uploading.js';

const run = promisify(execFile);
const jobBytes = 300_000;

/** A server whose files are on a separate mount, which `mount` creates at the given path. Needs root. */
async function onMount(t: ExecutionContext, mount: (at: string) => Promise<unknown>) {
	const dataDir = await temporaryFolder(t);
	const root = path.join(dataDir, 'mount');
	await mkdir(root);
	await mount(root);
	t.teardown(async () => {
		await run('umount', ['-l', root]).catch(() => {});
	});
	const plugins = JSON.stringify({ '@stowage/storage-local': { root } });
	const server = await startFailingServer(t, { dataDir, flags: { '--plugins': plugins } });
	const client: Client = { url: server.url, cookie: await server.register('ada') };
	return { root, home: path.join(root, 'users/ada'), client };
}

/** The status with which a job is refused, or 200. */
async function outcome(client: Client, job: Job): Promise<number> {
	try {
		await continueUpload(client, job);
		return 200;
	} catch (error) {
		if (error instanceof Refusal) return error.status;
		// The server answered and closed before all was sent.
		if (error instanceof TypeError) return 507;
		throw error;
	}
}

/** The outcome once no other request writes the upload: the server may still clean up after one that it answered before its end. */
async function lastOutcome(client: Client, job: Job): Promise<number> {
	for (;;) {
		const status = await outcome(client, job);
		if (status !== 409 && status !== 423) return status;
		await wait(50);
	}
}

/** A disk with various amounts of free space stores a file complete or refuses it, and stores it once there is space again. */
export async function fullDisk(t: ExecutionContext, steps: number): Promise<void> {
	if (process.getuid?.() !== 0) {
		t.log('not run as root: no small disk can be mounted');
		t.not(process.getuid?.(), 0);
		return;
	}
	const { root, home, client } = await onMount(t, (at) =>
		run('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'stowage-test', at]),
	);
	const outcomes = new Set<number>();
	for (let step = 0; step < steps; step++) {
		for (const way of ['form', 'chunks', 'checked chunks'] as const) {
			const { bavail, bsize } = await statfs(root);
			const room = Math.round((step / (steps - 1)) * 1.4 * jobBytes);
			const filler = path.join(root, 'filler');
			await writeFile(filler, Buffer.alloc(Math.max(0, bavail * bsize - room)));
			const job = newJob('wanted.bin', jobBytes, way);
			const status = await outcome(client, job);
			outcomes.add(status);
			t.true(status === 200 || status === 507, `${way} with ${room} bytes left was answered ${status}`);
			t.deepEqual(await readdir(home), status === 200 ? ['Public', 'wanted.bin'] : ['Public']);
			await rm(filler);
			t.is(await lastOutcome(client, job), 200, `${way} continues once there is space`);
			t.deepEqual(await readdir(home), ['Public', 'wanted.bin']);
			t.true((await readFile(path.join(home, 'wanted.bin'))).equals(job.bytes));
			await rm(path.join(home, 'wanted.bin'));
		}
	}
	t.deepEqual([...outcomes].sort(), [200, 507], 'some were stored, some were refused');
}

/** The disk is unmounted during uploads: they get 503, nothing is written in its place, and they continue when it is back. */
export async function vanishedDisk(t: ExecutionContext, times: number): Promise<void> {
	if (process.getuid?.() !== 0) {
		t.log('not run as root: nothing can be mounted');
		t.not(process.getuid?.(), 0);
		return;
	}
	const disk = await temporaryFolder(t);
	const bind = (at: string) => run('mount', ['--bind', disk, at]);
	const { root, home, client } = await onMount(t, bind);
	for (let time = 0; time < times; time++) {
		const jobs = (['form', 'chunks', 'checked chunks'] as const).map((way) => newJob(`${time} ${way}`, jobBytes, way));
		const sending = Promise.all(jobs.map((job) => outcome(client, job)));
		await wait(Math.random() * 60);
		await run('umount', ['-l', root]);
		for (const status of await sending) t.true([200, 503, 507].includes(status), `answered ${status}`);
		const refused = newJob('refused', 10, 'form');
		t.is(await outcome(client, refused), 503);
		t.deepEqual(await readdir(root), [], 'nothing is written where the disk should be');
		await bind(root);
		for (const job of jobs) {
			t.is(await lastOutcome(client, job), 200, job.name);
			t.true((await readFile(path.join(home, job.name))).equals(job.bytes), job.name);
		}
	}
	t.is((await readdir(home)).length, 1 + 3 * times);
}
