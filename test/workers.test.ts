import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '@stowage/database';
import test, { type ExecutionContext } from 'ava';
import { until } from '../packages/core/test/until.js';
import { freePort } from './freePort.js';
import { jobSite } from './jobServers.js';
import { pageEvents } from './pageEvents.js';
import { plainArgs, type ServerProcess, serveArgs, startServer } from './serverProcess.js';

async function temporaryFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-workers-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** The processes that serve, which the first one has started. */
async function workersOf({ pid }: Pick<ServerProcess, 'pid'>): Promise<number[]> {
	const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
	return children.trim().split(' ').filter(Boolean).map(Number);
}

/** Beyond this it may have come back to a kept connection only after the server had closed it as idle, which takes a second. */
const maxStandstillMs = 500;

/**
 * Requests on connections that are kept, until it is told to stop; resolves to how many were answered, and what failed. A
 * request is repeated only where this process itself has stood still meanwhile and found its kept connection closed.
 */
function requestsUntil(url: string, isOver: () => boolean): Promise<{ answered: number; failures: string[] }> {
	const agent = new http.Agent({ keepAlive: true, maxSockets: 10 });
	const standstill = monitorEventLoopDelay();
	standstill.enable();
	let answered = 0;
	const failures: string[] = [];
	const one = (): Promise<void> =>
		new Promise((resolve) => {
			const sent = http.get(`${url}/api/health`, { agent }, (answer) => {
				if (answer.statusCode === 200) answered++;
				else failures.push(String(answer.statusCode));
				answer.resume().on('end', resolve);
			});
			sent.on('error', (error: NodeJS.ErrnoException) => {
				if (sent.reusedSocket && standstill.max > maxStandstillMs * 1e6) return resolve(one());
				failures.push(error.code ?? error.message);
				resolve();
			});
		});
	const lane = async () => {
		for (; !isOver(); await wait(5)) await one();
	};
	return Promise.all(Array.from({ length: 10 }, lane)).then(() => {
		standstill.disable();
		agent.destroy();
		return { answered, failures };
	});
}

test('three processes serve behind one port, share sessions and files, and are counted together', async (t) => {
	const metrics = `127.0.0.1:${await freePort()}`;
	const server = await startServer(t, {
		args: plainArgs(await temporaryFolder(t), '--workers', '3', '--metrics-listen', metrics),
	});
	t.is((await workersOf(server)).length, 3);
	const cookie = await server.register('ann');
	// Connections are handed to one process after another.
	for (let n = 0; n < 9; n++) {
		const made = await fetch(`${server.url}/api/createFolder`, {
			method: 'POST',
			headers: { cookie, 'content-type': 'application/json', connection: 'close' },
			body: JSON.stringify({ type: 'private', directory: '', folderName: `f${n}` }),
		});
		t.is(made.status, 200, await made.text());
	}
	const listed = await fetch(`${server.url}/api/browse?type=private&directory=`, { headers: { cookie } });
	const { entries } = (await listed.json()) as { entries: { name: string }[] };
	t.is(entries.filter(({ name }) => /^f\d$/.test(name)).length, 9);

	const read = async () => (await fetch(`http://${metrics}/metrics`)).text();
	const counts = await read();
	t.regex(counts, /^stowage_requests_total\{route="post \/api\/createFolder",status="200"\} 9$/m);
	t.regex(counts, /^stowage_request_duration_seconds_count\{route="post \/api\/createFolder"\} 9$/m);
	for (const worker of [1, 2, 3])
		t.regex(counts, new RegExp(`^stowage_connections\\{worker="${worker}"\\} \\d+$`, 'm'));

	const before = await workersOf(server);
	for (const pid of before) process.kill(pid, 'SIGTERM');
	await until('each was replaced', async () => {
		const now = await workersOf(server);
		return now.length === 3 && now.every((pid) => !before.includes(pid));
	});
	await until('all of them are counted', async () => (await read()).match(/^stowage_info/gm)?.length === 3);
	t.regex(
		await read(),
		/^stowage_requests_total\{route="post \/api\/createFolder",status="200"\} 9$/m,
		'what processes counted that have ended stays counted',
	);
	t.is(await server.stop(), 0);
});

test('of a burst of connections none waits for ever, and none stays open in the process that hands them on', async (t) => {
	const server = await startServer(t, {
		args: plainArgs(await temporaryFolder(t), '--workers', '2', '--max-connections-per-address', '10000'),
	});
	const descriptors = async () => (await readdir(`/proc/${server.pid}/fd`)).length;
	const before = await descriptors();
	const sent = Array.from(
		{ length: 800 },
		() =>
			new Promise<string>((resolve) => {
				const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1');
				socket.write('GET /api/health HTTP/1.1\r\nHost: nas\r\nConnection: close\r\n\r\n');
				let answer = '';
				socket.on('data', (data) => {
					answer += data;
				});
				socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
				socket.on('end', () => resolve(answer.split('\r\n', 1)[0] as string));
			}),
	);
	t.deepEqual([...new Set(await Promise.all(sent))], ['HTTP/1.1 200 OK']);
	await until('all were handed on', async () => (await descriptors()) <= before + 2);
	t.is(await server.stop(), 0);
});

test('a process that is killed is replaced, and those beside it go on answering', async (t) => {
	const server = await startServer(t, { args: plainArgs(await temporaryFolder(t), '--workers', '2') });
	const [killed, other] = await workersOf(server);
	process.kill(killed as number, 'SIGKILL');
	await until('it was replaced', async () => {
		const now = await workersOf(server);
		return now.length === 2 && !now.includes(killed as number);
	});
	t.true((await workersOf(server)).includes(other as number));
	for (let n = 0; n < 10; n++) t.is((await fetch(`${server.url}/api/health`)).status, 200);
	t.is(await server.stop(), 0);
});

/** Starts a server, without waiting until it serves, and calls back with each line that it writes. */
function startedServer(t: ExecutionContext, args: readonly string[], onLine: (line: string) => void) {
	const server = spawn(process.execPath, args, {
		env: { ...process.env, NODE_OPTIONS: '' },
		stdio: ['ignore', 'pipe', 'pipe'],
		detached: true,
	});
	const ended = once(server, 'close');
	const isOver = () => server.exitCode !== null || server.signalCode !== null;
	t.teardown(async () => {
		if (!isOver()) process.kill(-(server.pid as number), 'SIGKILL');
		await ended;
	});
	for (const output of [server.stdout, server.stderr]) createInterface({ input: output }).on('line', onLine);
	return { pid: server.pid as number, kill: () => server.kill('SIGTERM'), isOver, ended };
}

test('a process that is killed before all serve is replaced and named in the log, once one has served', async (t) => {
	const lines: string[] = [];
	let killed: number | undefined;
	const args = plainArgs(await temporaryFolder(t), '--workers', '2', '--log-level', 'info');
	const server = startedServer(t, args, (line) => {
		lines.push(line);
		if (killed !== undefined || !line.includes('"a process serves"')) return;
		killed = JSON.parse(line).pid as number;
		process.kill(killed, 'SIGKILL');
	});
	await until('both serve', () => server.isOver() || lines.some((line) => line.includes('Stowage is ready at')));
	t.false(server.isOver(), lines.join('\n'));
	const [line = '{}'] = lines.filter((each) => each.includes('ended by itself'));
	t.like(JSON.parse(line), { level: 50, worker: 1, pid: killed, code: null, signal: 'SIGKILL' });
	const now = await workersOf(server);
	t.true(now.length === 2 && !now.includes(killed ?? 0));
	server.kill();
	t.deepEqual(await server.ended, [0, null]);
});

test('a process that is killed before any has served ends the server, and the log names it', async (t) => {
	const lines: string[] = [];
	// It waits for its database.
	const away = `mysql://nobody@127.0.0.1:${await freePort()}/none`;
	const args = plainArgs(await temporaryFolder(t), '--workers', '2', '--log-level', 'warn', '--database-url', away);
	const server = startedServer(t, args, (line) => lines.push(line));
	await until('it has begun', async () => (await workersOf(server)).length === 1);
	const [killed = 0] = await workersOf(server);
	process.kill(killed, 'SIGKILL');
	t.deepEqual(await server.ended, [1, null]);
	const [line = '{}'] = lines.filter((each) => each.includes('ended by itself'));
	t.like(JSON.parse(line), { level: 50, worker: 1, pid: killed, code: null, signal: 'SIGKILL' });
});

test('a process that hangs is killed and replaced, and gets only so many connections meanwhile', async (t) => {
	const server = await startServer(t, { args: plainArgs(await temporaryFolder(t), '--workers', '2') });
	const [hanging] = await workersOf(server);
	process.kill(hanging as number, 'SIGSTOP');
	// Every other one waits in the process that hangs, until that is full.
	const requests = Array.from({ length: 80 }, () =>
		fetch(`${server.url}/api/health`, { headers: { connection: 'close' } }).then(
			({ status }) => status,
			() => undefined,
		),
	);
	await until('it was replaced', async () => {
		const now = await workersOf(server);
		return now.length === 2 && !now.includes(hanging as number);
	});
	const statuses = await Promise.all(requests);
	t.true(statuses.filter((status) => status === 200).length >= 48, 'those of the other one were answered');
	t.true(statuses.includes(undefined), 'those of the one that hung were closed, and none waits for ever');
	for (let n = 0; n < 10; n++) t.is((await fetch(`${server.url}/api/health`)).status, 200);
	t.is(await server.stop(), 0);
});

test('SIGUSR2 replaces one process after another, and no request fails', async (t) => {
	const server = await startServer(t, { args: plainArgs(await temporaryFolder(t), '--workers', '2') });
	const before = await workersOf(server);
	let isOver = false;
	const requests = requestsUntil(server.url, () => isOver);
	process.kill(server.pid, 'SIGUSR2');
	await until('all have been replaced', async () => {
		const now = await workersOf(server);
		return now.length === 2 && now.every((pid) => !before.includes(pid));
	});
	isOver = true;
	const { answered, failures } = await requests;
	t.deepEqual(failures, []);
	t.true(answered > 50, `${answered} were answered`);
	t.is(await server.stop(), 0);
});

/** Starts a server whose log goes into a file; `lines` reads it. */
async function loggingServer(t: ExecutionContext, folder: string, ...rest: string[]) {
	const file = path.join(folder, 'log');
	const program = [process.execPath, ...plainArgs(path.join(folder, 'data'), ...rest)];
	const server = await startServer(t, {
		command: '/bin/sh',
		args: ['-c', 'exec "$@" 2> "$0"', file, ...program],
	});
	return { server, lines: async () => (await readFile(file, 'utf8')).split('\n') };
}

test('where one process serves, SIGUSR2 changes nothing, and the log says so', async (t) => {
	const { server, lines } = await loggingServer(t, await temporaryFolder(t), '--workers', '1');
	process.kill(server.pid, 'SIGUSR2');
	await until('the log says so', async () =>
		(await lines()).some((line) => line.includes('one process serves, and nothing was replaced')),
	);
	t.is((await fetch(`${server.url}/api/health`)).status, 200);
	t.is(await server.stop(), 0);
});

test('of `workers: auto` the log says how many serve', async (t) => {
	const { server, lines } = await loggingServer(t, await temporaryFolder(t), '--workers', 'auto');
	const count = os.availableParallelism();
	t.true((await lines()).some((line) => line.includes(`"workers":${count},`)));
	t.is(await server.stop(), 0);
});

test('the process that listens logs by the level that its workers have read', async (t) => {
	const folder = await temporaryFolder(t);
	const config = path.join(folder, 'stowage.yaml');
	await writeFile(config, 'log:\n  level: error\n');
	const { server, lines } = await loggingServer(t, folder, '--workers', '2', '--config', config);
	await writeFile(config, 'log:\n  level: info\n');
	process.kill(server.pid, 'SIGHUP');
	await until('both have read it', async () => {
		return (await lines()).filter((line) => line.includes('the configuration was reloaded')).length === 2;
	});
	await until('the first process has its level', async () => {
		process.kill(server.pid, 'SIGUSR2');
		await wait(100);
		return (await lines()).some((line) => line.includes('the processes are replaced one after another'));
	});
	t.is(await server.stop(), 0);
});

test('what a process sends goes on when it is asked to end, and is whole', async (t) => {
	const folder = await temporaryFolder(t);
	const server = await startServer(t, { args: plainArgs(folder, '--workers', '2') });
	const cookie = await server.register('ann');
	// More than the buffers of a connection, and no more than a busy machine reads within the time that transfers have.
	const size = 16 * 1024 * 1024;
	await writeFile(path.join(folder, 'files/users/ann/film.bin'), '');
	await truncate(path.join(folder, 'files/users/ann/film.bin'), size);
	const [answer] = (await once(
		http.get(`${server.url}/api/download/film.bin?type=private`, { agent: false, headers: { cookie } }),
		'response',
	)) as [http.IncomingMessage];
	await once(answer, 'readable');
	const ended = server.stop();
	// Longer than idle connections are kept.
	await wait(1500);
	t.is((await buffer(answer)).length, size);
	t.is(await ended, 0);
});

test('processes that end again and again end the server, with 70', async (t) => {
	const server = await startServer(t, { args: plainArgs(await temporaryFolder(t), '--workers', '2') });
	let hasEnded = false;
	const ended = server.ended.finally(() => {
		hasEnded = true;
	});
	while (!hasEnded) {
		// It has ended since it was listed.
		const [pid] = await workersOf(server).catch(() => []);
		if (pid !== undefined)
			try {
				process.kill(pid, 'SIGKILL');
			} catch (error) {
				if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
			}
		await wait(100);
	}
	t.is(await ended, 70);
});

test('a mistake that only the serving processes find ends the server as it would end one process', async (t) => {
	const { status, stderr } = spawnSync(
		process.execPath,
		serveArgs(await temporaryFolder(t), '--workers', '2', '--plugins', '{"@stowage/nowhere": {}}'),
		{ encoding: 'utf8' },
	);
	t.is(status, 78, stderr);
	t.regex(stderr, /@stowage\/nowhere/);
});

test('the socket of several processes has its mode, what a crash left is replaced, and it goes with the server', async (t) => {
	const folder = await temporaryFolder(t);
	const socket = path.join(folder, 'stowage.sock');
	// A socket without a listener, as a crash leaves it.
	spawnSync(process.execPath, [
		'-e',
		`require('net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`,
	]);
	t.true((await stat(socket)).isSocket());
	const data = path.join(folder, 'data');
	const server = await startServer(t, {
		args: plainArgs(data, '--workers', '2', '--listen', `unix:${socket}`, '--socket-mode', '640'),
	});
	t.is(server.url, `unix:${socket}`);
	const status = () =>
		new Promise<number | undefined>((resolve, reject) =>
			http
				.get({ socketPath: socket, path: '/api/ready', headers: { host: 'nas' }, agent: false }, (answer) => {
					answer.resume();
					resolve(answer.statusCode);
				})
				.on('error', reject),
		);
	for (let n = 0; n < 4; n++) t.is(await status(), 200);
	await until('the mode is set', async () => ((await stat(socket)).mode & 0o777) === 0o640);
	const before = await workersOf(server);
	for (const pid of before) process.kill(pid, 'SIGKILL');
	await until('they serve again', async () => (await status().catch(() => 0)) === 200);
	await until('the mode is set again', async () => ((await stat(socket)).mode & 0o777) === 0o640);
	t.is(await server.stop(), 0);
	t.false((await readdir(folder)).includes('stowage.sock'));
	// What the processes make has the modes of a server that serves alone.
	const alone = path.join(folder, 'alone');
	const one = await startServer(t, { args: plainArgs(alone) });
	await one.stop();
	for (const name of ['', 'files', 'stowage.db'])
		t.is((await stat(path.join(data, name))).mode, (await stat(path.join(alone, name))).mode, name);
});

test('SIGHUP has all processes read the configuration again', async (t) => {
	const folder = await temporaryFolder(t);
	const config = path.join(folder, 'stowage.yaml');
	await writeFile(config, 'registration: open\n');
	const server = await startServer(t, {
		args: plainArgs(path.join(folder, 'data'), '--workers', '2', '--config', config),
	});
	const registration = async () => {
		const answer = await fetch(`${server.url}/api/capabilities`, { headers: { connection: 'close' } });
		return ((await answer.json()) as { registration: string }).registration;
	};
	t.is(await registration(), 'open');
	await writeFile(config, 'registration: closed\n');
	process.kill(server.pid, 'SIGHUP');
	await until('both have read it', async () => {
		const answers = [await registration(), await registration(), await registration(), await registration()];
		return answers.every((answer) => answer === 'closed');
	});
	t.is(await server.stop(), 0);
});

test('a page hears of the trash, of a ticket and of a job by another process, and no event is written for that', async (t) => {
	const site = await jobSite(t);
	const server = await site.start('--workers', '2');
	const cookie = await server.register('ann');
	/** On a connection of its own: of two one after another, one goes to each process. */
	const call = async (method: string, address: string, body?: object) => {
		const json: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
		const answer = await fetch(`${server.url}${address}`, {
			method,
			headers: { cookie, connection: 'close', ...json },
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
		if (!answer.ok) throw new Error(`${method} ${address}: ${answer.status} ${await answer.text()}`);
		return answer;
	};
	const folder = (folderName: string) =>
		call('POST', '/api/createFolder', { type: 'private', directory: '', folderName });
	for (const name of ['a', 'b', 'c', 'd']) await folder(name);
	const page = await pageEvents(server, cookie);
	const heard = (event: string, isIt: (data: Record<string, unknown>) => boolean) =>
		page.received.filter((each) => each.event === event && isIt(each.data)).length > 0;

	for (const name of ['a', 'b']) {
		const before = page.received.filter(({ event }) => event === 'trash').length;
		await call('DELETE', '/api/deleteItem', { type: 'private', filePath: name });
		await until(
			`the page hears that ${name} was deleted`,
			() => page.received.filter(({ event }) => event === 'trash').length > before,
		);
	}
	const tickets = [];
	for (const name of ['c', 'd']) {
		const selection = { files: [{ path: name }], type: 'private', directory: '' };
		tickets.push(
			(await (await call('POST', '/api/downloadTickets', selection)).json()) as { ticket: string; url: string },
		);
	}
	for (const { ticket, url } of tickets) {
		await (await call('GET', url)).arrayBuffer();
		await until('the page hears of the download', () =>
			heard('ticket', (data) => data.ticket === ticket && data.state === 'done'),
		);
	}
	for (const _ of [1, 2]) {
		const [id] = (await (await call('POST', '/api/testJobs/many/1')).json()) as string[];
		await until('the page hears of the job', () => heard('job', ({ job }) => (job as { id: string }).id === id));
	}
	const database = await openDatabase(`sqlite:${path.join(site.dataDir, 'stowage.db')}`);
	t.deepEqual(await database.events.latest(60_000, 'reader'), []);
	await database.close();
	await page.close();
	t.is(await server.stop(), 0);
});
