import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { Client, file, testApp } from '../../packages/core/test/testApp.js';
import { dataFolder, run, stowage } from './program.js';

test('audit lists who did what while a server runs, filtered, limited to the latest lines, or as JSON', async (t) => {
	const app = await testApp(t);
	const flags = ['--data-dir', app.dataDir];
	const ada = await new Client(app).register('ada');
	for (const name of ['a.txt', 'b.txt', 'c.txt']) await ada.upload('/api/upload', [file(name, 'twelve bytes')]);
	await ada.call('DELETE', '/api/deleteItem', { type: 'private', filePath: 'b.txt' });
	t.is((await run(['user', 'disable', 'ada', ...flags, '--log-level', 'error'])).code, 0);
	await app.services.audit.close();

	const audit = async (...args: string[]) => {
		const { code, stdout, stderr } = await run(['audit', ...flags, ...args]);
		t.is(code, 0, stderr);
		return stdout.split('\n').map((line) => line.split('\t').slice(1));
	};
	const all = await audit();
	t.deepEqual(all.at(1), ['ada', '127.0.0.1', 'upload', 'ok', 'private:/a.txt  12 B']);
	t.regex(all.at(-1)?.[0] ?? '', / \(command line\)$/);
	t.deepEqual(all.at(-1)?.slice(2), ['disableUser', 'ok', 'ada']);
	t.deepEqual(
		(await audit('--action', 'upload', 'delete', '--path', '/b.txt')).map(([, , action]) => action),
		['upload', 'delete'],
	);
	t.deepEqual(
		(await audit('--limit', '2')).map(([, , action]) => action),
		['delete', 'disableUser'],
	);
	t.is((await audit('--user', 'ada', '--since', '1h')).length, 6);
	t.deepEqual(await audit('--user', 'bob'), [[]]);
	t.deepEqual(await audit('--until', '2020-01-01'), [[]]);
	const { stdout } = await run(['audit', ...flags, '--json', '--limit', '1', '--action', 'delete']);
	t.like(JSON.parse(stdout), { action: 'delete', path: 'b.txt', user: 'ada', outcome: 'ok' });
});

test('audit refuses an invalid option with a sentence, and prints nothing before the first record', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	await app.services.audit.close();
	const flags = ['--data-dir', app.dataDir];
	for (const [words, sentence] of [
		[['--since', 'soon'], /^--since: must be a time/],
		[['--limit', '0'], /^--limit: must be a whole number/],
		[['--action', 'think'], /choices are signUp/],
	] as const) {
		const { code, stderr } = await run(['audit', ...flags, ...words]);
		t.is(code, 1);
		t.regex(stderr, sentence);
		t.notRegex(stderr, /\n\s+at /);
	}
	t.is((await run(['audit', '--data-dir', await dataFolder(t)])).stdout, '', 'nothing was recorded yet');
});

const isRoot = process.geteuid?.() === 0;

test('audit fails with a sentence for a user who may not read the log', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	await app.services.audit.close();
	const folder = path.join(app.dataDir, 'audit');
	const args = ['audit', '--data-dir', app.dataDir];
	if (isRoot) {
		// Root may read everything, so the command runs as the user nobody.
		await chmod(app.dataDir, 0o755);
		t.is((await readdir(folder)).length, 1);
		const { code, stderr } = await stowage(args, { env: { PUID: '65534', PGID: '65534' } });
		t.is(code, 1);
		t.regex(stderr, /^This user may not read .*audit/);
	} else {
		await chmod(folder, 0);
		t.teardown(() => chmod(folder, 0o700));
		const { code, stderr } = await run(args);
		t.is(code, 1);
		t.regex(stderr, /^This user may not read .*audit/);
	}
});

test('audit --follow prints new records until SIGINT', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await app.services.audit.close();
	const program = fileURLToPath(new URL('../src/main.js', import.meta.url));
	const args = [program, 'audit', '--data-dir', app.dataDir, '--follow', '--limit', '5'];
	const following = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
	t.teardown(async () => void following.kill());
	const lines = createInterface({ input: following.stdout })[Symbol.asyncIterator]();
	t.regex((await lines.next()).value, /\tsignUp\t/);
	await ada.upload('/api/upload', [file('a.txt', 'A')]);
	t.regex((await lines.next()).value, /\tupload\t/);
	const exited = once(following, 'exit');
	following.kill('SIGINT');
	t.deepEqual(await exited, [0, null]);
});
