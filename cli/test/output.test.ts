import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, open, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { Client, file, testApp } from '../../packages/core/test/testApp.js';
import { openSqlite } from '../../packages/database/src/connection/sqlite/openSqlite.js';
import { openDatabase } from '../../packages/database/src/index.js';
import { allMigrations } from '../../packages/database/src/migrations/all.js';
import { freePort } from '../../test/freePort.js';
import { dataFolder, onTerminal, program, run, stowage } from './program.js';

/** What a terminal obeys: C1 controls, and characters that turn the direction of a text. */
const obeyed = /[\u0080-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;

const name = 'a\u202Egpj.\u2066exe';

test('commands escape what a terminal would obey in names of files and browsers, also in errors, and JSON keeps their values', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const agent = 'Phone \u009B31m';
	await ada.post('/api/login', { username: 'ada', password: 'correct horse' }, { 'user-agent': agent });
	const uploaded = await ada.upload('/api/upload', [file(name, 'x')]);
	t.is(uploaded.statusCode, 200, uploaded.payload);
	await new Client(app).upload('/api/upload/public', [file(name, 'y')]);
	await app.services.audit.close();
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const escaped = 'a\\u202egpj.\\u2066exe';

	t.regex((await run(['link', 'add', 'ada', name, ...flags])).stdout, /\/api\/temp\//);
	for (const words of [['link', 'list'], ['public', 'list'], ['audit'], ['user', 'show', 'ada']]) {
		for (const json of [[], ['--json']]) {
			const { code, stdout } = await run([...words, ...json, ...flags]);
			t.is(code, 0);
			t.true(stdout.includes(escaped), [...words, ...json].join(' '));
			t.notRegex(stdout, obeyed, [...words, ...json].join(' '));
		}
	}
	t.true(
		JSON.parse((await run(['link', 'list', '--json', ...flags])).stdout).some(
			(link: { path: string }) => link.path === name,
		),
	);
	const sessions = JSON.parse((await run(['user', 'sessions', 'list', 'ada', '--json', ...flags])).stdout);
	t.true(sessions.some(({ userAgent }: { userAgent: string }) => /Phone .*\u009B31m/.test(userAgent)));
	const missing = await onTerminal(['user', 'show', name, ...flags], []);
	t.true(missing.shown.includes(`There is no user ${escaped}`), missing.shown);
	const unknown = await onTerminal(['user', `--${name}`], []);
	t.notRegex(missing.shown + unknown.shown, obeyed);
	t.true(unknown.shown.includes(`--${escaped}`), unknown.shown);
});

test('the files of the audit log contain nothing that a terminal obeys, and their values are exact', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file(name, 'x')]);
	await app.services.audit.close();
	const folder = path.join(app.dataDir, 'audit');
	const texts = await Promise.all((await readdir(folder)).map((each) => readFile(path.join(folder, each), 'utf8')));
	const lines = texts.join('').trim().split('\n');
	t.notRegex(lines.join(''), obeyed);
	t.true(lines.some((line) => JSON.parse(line).path === name));
});

test('a text that the owner of the data folder has put into the database in place of JSON costs no list the other rows, and no command a trace', async (t) => {
	const dataDir = await dataFolder(t);
	const flags = ['--data-dir', dataDir, '--log-level', 'error'];
	for (const each of ['ada', 'bob']) t.is((await run(['user', 'add', each, ...flags], 'correct horse\n')).code, 0);
	const database = await openDatabase(`sqlite:${path.join(dataDir, 'stowage.db')}`);
	const [ada, bob] = [await database.users.find('ada'), await database.users.find('bob')];
	if (ada === undefined || bob === undefined) return t.fail();
	for (const [{ id, generation }, key] of [
		[ada, 'SECRET'],
		[bob, 'ANOTHER'],
	] as const) {
		await database.secondFactors.begin(id, { secret: key, session: 'one', recoveryHashes: ['hash'] });
		await database.secondFactors.enable(id, key, 7, generation);
	}
	await database.close();

	const tables = await openSqlite(path.join(dataDir, 'stowage.db'), allMigrations, Date.now);
	t.teardown(() => tables.destroy());
	const times = { created_at: 1, updated_at: 1, end_time: 1 };
	const counts = { input_bytes: 2, saved_bytes: 0, done: 1, total: 2, attempt: 1, interruptions: 0, turn: 1, epoch: 1 };
	const flagsOff = { is_cancel_requested: 0, is_long: 0, is_ordered: 0 };
	for (const [id, detail] of [
		['1', 'x{'],
		['2', '{"folder":"a"}'],
	] as const)
		await tables('jobs').insert({
			...{ id: id.repeat(32), kind: 'copy', user_id: ada.id, title: 'Copy', input: '{}', detail },
			...{ on_restart: 'continue', status: 'failed', unit: 'bytes', ...times, ...counts, ...flagsOff },
		});
	const listed = await run(['job', 'list', '--all', '--json', ...flags]);
	t.is(listed.code, 0, listed.stderr);
	t.deepEqual(
		JSON.parse(listed.stdout)
			.map(({ detail }: { detail: unknown }) => JSON.stringify(detail))
			.sort(),
		['null', '{"folder":"a"}'],
	);

	for (const secret of ['x{', 'null', '[]', '{"secret":"SECRET","isEnabled":true}']) {
		await tables('credentials').where({ kind: 'totp', user_id: ada.id }).update({ secret });
		const users = await run(['user', 'list', '--json', ...flags]);
		t.is(users.code, 0, users.stderr);
		t.deepEqual(
			JSON.parse(users.stdout).map((user: { hasSecondFactor: boolean }) => user.hasSecondFactor),
			[true, true],
		);
		t.deepEqual(await run(['user', 'show', 'ada', ...flags]), {
			code: 78,
			stdout: '',
			stderr: 'The second factor of this account is damaged in the database: turn it off (stowage user remove-totp).',
		});
	}
	t.like(await run(['user', 'remove-totp', 'ada', ...flags]), { code: 0, stderr: '' });
	t.like(await run(['user', 'show', 'ada', ...flags]), { code: 0, stderr: '' });
});

test('a name with a line feed that the owner of the data folder has put into the database begins no line of a command’s own', async (t) => {
	const dataDir = await dataFolder(t);
	const flags = ['--data-dir', dataDir];
	t.is((await run(['user', 'add', 'ada', ...flags], 'correct horse\n')).code, 0);
	const forged = 'Removed ada with all files.';
	const database = await openDatabase(`sqlite:${path.join(dataDir, 'stowage.db')}`);
	const hostile = `big\n${forged}`;
	const location = `/nowhere\n${forged}`;
	await database.roots.add({ name: hostile, rootId: '1'.repeat(32), driver: 'local', location });
	const eve = await database.users.add({ username: `eve\n${forged}`, secret: 'x' });
	await database.homes.assign(eve.username, '1'.repeat(32));
	await database.close();
	let count = 0;
	// By the program itself, whose end shows the error.
	for (const words of [
		...[['root', 'list'], ['root', 'check'], ['user', 'list', '--usage'], ['user', 'quota', eve.username], ['doctor']],
		...[
			['root', 'remove', `${hostile} `],
			['user', 'show', `${eve.username} `],
			['root', 'set-default', hostile],
		],
	]) {
		const { stdout, stderr } = await stowage([...words, ...flags]);
		const shown = `${stdout}\n${stderr}`;
		t.notRegex(shown, /^Removed ada/m, words.join(' '));
		if (shown.includes(forged)) count++;
	}
	t.true(count >= 6, `${count}`);
});

test('every line of every command goes through the one writer that escapes', async (t) => {
	const folder = path.resolve('cli/src');
	const files = (await readdir(folder, { recursive: true })).filter((each) => each.endsWith('.ts'));
	t.true(files.length > 40);
	// The prompt of a password is a text of our own; the others escape what they show.
	const writers = ['output.ts', 'readPassword.ts', 'prompt.ts', 'Progress.ts'].map((each) => `terminal/${each}`);
	for (const each of files) {
		if (writers.includes(each)) continue;
		t.notRegex(
			await readFile(path.join(folder, each), 'utf8'),
			/console\.|std(out|err)\.write|process\.std(out|err)\b(?!\.on)/,
			each,
		);
	}
});

test('a stored time that is no date does not end the list of all', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	t.is((await ada.upload('/api/upload', [file('a.txt', 'x')])).statusCode, 200);
	const { id } = JSON.parse((await ada.post('/api/shares', { items: [{ path: 'a.txt' }], mode: 'view' })).payload);
	const { shares, users } = app.services.database;
	const owner = (await users.find('ada'))?.id ?? '';
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	for (const expiresAt of [Number.MAX_SAFE_INTEGER, 8.64e15]) {
		await shares.change(id, owner, { expiresAt });
		for (const words of [['list'], ['list', '--json'], ['show', id]]) {
			const { code, stdout, stderr } = await run(['share', ...words, ...flags]);
			t.is(code, 0, stderr);
			t.true(stdout.includes(id));
		}
	}
});

test('a command whose output is a file on a full disk says so in a sentence', async (t) => {
	const words = [program, 'user', 'list', '--json', '--data-dir', await dataFolder(t), '--log-level', 'error'];
	const full = await open('/dev/full', 'w');
	t.teardown(() => full.close());
	const { status, stderr } = spawnSync(process.execPath, words, {
		stdio: ['ignore', full.fd, 'pipe'],
		env: { ...process.env, NODE_OPTIONS: '' },
		encoding: 'utf8',
		timeout: 60_000,
	});
	t.is(stderr, "The output can't be written (ENOSPC), and is not complete.\n");
	t.is(status, 1);
});

test('a server goes on whose log and output are files on a full disk', async (t) => {
	const full = await open('/dev/full', 'w');
	t.teardown(() => full.close());
	const port = await freePort();
	const words = [program, 'serve', '--data-dir', await dataFolder(t), '--port', String(port), '--log-level', 'debug'];
	const server = spawn(process.execPath, words, { stdio: ['ignore', full.fd, full.fd] });
	t.teardown(() => server.kill('SIGKILL'));
	const ended = once(server, 'exit');
	const isReady = async () => (await fetch(`http://127.0.0.1:${port}/api/ready`).catch(() => undefined))?.ok === true;
	while (server.exitCode === null && !(await isReady())) await sleep(100);
	// Each of these is a line of the log.
	for (let n = 0; n < 5; n++) t.is((await fetch(`http://127.0.0.1:${port}/api/jobs`)).status, 401);
	server.kill('SIGTERM');
	t.deepEqual(await ended, [0, null]);
});

/** Runs a command whose reader ends before it has read anything. Resolves to the exit code, or the signal. */
async function readByNobody(...words: string[]): Promise<unknown> {
	const child = spawn(process.execPath, [program, ...words], {
		stdio: ['ignore', 'pipe', 'ignore'],
		env: { ...process.env, NODE_OPTIONS: '' },
	});
	child.stdout.destroy();
	const [code, signal] = await once(child, 'exit');
	return code ?? signal;
}

test('a command whose reader ends goes on with what it changes, and ends with its own code', async (t) => {
	const root = await dataFolder(t);
	await mkdir(path.join(root, 'etc'));
	t.is(await readByNobody('service', 'install', '--root', root), 0);
	await lstat(path.join(root, 'etc/systemd/system/multi-user.target.wants/stowage.service'));
	t.is(await readByNobody('service', 'uninstall', '--root', root), 0);
	await t.throwsAsync(lstat(path.join(root, 'etc/systemd/system/stowage.service')), { code: 'ENOENT' });
	t.is(await readByNobody('service', 'uninstall', '--root', root), 1);
});

test('a command that only lists ends with its reader, as by SIGPIPE', async (t) => {
	t.is(await readByNobody('completion', 'bash'), 141);
	t.is(await readByNobody('config', 'print'), 141);
});

test('a list is whole also for a reader that takes a while over its begin, as a pager does', async (t) => {
	const dataDir = await dataFolder(t);
	const database = await openDatabase(`sqlite:${path.join(dataDir, 'stowage.db')}`);
	const count = 1_500;
	for (let n = 0; n < count; n++) await database.users.add({ username: `user${n}`, secret: 's' });
	await database.close();
	const words = ['user', 'list', '--json', '--data-dir', dataDir, '--log-level', 'error'];
	const child = spawn(process.execPath, [program, ...words], {
		stdio: ['ignore', 'pipe', 'inherit'],
		env: { ...process.env, NODE_OPTIONS: '' },
	});
	const ended = once(child, 'exit');
	let text = '';
	for await (const chunk of child.stdout) {
		if (text === '') await sleep(4_000);
		text += chunk;
	}
	t.is((JSON.parse(text) as unknown[]).length, count);
	t.deepEqual(await ended, [0, null]);
});

test('a server goes on whose output nobody reads', async (t) => {
	const port = await freePort();
	const words = [program, 'serve', '--data-dir', await dataFolder(t), '--port', String(port), '--log-level', 'debug'];
	const server = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
	t.teardown(() => server.kill('SIGKILL'));
	server.stdout.destroy();
	server.stderr.destroy();
	const ended = once(server, 'exit');
	const isReady = async () => (await fetch(`http://127.0.0.1:${port}/api/ready`).catch(() => undefined))?.ok === true;
	while (server.exitCode === null && !(await isReady())) await sleep(100);
	t.is((await fetch(`http://127.0.0.1:${port}/api/jobs`)).status, 401);
	server.kill('SIGTERM');
	t.deepEqual(await ended, [0, null]);
});
