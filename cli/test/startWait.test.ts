import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createApp, createLog, loadConfig } from '@stowage/core';
import test, { type ExecutionContext } from 'ava';
import { until } from '../../packages/core/test/until.js';
import { type MariaDb, startMariadb } from '../../packages/database/test/mariadb.js';
import { plainArgs, startServer } from '../../test/serverProcess.js';
import { defaultPlugins } from '../src/commandLine/settings.js';
import { StartWait } from '../src/service/StartWait.js';
import { dataFolder, stowage } from './program.js';
import { serviceManager } from './serviceManager.js';

let mariadb: MariaDb;

test.before(async () => {
	mariadb = await startMariadb();
});

test.after.always(() => mariadb?.close());

for (const workers of ['1', '2'])
	test.serial(`a start waits for a database server that is away, and says so: workers ${workers}`, async (t) => {
		const { args, notify, next } = await serverWithoutDatabase(t, workers);
		const starting = startServer(t, { args, env: { NOTIFY_SOCKET: notify } });
		for (let pause = 0; pause < 3; pause++)
			t.is(await next(/./), 'STATUS=Waiting for the database (ECONNREFUSED)\nEXTEND_TIMEOUT_USEC=900000000');
		await mariadb.start();
		const server = await starting;
		await next(/^READY=1\nSTATUS=Serving at /);
		t.is((await fetch(`${server.url}/api/ready`)).status, 200);
		t.is(await server.stop(), 0);
	});

for (const workers of ['1', '2'])
	test.serial(
		`a start that waits for a database server ends at once when it is asked to: workers ${workers}`,
		async (t) => {
			const { server } = await waitingServer(t, workers);
			const ended = once(server, 'exit');
			server.kill('SIGTERM');
			t.deepEqual(await ended, [0, null]);
			await mariadb.start();
		},
	);

for (const workers of ['1', '2'])
	test.serial(`a start that waits is not ended by a reload, which follows it: workers ${workers}`, async (t) => {
		const { server, next } = await waitingServer(t, workers);
		server.kill('SIGHUP');
		// The last pause begins more than ten seconds later, the time limit of a reload.
		for (let pause = 0; pause < 5; pause++) t.regex(await next(/./), /^STATUS=Waiting/);
		await mariadb.start();
		t.regex(await next(/^(?!STATUS=Waiting)/), /^READY=1\nSTATUS=Serving at /);
		await next(/^RELOADING=1/);
		t.regex(await next(/./), /^READY=1\nSTATUS=Serving at /);
		const ended = once(server, 'exit');
		server.kill('SIGTERM');
		t.deepEqual(await ended, [0, null]);
	});

test('the pauses of a start that waits grow, and the log says it once', async (t) => {
	const lines: string[] = [];
	const waiting = new StartWait(createLog('info', { write: (line) => void lines.push(line) }), () => {});
	waiting.end();
	const pauses: number[] = [];
	for (let attempt = 0; attempt < 3; attempt++) {
		const began = performance.now();
		await waiting.pause('database', new Error('away'));
		pauses.push(performance.now() - began);
	}
	waiting.end();
	t.true(
		pauses.every((ms, at) => ms >= 490 * 2 ** at),
		pauses.join(' '),
	);
	t.deepEqual(
		lines.map((line) => JSON.parse(line).msg),
		['the database is not available: the start waits for it', 'the database is available, and the start goes on'],
	);
});

test.serial('a process that waits for a database server ends with the one that has started it', async (t) => {
	const { args, notify, next } = await serverWithoutDatabase(t, '2');
	const server = spawn(process.execPath, args, {
		env: { ...process.env, NODE_OPTIONS: '', NOTIFY_SOCKET: notify },
		stdio: 'ignore',
	});
	t.teardown(() => void server.kill('SIGKILL'));
	await next(/Waiting/);
	const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8');
	const [worker = 0] = children.trim().split(' ').map(Number);
	server.kill('SIGKILL');
	await until('the worker has ended', () => isGone(worker));
	await mariadb.start();
	t.pass();
});

/** Mounts a file system whose program has ended: the system answers each call with ENOTCONN. */
const mountDead = `
import ctypes, os, sys
fuse = os.open('/dev/fuse', os.O_RDWR)
options = f'fd={fuse},rootmode=40000,user_id=0,group_id=0'.encode()
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b'stowage-test', sys.argv[1].encode(), b'fuse', 0, options): sys.exit(os.strerror(ctypes.get_errno()))
`;

for (const what of ['data folder', 'database'])
	test(`a start waits for a disk that fails: that of the ${what}`, async (t) => {
		const folder = await dataFolder(t);
		const disk = path.join(folder, 'disk');
		await mkdir(disk);
		const run = promisify(execFile);
		try {
			await run('python3', ['-c', mountDead, disk]);
		} catch (error) {
			t.log(`No disk can be mounted here: ${(error as Error).message}`);
			return t.pass();
		}
		const unmount = () => run('umount', ['-l', disk]);
		t.teardown(() => unmount().catch(() => {}));
		const flags = {
			'--data-dir': what === 'database' ? path.join(folder, 'data') : disk,
			'--database-url': `sqlite:${disk}/stowage.db`,
			'--plugins': '{"@stowage/handbrake":false,"@stowage/preview":false}',
		};
		const waits: string[] = [];
		const waiting = new StartWait(createLog('silent'), (reason) => void waits.push(reason));
		const app = await createApp(loadConfig({ flags, defaultPlugins }), {
			log: createLog('silent'),
			async onUnavailable(...lacking) {
				await waiting.pause(...lacking);
				if (waits.length === 2) await unmount();
			},
		});
		await app.stop();
		t.deepEqual(waits, Array(2).fill(`Waiting for the ${what} (ENOTCONN)`));
	});

test.serial('a command does not wait for a database server that is away', async (t) => {
	const { url, dataDir } = await serverWithoutDatabase(t, '1');
	t.deepEqual(await stowage(['user', 'list', '--data-dir', dataDir, '--database-url', url]), {
		code: 1,
		stdout: '',
		stderr: 'The database is not available right now.',
	});
	await mariadb.start();
});

/** What starts a server over a database server that is stopped, and a service manager that it tells of that. */
async function serverWithoutDatabase(t: ExecutionContext, workers: string) {
	const folder = await dataFolder(t);
	const url = await mariadb.createDatabase();
	await mariadb.stop();
	const notify = path.join(folder, 'notify');
	const next = await serviceManager(t, notify);
	const dataDir = path.join(folder, 'data');
	return { url, dataDir, notify, next, args: plainArgs(dataDir, '--database-url', url, '--workers', workers) };
}

/** A server that has begun to wait for its database server. */
async function waitingServer(t: ExecutionContext, workers: string) {
	const { args, notify, next } = await serverWithoutDatabase(t, workers);
	const server = spawn(process.execPath, args, {
		env: { ...process.env, NODE_OPTIONS: '', NOTIFY_SOCKET: notify },
		stdio: 'ignore',
	});
	t.teardown(() => void server.kill('SIGKILL'));
	await next(/Waiting/);
	return { server, next };
}

/** Also of one that nobody has waited for. */
async function isGone(pid: number): Promise<boolean> {
	const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
	return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}
