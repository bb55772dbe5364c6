import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Galera, startGalera } from '../../packages/database/test/galera.js';
import { freePort } from '../freePort.js';
import { isListening } from '../isListening.js';
import { type ServerProcess, serveArgs, startServer, type Teardown } from '../serverProcess.js';
import { command as runCommand } from './lostRoot.js';

const haproxy = '/usr/sbin/haproxy';

/** A node of Stowage, which is started again and again on the same port. */
export interface ClusterNode {
	/** Such as `http://127.0.0.1:41234`, whether it serves or not. */
	readonly url: string;
	readonly server: ServerProcess;
	start(): Promise<void>;
	/** Runs a command beside it; resolves to its output. */
	command(...words: string[]): Promise<string>;
}

/** Two nodes, each over its own node of a real Galera cluster, with one folder of files, behind haproxy. */
export interface Cluster {
	readonly galera: Galera;
	readonly nodes: readonly [ClusterNode, ClusterNode];
	/** The address of haproxy. */
	readonly url: string;
	readonly filesDir: string;
	/** The name of the database at each node of Galera. */
	readonly database: string;
}

interface ClusterOptions {
	/** Words before the command of each database node, and of each node of Stowage: such as faketime and its time. */
	databases?: readonly (readonly string[])[];
	servers?: readonly (readonly string[])[];
	/** Further plugins, with their options. */
	plugins?: Record<string, unknown>;
}

export async function startCluster(
	t: Teardown,
	{ databases = [], servers = [], plugins: more = {} }: ClusterOptions = {},
): Promise<Cluster> {
	if (!existsSync(haproxy)) throw new Error(`These tests need a real balancer: apt-get install haproxy (${haproxy})`);
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-cluster-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const galera = await startGalera(databases);
	t.teardown(() => galera.close());
	const filesDir = path.join(folder, 'files');
	await mkdir(filesDir);
	const urls = await galera.createDatabase();
	const balancer = await freePort();
	const plugins = {
		'@stowage/storage-local': { root: filesDir },
		'@stowage/auth-password': { memoryKiB: 19456, iterations: 2, parallelism: 1 },
		'@stowage/preview': false,
		'@stowage/handbrake': false,
		...more,
	};
	const node = async (name: string, databaseUrl: string, wrap: readonly string[] = []): Promise<ClusterNode> => {
		const port = await freePort();
		const dataDir = path.join(folder, name);
		const settings = [
			...['--log-level', 'error', '--search-index', 'false'],
			...['--port', `${port}`, '--node', name, '--database-url', databaseUrl, '--trusted-proxies', '127.0.0.1'],
			...['--session-key', 'one key for both nodes, longer than 32 characters'],
			...['--public-url', `http://127.0.0.1:${balancer}`, '--drain-delay', '5 seconds'],
			...['--plugins', JSON.stringify(plugins)],
		];
		const args = serveArgs(dataDir, ...settings);
		const [command = process.execPath, ...words] = [...wrap, process.execPath, ...args];
		// As on a machine whose clock is set wrong: only the time of day is.
		const start = () => startServer(t, { command, args: words, env: { FAKETIME_DONT_FAKE_MONOTONIC: '1' } });
		let server = await start();
		return {
			url: `http://127.0.0.1:${port}`,
			get server() {
				return server;
			},
			async start() {
				server = await start();
			},
			command: (...words) => runCommand(dataDir, [...words, ...settings]),
		};
	};
	// At once, over an empty database.
	const nodes = await Promise.all([node('one', urls[0], servers[0]), node('two', urls[1], servers[1])]);
	await balance(t, folder, balancer, nodes);
	return { galera, nodes, url: `http://127.0.0.1:${balancer}`, filesDir, database: new URL(urls[0]).pathname.slice(1) };
}

/** haproxy with the configuration that is shipped, but for the addresses. */
async function balance(t: Teardown, folder: string, port: number, nodes: readonly ClusterNode[]): Promise<void> {
	const shipped = await readFile('config/proxies/haproxy.cfg', 'utf8');
	const [one, two] = nodes.map(({ url }) => new URL(url).host);
	const file = path.join(folder, 'haproxy.cfg');
	await writeFile(
		file,
		shipped
			.replace('bind :80', `bind 127.0.0.1:${port}`)
			.replace('10.0.0.11:7420', `${one}`)
			.replace('10.0.0.12:7420', `${two}`),
	);
	const child = spawn(haproxy, ['-db', '-q', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] });
	const ended = once(child, 'exit');
	t.teardown(async () => {
		child.kill('SIGKILL');
		await ended;
	});
	while (!(await isListening(`127.0.0.1:${port}`))) {
		if (child.exitCode !== null) throw new Error('haproxy did not start.');
		await wait(50);
	}
}
