import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import { ownAddress } from '../../../test/ownAddress.js';

const install = '/usr/bin/mariadb-install-db';
const server = '/usr/sbin/mariadbd';

/** Small, so that it starts quickly. */
const engine = [
	'--innodb-buffer-pool-size=32M',
	'--innodb-log-file-size=16M',
	// A killed server loses nothing that it wrote, only a power cut would. Syncs would slow the tests down on a slow disk.
	'--debug-no-sync',
	'--innodb-flush-method=nosync',
	'--skip-innodb-doublewrite',
];

const host = ownAddress();
const port = 7422;

/**
 * Runs the server and waits for a command on standard input. When the test process ends, in whichever way, the input is closed: then the
 * server is killed and its files are removed.
 */
const supervisor = `
	folder=$1; shift
	"$@" & server=$!
	echo "$server"
	read -r command
	case $command in
		stop) kill -TERM "$server"; wait "$server" ;;
		kill) kill -KILL "$server"; wait "$server" ;;
		*) kill -KILL "$server"; wait "$server"; rm -rf -- "$folder" ;;
	esac
`;

/** A real MariaDB on a temporary folder, with its own socket and an address of its own. */
export interface MariaDb {
	/** Makes an empty database and resolves to its URL. */
	createDatabase(options?: { socket?: boolean }): Promise<string>;
	/** Runs statements as the administrator. */
	run(sql: string): Promise<void>;
	/** Runs one, and resolves to its rows. */
	query(sql: string): Promise<RowDataPacket[]>;
	/** Stops it as a service manager would. */
	stop(): Promise<void>;
	/** Kills it without a shutdown. */
	kill(): Promise<void>;
	start(): Promise<void>;
	/** Suspends it; its connections stay open. Resolves once none of its threads is running. */
	freeze(): Promise<void>;
	thaw(): void;
	/** Ends it and removes its files. */
	close(): Promise<void>;
}

let shared: Promise<MariaDb> | undefined;

/** Shared by all test files of this process that leave it running. Each may close it at its end. */
export function sharedMariadb(): Promise<MariaDb> {
	shared ??= startMariadb();
	return shared;
}

export async function startMariadb(): Promise<MariaDb> {
	if (!existsSync(server) || !existsSync(install)) {
		throw new Error(`These tests need a real MariaDB: apt-get install mariadb-server (${server}, ${install})`);
	}
	const folder = await mkdtemp(join(tmpdir(), 'stowage-mariadb-'));
	const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];
	try {
		await installDatabase(folder, asRoot);
	} catch (error) {
		await rm(folder, { recursive: true, force: true });
		throw error;
	}
	let running: { supervisor: ChildProcess; pid: number } | undefined;
	let databases = 0;

	async function start(): Promise<void> {
		running = await launch(folder, asRoot);
		await waitUntilAnswering(folder, running.pid);
	}

	async function end(command: 'stop' | 'kill' | 'remove'): Promise<void> {
		if (running === undefined) return;
		const { supervisor } = running;
		running = undefined;
		supervisor.ref();
		const ended = new Promise((resolve) => supervisor.once('exit', resolve));
		supervisor.stdin?.end(`${command}\n`);
		await ended;
	}

	async function query(sql: string): Promise<RowDataPacket[]> {
		const connection = await mysql.createConnection({
			host,
			port,
			user: 'root',
			multipleStatements: true,
		});
		const [rows] = await connection.query<RowDataPacket[]>(sql);
		await connection.end();
		return rows;
	}

	const run = async (sql: string) => void (await query(sql));

	await start();
	await run(`create user stowage@'%' identified by 'pa:ss@w/rd%'; grant all on *.* to stowage@'%'`);
	return {
		async createDatabase({ socket = false } = {}) {
			const name = `stowage_${++databases}`;
			await run(`create database ${name}`);
			const query = socket ? `?socket=${encodeURIComponent(`${folder}/socket`)}` : '';
			return `mysql://stowage:${encodeURIComponent('pa:ss@w/rd%')}@${host}:${port}/${name}${query}`;
		},
		run,
		query,
		start,
		stop: () => end('stop'),
		kill: () => end('kill'),
		async freeze() {
			signal(running?.pid, 'SIGSTOP');
			while (!(await isFrozen(running?.pid))) await wait(10);
		},
		thaw: () => signal(running?.pid, 'SIGCONT'),
		async close() {
			await end('remove');
			await rm(folder, { recursive: true, force: true });
		},
	};
}

async function installDatabase(folder: string, asRoot: string[]): Promise<void> {
	// A starting server removes temporary files that look like its own, also those of another running server.
	await mkdir(join(folder, 'tmp'));
	await promisify(execFile)(install, [
		'--no-defaults',
		`--datadir=${folder}/data`,
		`--tmpdir=${folder}/tmp`,
		'--auth-root-authentication-method=normal',
		'--skip-test-db',
		...engine,
		...asRoot,
	]);
}

async function launch(folder: string, asRoot: string[]): Promise<{ supervisor: ChildProcess; pid: number }> {
	const options = [
		'--no-defaults',
		`--datadir=${folder}/data`,
		`--tmpdir=${folder}/tmp`,
		`--socket=${folder}/socket`,
		`--pid-file=${folder}/pid`,
		`--log-error=${folder}/log`,
		`--bind-address=${host}`,
		`--port=${port}`,
		...engine,
		// Replication and metrics are not needed.
		'--skip-log-bin',
		'--performance-schema=off',
		// Each test has connections of its own, and all tests run at once.
		'--max-connections=1000',
		...asRoot,
	];
	// In a session of its own, so that Ctrl+C reaches only the tests.
	const child = spawn('/bin/sh', ['-c', supervisor, 'supervisor', folder, server, ...options], {
		detached: true,
		// Where clocks are put back in autumn.
		env: { ...process.env, TZ: 'CET-1CEST,M3.5.0,M10.5.0/3' },
		stdio: ['pipe', 'pipe', 'ignore'],
	});
	for await (const line of createInterface({ input: child.stdout })) {
		child.unref();
		return { supervisor: child, pid: Number(line) };
	}
	throw new Error('MariaDB was not started.');
}

async function waitUntilAnswering(folder: string, pid: number): Promise<void> {
	while (await isRunning(pid)) {
		try {
			const connection = await mysql.createConnection({ host, port, user: 'root' });
			await connection.end();
			return;
		} catch {
			await wait(100);
		}
	}
	throw new Error(`MariaDB does not answer:\n${await readFile(`${folder}/log`, 'utf8')}`);
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
	if (pid !== undefined) process.kill(pid, name);
}

/** A server that has ended is a zombie until its supervisor waits for it. */
async function isRunning(pid: number): Promise<boolean> {
	const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
	return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

/** Every thread must be stopped: a running one may answer. */
async function isFrozen(pid: number | undefined): Promise<boolean> {
	const threads = await readdir(`/proc/${pid}/task`);
	const states = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')));
	return states.every((stat) => stat.slice(stat.lastIndexOf(')') + 2).startsWith('T'));
}
