import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** Runs `work` while no other process runs under the same lock file. The lock of a process that was killed is taken over. */
export async function exclusively(file, work) {
	await mkdir(path.dirname(file), { recursive: true });
	while (!(await take(file))) await wait(100);
	try {
		return await work();
	} finally {
		await rm(file, { force: true });
	}
}

async function take(file) {
	const own = `${file}.${process.pid}`;
	await writeFile(own, String(process.pid));
	try {
		// The lock appears with its holder in it, or not at all.
		await link(own, file);
		return true;
	} catch (error) {
		if (error.code !== 'EEXIST') throw error;
	} finally {
		await rm(own, { force: true });
	}
	const holder = await readFile(file, 'utf8').catch((error) => {
		if (error.code === 'ENOENT') return undefined;
		throw error;
	});
	if (holder !== undefined && !isRunning(Number(holder))) await rm(file, { force: true });
	return false;
}

function isRunning(pid) {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return error.code === 'EPERM';
	}
}
