import { access, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { execa } from 'execa';
import { until } from '../../packages/core/test/until.js';
import { dataFolder, program, stowage } from './program.js';

/** Mounts a file system of which nobody answers a call, as of a server that is gone, and runs the rest of the words. */
const mountHung =
	'exec 3<>/dev/fuse; mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0,allow_other none "$0" && exec "$@"';

/** Runs commands beside each other while the disk of a root never answers. They end within a minute, or are killed. */
async function whileHung(t: ExecutionContext, disk: string, commands: readonly (readonly string[])[]) {
	t.is(process.geteuid?.(), 0, 'this test runs as root');
	t.timeout(120_000);
	const runs = commands.map((words) =>
		execa('unshare', ['--mount', 'sh', '-c', mountHung, disk, process.execPath, program, ...words], {
			...{ reject: false, timeout: 60_000, killSignal: 'SIGKILL', env: { NODE_OPTIONS: '' } },
		}),
	);
	return (await Promise.all(runs)).map(({ exitCode, stdout, stderr }) => ({ code: exitCode, stdout, stderr }));
}

test('commands end, and say so, while the disk of the first root does not answer', async (t) => {
	const folder = await dataFolder(t);
	const disk = path.join(folder, 'disk');
	await mkdir(disk);
	const file = path.join(folder, 'stowage.yaml');
	const root = path.join(disk, 'files');
	const plugins = { '@stowage/storage-local': { root }, '@stowage/handbrake': false, '@stowage/preview': false };
	await writeFile(file, JSON.stringify({ dataDir: path.join(folder, 'data'), plugins }));
	t.is((await stowage(['user', 'list', '--config', file])).code, 0);
	const [check, doctor, roots] = await whileHung(t, disk, [
		['config', 'check', '--config', file],
		['doctor', '--json', '--config', file],
		['root', 'check', '--config', file],
	]);
	t.is(check?.code, 1);
	t.is(
		check?.stderr,
		`The first storage root, ${root}, can't be examined: there was no answer within 5 s. Its disk may be away.`,
	);
	t.is(doctor?.code, 2, doctor?.stderr);
	const findings = JSON.parse(doctor?.stdout ?? '[]') as { state: string; what: string; message: string }[];
	t.deepEqual(
		findings.filter(({ state }) => state === 'error').map(({ what }) => what),
		['storage root'],
	);
	t.regex(findings.find(({ what }) => what === 'storage root')?.message ?? '', /no answer within 10 s/);
	t.is(roots?.code, 1);
	t.regex(roots?.stdout ?? '', /unavailable.*no answer within 10 s/s);
});

test('commands go on while the disk of a further root does not answer', async (t) => {
	const folder = await dataFolder(t);
	const disk = path.join(folder, 'disk');
	await mkdir(disk);
	const data = ['--data-dir', path.join(folder, 'data')];
	t.is((await stowage(['user', 'add', 'ada', ...data], { input: 'correct horse\n' })).code, 0);
	t.is((await stowage(['root', 'add', 'big', path.join(disk, 'files'), ...data])).code, 0);
	const [users, roots] = await whileHung(t, disk, [
		['user', 'list', ...data],
		['root', 'check', ...data],
	]);
	t.is(users?.code, 0, users?.stderr);
	t.regex(users?.stdout ?? '', /ada/);
	t.is(roots?.code, 1);
	t.regex(roots?.stdout ?? '', /big.*no answer within 10 s/s);
});

/** A server while the disk of its first root never answers, and what it prints. It is killed after a while. */
async function hungServer(t: ExecutionContext, workers: number) {
	t.timeout(120_000);
	const folder = await dataFolder(t);
	const disk = path.join(folder, 'disk');
	await mkdir(disk);
	const dataDir = path.join(folder, 'data');
	const plugins = { '@stowage/storage-local': { root: path.join(disk, 'files') } };
	const server = execa(
		'unshare',
		[
			...['--mount', 'sh', '-c', mountHung, disk, process.execPath, program, 'serve', '--port', '0'],
			...['--data-dir', dataDir, '--plugins', JSON.stringify(plugins), '--workers', `${workers}`],
		],
		{ reject: false, timeout: 100_000, killSignal: 'SIGKILL', env: { NODE_OPTIONS: '' } },
	);
	let output = '';
	server.stdout.on('data', (chunk) => {
		output += chunk;
	});
	return { server, dataDir, output: () => output };
}

for (const workers of [1, 2]) {
	test(`a server that is asked to stop ends while a disk does not answer: workers ${workers}`, async (t) => {
		const { server, output } = await hungServer(t, workers);
		await until('the server serves', async () => output().includes('Stowage is ready'), 60_000);
		server.kill('SIGTERM');
		const { exitCode, signal, timedOut } = await server;
		t.deepEqual({ exitCode, signal, timedOut }, { exitCode: 0, signal: undefined, timedOut: false });
	});
}

test('a server that is asked to stop ends while it waits for a disk at its start', async (t) => {
	const { server, dataDir } = await hungServer(t, 1);
	const isThere = (file: string) =>
		access(path.join(dataDir, file)).then(
			() => true,
			() => false,
		);
	await until('the server starts', () => isThere('stowage.db'), 60_000);
	// Of the ten seconds for which it waits.
	await sleep(4_000);
	server.kill('SIGTERM');
	const { exitCode, signal, timedOut } = await server;
	t.deepEqual({ exitCode, signal, timedOut }, { exitCode: 0, signal: undefined, timedOut: false });
});
