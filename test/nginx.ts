import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isListening } from './isListening.js';

/** Longer than any machine takes to start it. */
const startMs = 60_000;

/** A real nginx with a temporary folder for its files, removed when it stops. */
export interface Nginx {
	stop(): Promise<void>;
}

/**
 * Starts Debian's nginx and waits until it accepts connections at the address, a `host:port` that one of its servers
 * listens on. `servers` is put into its `http` block.
 */
export async function startNginx(address: string, servers: string): Promise<Nginx> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-nginx-'));
	const file = path.join(folder, 'nginx.conf');
	await writeFile(file, configuration(folder, servers));
	const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
	const child = spawn('nginx', ['-p', folder, '-c', file], { env, stdio: 'inherit' });
	const ended = once(child, 'exit');
	const stop = async () => {
		child.kill();
		await ended;
		await rm(folder, { recursive: true, force: true });
	};
	for (const end = performance.now() + startMs; !(await isListening(address)); await wait(20)) {
		if (child.exitCode === null && performance.now() < end) continue;
		await stop();
		throw new Error('nginx did not start.');
	}
	return { stop };
}

function configuration(folder: string, servers: string): string {
	return [
		// Its workers must be able to read the folders of the user who runs the tests.
		...(process.getuid?.() === 0 ? ['user root;'] : []),
		'daemon off;',
		'worker_processes auto;',
		`pid ${folder}/nginx.pid;`,
		`error_log ${folder}/error.log;`,
		'events {}',
		'http {',
		'access_log off;',
		...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`),
		servers,
		'}',
	].join('\n');
}
