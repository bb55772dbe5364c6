import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { execa } from 'execa';
import { loadConfig } from '../../packages/core/src/index.js';
import { defaultPlugins } from '../src/commandLine/settings.js';
import { checkStorage } from '../src/doctor/storage.js';
import { dataFolder, program, run } from './program.js';

/** A data folder with a second root and the user ada, whose home has `count` files. No server runs. */
async function scene(t: ExecutionContext, count: number) {
	const dataDir = await dataFolder(t);
	const big = path.join(await dataFolder(t), 'root');
	const flags = ['--data-dir', dataDir, '--log-level', 'error'];
	const call = (...words: string[]) => run([...words, ...flags]);
	t.is((await run(['user', 'add', 'ada', ...flags], 'correct horse\n')).code, 0);
	t.is((await call('root', 'add', 'big', big)).code, 0);
	const home = path.join(dataDir, 'files/users/ada');
	for (let n = 0; n < count; n++) {
		const folder = path.join(home, `folder ${n % 7}`);
		await mkdir(folder, { recursive: true });
		await writeFile(path.join(folder, `${n}.txt`), `${n} `.repeat(n));
	}
	return { dataDir, home, big, there: path.join(big, 'users/ada'), flags, call };
}

/** A hash of each file in a folder and below. */
async function hashesOf(folder: string): Promise<string[]> {
	const all = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = all.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
	const hashes = files.map(async (file) => {
		const hash = createHash('sha256').update(await readFile(file));
		return `${path.relative(folder, file)} ${hash.digest('hex')}`;
	});
	return (await Promise.all(hashes)).sort();
}

const names = async (folder: string) => (await readdir(folder).catch(() => [])).sort();

test('user move-root moves a home to another root and back without a running server', async (t) => {
	const { home, there, flags, call } = await scene(t, 20);
	const before = await hashesOf(home);
	const moved = await call('user', 'move-root', 'ada', 'big', '--json');
	t.is(moved.code, 0, moved.stderr);
	t.like(JSON.parse(moved.stdout), { status: 'completed', error: null, root: 'big' });
	t.deepEqual(await hashesOf(there), before);
	t.deepEqual(await names(home), []);
	t.regex((await call('user', 'move-root', 'ada', 'big')).stderr, /The home of ada lies on big already/);
	t.regex((await call('root', 'remove', 'big')).stderr, /There are homes on big/);

	t.regex((await call('user', 'move-root', 'ada', 'local', '--no-wait')).stdout, /moved by the server: [0-9a-f]{32}/);
	t.deepEqual(await hashesOf(there), before, 'no process runs the job yet');
	const other = await call('user', 'move-root', 'ada', 'big');
	t.is(other.code, 1);
	t.regex(other.stderr, /on its way to local already \(waiting for its turn\).*stowage job cancel/);
	const followed = await run(['user', 'move-root', 'ada', 'local', ...flags], '', { isTerminal: true });
	t.is(followed.stdout, 'The home of ada lies on local now.', followed.stderr);
	t.regex(followed.stderr, /^\r(Waiting for its turn|Copying|Comparing|Finishing).*\r\u001B\[K$/s);
	t.deepEqual(await hashesOf(home), before);
	t.deepEqual(await names(there), []);
	t.is((await call('root', 'remove', 'big')).code, 0);
});

test('of two commands that move a home at once the second shows the same move, or says where the other one moves it', async (t) => {
	const { home, there, big, call } = await scene(t, 3);
	const before = await hashesOf(home);
	await mkdir(`${big}-other`);
	t.is((await call('root', 'add', 'other', `${big}-other`)).code, 0);
	const same = await Promise.all([1, 2].map(() => call('user', 'move-root', 'ada', 'big', '--no-wait', '--json')));
	t.deepEqual(
		same.map(({ code, stderr }) => [code, stderr]),
		[0, 0].map((code) => [code, '']),
	);
	t.is(new Set(same.map(({ stdout }) => stdout)).size, 1, 'one job');
	t.is((await call('user', 'move-root', 'ada', 'big')).code, 0);
	t.deepEqual(await hashesOf(there), before);

	const different = await Promise.all(
		['local', 'other'].map((root) => call('user', 'move-root', 'ada', root, '--no-wait')),
	);
	t.deepEqual(different.map(({ code }) => code).sort(), [0, 1]);
	t.regex(different.map(({ stderr }) => stderr).join(''), /The home of ada is on its way to (local|other) already/);
});

test('user move-root continues a move whose process was killed', async (t) => {
	const count = 140;
	const { dataDir, home, there, big, flags, call } = await scene(t, count);
	const before = await hashesOf(home);
	// The command measures the home when the move is requested and when it begins, and reads each name again as it copies.
	const dying = pathToFileURL(path.resolve('test/faults/programs/dyingStorage.js')).href;
	const plugins = JSON.stringify({ [dying]: { root: path.join(dataDir, 'files'), names: Math.floor(count * 2.6) } });
	const words = ['user', 'move-root', 'ada', 'big', ...flags, '--storage', 'dying', '--plugins', plugins];
	const first = await execa(process.execPath, [program, ...words], { reject: false, env: { NODE_OPTIONS: '' } });
	t.is(first.signal, 'SIGKILL', first.stderr);
	const copied = (await readdir(path.join(big, 'copies'), { recursive: true })).length;
	t.true(copied > 20 && copied < count, `killed in the middle of the copy: ${copied}`);
	t.deepEqual(await hashesOf(home), before);
	t.deepEqual(await names(there), []);
	const again = await call('user', 'move-root', 'ada', 'big');
	t.is(again.code, 0, again.stderr);
	t.deepEqual(await hashesOf(there), before);
	t.deepEqual(await names(home), []);
	t.deepEqual(await names(path.join(big, 'copies')), []);
});

test('user disable says that it ends the move of the home', async (t) => {
	const { call } = await scene(t, 1);
	await call('user', 'move-root', 'ada', 'big', '--no-wait');
	const lines = ['Disabled ada.', 'The move of this home to big was cancelled: the home stays where it was.'];
	t.is((await call('user', 'disable', 'ada')).stdout, lines.join('\n'));
	t.is((await call('user', 'disable', 'ada')).stdout, 'Disabled ada.');
	t.is((await call('user', 'enable', 'ada')).code, 0);
	t.is((await call('user', 'move-root', 'ada', 'big')).stdout, 'The home of ada lies on big now.');
});

test('doctor reports a home that is being moved, and the folder that a move left behind', async (t) => {
	const { dataDir, there, call } = await scene(t, 1);
	const config = loadConfig({ flags: { '--data-dir': dataDir }, defaultPlugins });
	const findings = async () =>
		(await checkStorage(config)).filter(({ what }) => what === 'home move' || what === 'old home');
	t.deepEqual(await findings(), []);
	const { job } = JSON.parse((await call('user', 'move-root', 'ada', 'big', '--no-wait', '--json')).stdout);
	await mkdir(there);
	const moving = await findings();
	t.like(moving, [
		{
			state: 'warn',
			message: 'the home of ada is on its way to big, and waits or was cut off',
			remedy: `Start the server, or: stowage user move-root ada big. To end it: stowage job cancel ${job}`,
		},
	]);
	t.is(moving.length, 1, 'the copy of a move under way is no old home');
	t.is((await call('job', 'cancel', '--user', 'ada', '--kind', 'copy')).stdout, '');
	t.is((await call('job', 'cancel', '--user', 'ada', '--kind', 'move-root')).stdout, `Cancelled ${job}.`);
	t.is((await call('job', 'retry', job)).stdout, `Queued ${job} again.`);
	t.is((await call('job', 'cancel', job)).stdout, `Cancelled ${job}.`);
	t.like(await call('job', 'cancel', job), { code: 0, stdout: `${job} had ended already: cancelled.` });
	const left = await findings();
	t.is(left.length, 1);
	t.like(left[0], { state: 'warn', what: 'old home' });
	t.true(left[0]?.message.endsWith(`there is still a folder users/ada on big (${there})`), left[0]?.message);
	t.regex(left[0]?.remedy ?? '', /bring over what is missing in the home, and remove the folder/);
});
