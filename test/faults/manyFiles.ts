import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { ExecutionContext } from 'ava';
import { type ServerProcess, serveArgs, startServer } from '../serverProcess.js';

const megabyte = 1024 * 1024;
const filesInFolder = 200;
/** In seconds; each file has its own second. */
export const longAgo = 1_500_000_000;

export async function writeManyFiles(folder: string, count: number): Promise<void> {
	for (let n = 0; n < count; n++) {
		const inner = path.join(folder, `${Math.floor(n / filesInFolder)}`);
		if (n % filesInFolder === 0) await mkdir(inner, { recursive: true });
		const file = path.join(inner, `${n}.txt`);
		await writeFile(file, `file ${n}`);
		await utimes(file, longAgo + n, longAgo + n);
	}
	for (const inner of await readdir(folder)) await utimes(path.join(folder, inner), longAgo, longAgo);
}

/** The faults of a folder of `count` such files; none if all files and times are right. */
export async function faultsIn(folder: string, count: number): Promise<string[]> {
	const faults: string[] = [];
	for (let n = 0; n < count; n++) {
		const inner = path.join(folder, `${Math.floor(n / filesInFolder)}`);
		const file = path.join(inner, `${n}.txt`);
		const content = await readFile(file, 'utf8').catch(() => undefined);
		if (content !== `file ${n}`) faults.push(`${file} holds ${content}`);
		else if ((await stat(file)).mtimeMs !== (longAgo + n) * 1000) faults.push(`${file} has another time`);
		if (n % filesInFolder === 0 && (await stat(inner)).mtimeMs !== longAgo * 1000)
			faults.push(`${inner} has another time`);
	}
	return faults;
}

async function memoryOf({ pid }: ServerProcess): Promise<{ now: number; peak: number }> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8');
	const read = (name: string) =>
		(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / megabyte;
	return { now: read('VmRSS'), peak: read('VmHWM') };
}

function copy(server: ServerProcess, cookie: string): Promise<Response> {
	return fetch(`${server.url}/api/copyItem`, {
		method: 'POST',
		headers: { cookie, 'content-type': 'application/json' },
		body: JSON.stringify({ fromPath: 'many', toPath: 'copy', type: 'private' }),
	});
}

export async function dataFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-many-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** Copies a folder of many small files: all arrive with their times, and the server's memory does not grow with their number. */
export async function copyMany(t: ExecutionContext, count: number): Promise<void> {
	const folder = await dataFolder(t);
	// A small young generation, or most of the measured memory would be garbage that is not collected yet.
	const env = { NODE_OPTIONS: '--max-semi-space-size=2' };
	const server = await startServer(t, { args: serveArgs(folder), env });
	const cookie = await server.register('ada');
	const home = path.join(folder, 'files/users/ada');
	await writeManyFiles(path.join(home, 'many'), count);
	const before = await memoryOf(server);
	const began = performance.now();
	t.is((await copy(server, cookie)).status, 200);
	const seconds = (performance.now() - began) / 1000;
	const after = await memoryOf(server);
	t.deepEqual(await faultsIn(path.join(home, 'copy'), count), []);
	const grown = after.peak - before.now;
	t.log(
		`${count} files in ${seconds.toFixed(1)} s; ${Math.round(after.peak)} MB at most, ${Math.round(grown)} MB more than before`,
	);
	t.true(grown < 64, `${Math.round(grown)} MB more`);
}

/** Kills the server in the middle of a copy: the source is unchanged, there is no copy, and the next start cleans up. */
export async function killWhileCopying(t: ExecutionContext, count: number): Promise<void> {
	const folder = await dataFolder(t);
	const root = path.join(folder, 'files');
	const dying = pathToFileURL(path.resolve('test/faults/programs/dyingStorage.js')).href;
	const plugins = JSON.stringify({ [dying]: { root, names: count / 2 } });
	// The index would list names as well.
	const args = serveArgs(folder, '--storage', 'dying', '--plugins', plugins, '--search-index', 'false');
	const server = await startServer(t, { args });
	const cookie = await server.register('ada');
	const home = path.join(root, 'users/ada');
	const staging = path.join(root, '.stowage/staging');
	await writeManyFiles(path.join(home, 'many'), count);
	const answer = copy(server, cookie).then(
		({ status }) => status,
		() => 'cut off',
	);
	t.is(await answer, 'cut off');
	await server.stop('SIGKILL');
	t.deepEqual((await readdir(home)).sort(), ['Public', 'many']);
	t.deepEqual(await faultsIn(path.join(home, 'many'), count), []);
	const copied = (await readdir(staging, { recursive: true })).length;
	t.true(copied > count / 4 && copied < count, `killed in the middle of the copy: ${copied}`);

	const again = await startServer(t, { args: serveArgs(folder) });
	while ((await readdir(staging)).length > 0) await wait(50);
	t.is((await copy(again, cookie)).status, 200);
	t.deepEqual(await faultsIn(path.join(home, 'copy'), count), []);
}
