import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chmod, chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import { ownAddress } from '../../../test/ownAddress.js';

const run = promisify(execFile);
const programs = {
	install: '/usr/bin/mariadb-install-db',
	server: '/usr/sbin/mariadbd',
	provider: '/usr/lib/galera/libgalera_smm.so',
	arbitrator: '/usr/bin/garbd',
};
const host = ownAddress();
const cluster = 'stowage-tests';
const password = 'pa:ss@w/rd%';

export interface GaleraNode {
	readonly pid: number;
	/** The URL of a database at this node. */
	url(database: string): string;
	query(sql: string): Promise<RowDataPacket[]>;
	kill(): Promise<void>;
	stop(): Promise<void>;
	/** Joins the cluster again and resolves once it is synced. */
	start(): Promise<void>;
	signal(name: NodeJS.Signals): void;
}

/** Two nodes of a real cluster and an arbitrator, each an own process on an address of its own ports. */
export interface Galera {
	readonly nodes: readonly [GaleraNode, GaleraNode];
	/** Makes an empty database and resolves to its URL at each node. */
	createDatabase(): Promise<[string, string]>;
	close(): Promise<void>;
}

/** `wrap` are words before the command of a node, such as faketime and its time. */
export async function startGalera(wrap: readonly (readonly string[])[] = []): Promise<Galera> {
	const missing = Object.values(programs).filter((path) => !existsSync(path));
	if (missing.length > 0)
		throw new Error(
			`These tests need a real cluster: apt-get install mariadb-server galera-4 galera-arbitrator-4 rsync (${missing.join(', ')})`,
		);
	const folder = await mkdtemp(join(tmpdir(), 'stowage-galera-'));
	await chmod(folder, 0o755);
	// Not as root: the daemon of rsync that brings a new node the data would be nobody.
	const uid = Number((await run('id', ['-u', 'mysql'])).stdout);
	const gid = Number((await run('id', ['-g', 'mysql'])).stdout);
	const peers = [0, 1].map((index) => `${host}:${ports(index).group}`);
	const children = new Set<ChildProcess>();
	let databases = 0;

	function launch(command: readonly string[], log: string): ChildProcess {
		const [program = '', ...rest] = command;
		const child = spawn('/bin/sh', ['-c', 'log=$1; shift; exec "$@" >>"$log" 2>&1', 'sh', log, program, ...rest], {
			uid,
			gid,
			stdio: 'ignore',
			env: { ...process.env, HOME: folder, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
		});
		child.unref();
		children.add(child);
		child.once('exit', () => children.delete(child));
		return child;
	}

	async function node(index: number): Promise<GaleraNode & { bootstrap(): Promise<void> }> {
		const own = join(folder, `node${index}`);
		await mkdir(join(own, 'tmp'), { recursive: true });
		await chown(own, uid, gid);
		await chown(join(own, 'tmp'), uid, gid);
		const log = join(own, 'log');
		await appendFile(log, '');
		await chown(log, uid, gid);
		await run(programs.install, [
			'--no-defaults',
			`--datadir=${own}/data`,
			`--tmpdir=${own}/tmp`,
			'--auth-root-authentication-method=normal',
			'--skip-test-db',
			'--user=mysql',
		]);
		const { sql, group, transfer, state } = ports(index);
		const options = [
			'--no-defaults',
			`--datadir=${own}/data`,
			`--tmpdir=${own}/tmp`,
			`--socket=${own}/socket`,
			`--pid-file=${own}/pid`,
			`--bind-address=${host}`,
			`--port=${sql}`,
			'--innodb-buffer-pool-size=64M',
			'--innodb-log-file-size=32M',
			'--innodb-flush-log-at-trx-commit=0',
			// A killed node loses nothing that it wrote, only a power cut would.
			'--debug-no-sync',
			'--innodb-flush-method=nosync',
			'--skip-innodb-doublewrite',
			'--innodb-autoinc-lock-mode=2',
			'--binlog-format=ROW',
			'--max-connections=500',
			'--performance-schema=off',
			'--wsrep-on=ON',
			`--wsrep-provider=${programs.provider}`,
			`--wsrep-cluster-name=${cluster}`,
			`--wsrep-node-name=node${index}`,
			`--wsrep-node-address=${host}:${group}`,
			'--wsrep-sst-method=rsync',
			`--wsrep-sst-receive-address=${host}:${state}`,
			`--wsrep-provider-options=base_port=${group};gmcast.listen_addr=tcp://${host}:${group};ist.recv_addr=${host}:${transfer};gcache.size=64M;gcache.page_size=16M;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT5S;evs.keepalive_period=PT0.5S`,
		];
		let child: ChildProcess | undefined;

		async function begin(address: string, ...further: string[]): Promise<void> {
			child = launch(
				[...(wrap[index] ?? []), programs.server, ...options, `--wsrep-cluster-address=gcomm://${address}`, ...further],
				log,
			);
			const { pid } = child;
			for (;;) {
				if (child.exitCode !== null || child.signalCode !== null)
					throw new Error(`Node ${index} ended (${pid}):\n${(await readFile(log, 'utf8')).slice(-4000)}`);
				try {
					const [row] = await self.query("show status like 'wsrep_local_state_comment'");
					if (row?.Value === 'Synced') return;
				} catch {
					// Not yet: it is still starting, or being brought up to date.
				}
				await wait(100);
			}
		}

		async function end(signal: NodeJS.Signals): Promise<void> {
			if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
			const ended = new Promise((resolve) => child?.once('exit', resolve));
			child.ref();
			child.kill(signal);
			await ended;
		}

		const self = {
			get pid() {
				return child?.pid ?? 0;
			},
			url: (database: string) => `mysql://stowage:${encodeURIComponent(password)}@${host}:${sql}/${database}`,
			async query(statement: string) {
				const connection = await mysql.createConnection({ host, port: sql, user: 'root', connectTimeout: 2000 });
				try {
					await connection.query('set session wsrep_sync_wait = 15').catch(() => undefined);
					const [rows] = await connection.query<RowDataPacket[]>({ sql: statement, timeout: 5000 });
					return rows;
				} finally {
					connection.destroy();
				}
			},
			bootstrap: () => begin('', '--wsrep-new-cluster'),
			start: () => begin(peers.join(',')),
			kill: () => end('SIGKILL'),
			stop: () => end('SIGTERM'),
			signal: (name: NodeJS.Signals) => void child?.kill(name),
		};
		return self;
	}

	async function close(): Promise<void> {
		const ended = [...children].map((child) => new Promise((resolve) => child.once('exit', resolve)));
		for (const child of children) {
			child.ref();
			child.kill('SIGKILL');
			child.kill('SIGCONT');
		}
		await Promise.all(ended);
		await rm(folder, { recursive: true, force: true });
	}

	try {
		const [first, second] = await Promise.all([node(0), node(1)]);
		await first.bootstrap();
		await second.start();
		launch(
			[
				programs.arbitrator,
				'--group',
				cluster,
				'--address',
				`gcomm://${peers.join(',')}`,
				'--options',
				`gmcast.listen_addr=tcp://${host}:${ports(2).group};evs.suspect_timeout=PT2S;evs.inactive_timeout=PT5S;evs.keepalive_period=PT0.5S`,
			],
			join(folder, 'node0', 'log'),
		);
		for (;;) {
			const [row] = await first.query("show status like 'wsrep_cluster_size'");
			if (row?.Value === '3') break;
			await wait(100);
		}
		await first.query(`create user stowage@'%' identified by '${password}'`);
		// No more than docs/cluster.md gives it.
		await first.query("grant all on `stowage\\_%`.* to stowage@'%'");
		return {
			nodes: [first, second],
			async createDatabase() {
				const name = `stowage_${++databases}`;
				await first.query(`create database ${name}`);
				return [first.url(name), second.url(name)];
			},
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}

function ports(index: number) {
	const base = 7430 + index * 10;
	return { sql: base, group: base + 1, transfer: base + 2, state: base + 3 };
}
