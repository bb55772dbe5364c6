import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { freePort } from '../freePort.js';
import { memoryFolder } from '../memoryFolder.js';
import { type ServerProcess, serveArgs, startServer } from '../serverProcess.js';
import { assertArrivedOnce, sendAll } from './arrivingOnce.js';

const share = Number(process.env.TEST_SHARE ?? 1);
const load = { uploads: 200 * share, bytes: 50 * 1024 ** 2, forms: 1000 * share, repeatMs: 60_000 };
const everyMs = 5000;

test.serial('nothing is lost or doubled while a worker is killed each five seconds', (t) => uploadWhileKilling(t));

test.serial('nothing is lost or doubled while a worker is killed each five seconds, on MariaDB', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(mariadb.close);
	await uploadWhileKilling(t, await mariadb.createDatabase());
});

test.serial('a worker that hangs keeps a server that is asked to end no longer than 25 seconds', async (t) => {
	const server = await startServer(t, { args: serveArgs(await memoryFolder(t), '--workers', '2') });
	const [hanging] = await workersOf(server);
	process.kill(hanging as number, 'SIGSTOP');
	const begun = performance.now();
	process.kill(server.pid, 'SIGTERM');
	t.is(await server.ended, 0);
	const took = performance.now() - begun;
	t.true(took < 26_500, `${took} ms`);
});

/** A server that has ended with 70, since too many of its workers died, is started again as by a service manager. */
async function uploadWhileKilling(t: ExecutionContext, databaseUrl?: string): Promise<void> {
	const dataDir = await memoryFolder(t, 256 + (load.uploads * load.bytes * 1.5) / 1024 ** 2);
	const args = serveArgs(
		...([dataDir, '--workers', '4', '--search-index', 'false', '--port', `${await freePort()}`] as const),
		...(databaseUrl === undefined ? [] : ['--database-url', databaseUrl]),
	);
	let server = await startServer(t, { args });
	const cookie = await server.register('ada');
	const ending = new AbortController();
	let kills = 0;
	let starts = 1;
	const pause = (ms: number) => wait(ms, undefined, { signal: ending.signal }).catch(() => undefined);
	const killing = (async () => {
		for (await pause(everyMs); !ending.signal.aborted; await pause(everyMs)) {
			const workers = await workersOf(server);
			const killed = workers[kills % workers.length];
			if (killed !== undefined && endsNow(killed)) kills++;
		}
	})();
	const restarting = (async () => {
		while (!ending.signal.aborted) {
			const ended = await Promise.race([server.ended, pause(500).then(() => 'serves' as const)]);
			if (ended === 'serves') continue;
			if (ended !== 70) throw new Error(`The server ended with ${ended}.`);
			server = await startServer(t, { args });
			starts++;
		}
	})();
	const expected = await sendAll(load, () => server.url, cookie).finally(() => ending.abort());
	await Promise.all([killing, restarting]);
	await assertArrivedOnce(t, path.join(dataDir, 'files/users/ada'), expected);
	t.true(kills > 0);
	t.log(`${kills} workers were killed, the server was started ${starts} times`);
}

async function workersOf({ pid }: Pick<ServerProcess, 'pid'>): Promise<number[]> {
	try {
		const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
		return children.trim().split(' ').filter(Boolean).map(Number);
	} catch (error) {
		// It has ended, and is started again.
		if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
		throw error;
	}
}

function endsNow(pid: number): boolean {
	try {
		return process.kill(pid, 'SIGKILL');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
		throw error;
	}
}
