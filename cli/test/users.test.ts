import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { parsePath } from '@stowage/rules';
import test from 'ava';
import { codeAt } from '../../packages/core/test/authenticator.js';
import { Client, file, json, testApp } from '../../packages/core/test/testApp.js';
import { administrator } from '../src/commandLine/administrator.js';
import { dataFolder, onTerminal, run } from './program.js';

test('accounts are shown, renamed, signed out and removed beside a running server', async (t) => {
	const app = await testApp(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const user = (...args: string[]) => run(['user', ...args, ...flags]);
	const ada = await new Client(app).register('ada');
	await new Client(app).register('bob');
	await ada.upload('/api/upload', [file('a.txt', 'four')]);
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1d' }));
	const metadata = `filename ${Buffer.from('big.bin').toString('base64')},type ${Buffer.from('private').toString('base64')}`;
	await ada.call('POST', '/api/uploads', undefined, {
		'tus-resumable': '1.0.0',
		'upload-length': '5000000',
		'upload-metadata': metadata,
	});
	const phone = new Client(app);
	const client = { 'user-agent': 'Phone\u0085[2J' };
	await phone.post('/api/login', { username: 'ada', password: 'correct horse' }, client);

	const shown = JSON.parse((await user('show', 'ada', '--json')).stdout);
	t.like(shown, {
		username: 'ada',
		isDisabled: false,
		settings: { promptBeforeDownload: false, enablePreview: true },
		quota: { bytes: 0, entries: 0, isDefault: { bytes: true, entries: true } },
		used: { bytes: 4, entries: 2 },
	});
	t.regex(shown.sessions[0].userAgent, /^Phone/);
	t.like(shown.links[0], { path: 'a.txt', state: 'good', downloads: 0 });
	t.like(shown.uploads[0], { area: 'private', name: 'big.bin', offset: 0, length: 5000000 });
	t.like(shown, { hasSecondFactor: false, recoveryCodesLeft: 0 });
	const { secret } = json(await ada.post('/api/totp', {}));
	t.is((await ada.post('/api/totp/confirm', { code: codeAt(secret) }, client)).statusCode, 200);
	const text = (await user('show', 'ada')).stdout;
	t.regex(text, /^name\tada\n/);
	t.regex(
		text,
		/^session\t[0-9a-f]{16}\t.*\t127\.0\.0\.1\tPhone.?\\u0085\[2J$/m,
		'control characters of a user agent are escaped',
	);
	t.regex(text, /^two-factor sign-in\ton\nrecovery codes left\t10$/m);
	t.notRegex(text, new RegExp(secret));
	t.regex(
		(await user('list')).stdout,
		/^ada\tenabled\t\S+\ttwo-factor\t\S+Z\t\d+\tno limit\t\S+Z\nbob\tenabled\t\S+\t\t\S+Z\t-\tno limit\t-$/,
	);
	t.like(await user('remove-totp', 'ADA'), { code: 0, stdout: 'Two-factor sign-in of ada is off now.' });
	t.like(await user('remove-totp', 'ada'), { code: 0, stdout: 'Two-factor sign-in of ada was not on.' });
	t.like(await user('remove-totp', 'nobody'), { code: 1, stderr: 'There is no user nobody.' });
	t.like(json(await ada.get('/api/totp')), { isEnabled: false });
	const audited = (await run(['audit', '--action', 'disableTotp', '--json', ...flags])).stdout.split('\n');
	t.is(audited.length, 1);
	t.like(JSON.parse(audited[0] ?? ''), { account: 'ada', outcome: 'ok', ...administrator() });
	t.regex(text, /^upload\tprivate\tbig\.bin\t0\t5000000\t\S+Z$/m);
	t.notRegex(text, new RegExp(token));

	await phone.post('/api/login', { username: 'ada', password: 'correct horse' }, client);
	const [{ id }] = JSON.parse((await user('sessions', 'list', 'ada', '--json')).stdout);
	t.regex((await user('sessions', 'revoke', 'ada')).stderr, /Give the id of a session, or --all/);
	t.like(await user('sessions', 'revoke', 'bob', id), { code: 1, stderr: 'There is no such session.' });
	t.like(await user('sessions', 'revoke', 'ada', id), { code: 0, stdout: 'Ended 1 session.' });
	t.is((await phone.get('/api/sessions')).statusCode, 401);
	t.is((await ada.get('/api/sessions')).statusCode, 200);

	t.like(await user('rename', 'ada', 'bob'), { code: 1, stderr: 'This user name is already taken: bob' });
	t.like(await user('rename', 'ada', 'lovelace'), { code: 0, stdout: 'Renamed ada to lovelace.' });
	t.is((await ada.get('/api/sessions')).statusCode, 401);
	t.is((await new Client(app).get(`/api/temp/${token}`)).payload, 'four');
	const lovelace = new Client(app);
	await lovelace.post('/api/login', { username: 'lovelace', password: 'correct horse' });
	t.is((await lovelace.get('/api/download/a.txt?type=private')).payload, 'four');

	t.like(await user('remove', 'lovelace', '--keep-files', '--delete-files'), { code: 1 });
	t.is(
		(await user('remove', 'lovelace', '--move-files-to', 'bob')).stdout,
		"Removed lovelace. The files are in the private folder 'Files of lovelace' of bob.",
	);
	t.is((await lovelace.get('/api/download/a.txt?type=private')).statusCode, 401);
	t.is(await readFile(path.join(app.filesDir, 'users/bob/Files of lovelace/a.txt'), 'utf8'), 'four');
	const removed = await onTerminal(['user', 'remove', 'bob', ...flags], ['delete\r']);
	t.regex(removed.shown, /What becomes of the files of bob\?[\s\S]*Removed bob with all files\.\s*$/);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users')), ['anonymous']);
	t.deepEqual(JSON.parse((await user('list', '--json')).stdout), []);
});

test('of an account that goes, whose files are not there any more, none are said to stay on disk', async (t) => {
	const app = await testApp(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	for (const name of ['ada', 'bob']) await run(['user', 'add', name, ...flags], 'correct horse\n');
	await rm(path.join(app.filesDir, 'users/ada'), { recursive: true });
	t.like(await run(['user', 'remove', 'ada', '--move-files-to', 'bob', ...flags]), {
		code: 0,
		stdout: 'Removed ada. There were no files left to move.',
	});
});

test('user list shows quota, last sign-in and what homes contained when they were last measured', async (t) => {
	const app = await testApp(t, { '--quotas-user-bytes': '2 MB' });
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error', '--quotas-user-bytes', '2 MB'];
	const list = async (...words: string[]) =>
		JSON.parse((await run(['user', 'list', '--json', ...words, ...flags])).stdout);
	await run(['user', 'add', 'bob', ...flags], 'correct horse\n');
	const before = Date.now();
	const ada = await new Client(app).register('ada');
	// The server measures a home that has a quota.
	await ada.upload('/api/upload', [file('a.txt', 'four')]);
	await run(['user', 'quota', 'bob', '--bytes', '0', '--entries', '7', ...flags]);
	const [first, second] = await list();
	t.like(first, { username: 'ada', quota: { bytes: 2 * 1024 ** 2, entries: 0 }, used: { bytes: 0, entries: 1 } });
	for (const time of [first.lastSignInAt, first.used.measuredAt]) {
		t.regex(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
		t.true(Date.parse(time) >= before);
	}
	t.like(second, {
		username: 'bob',
		lastSignInAt: null,
		quota: { bytes: 0, entries: 7, isDefault: { bytes: false, entries: false } },
	});
	await run(['user', 'sessions', 'revoke', 'ada', '--all', ...flags]);
	await writeFile(path.join(app.filesDir, 'users/bob/b.bin'), Buffer.alloc(3_500_000));
	const [ofAda, ofBob] = await list('--usage');
	t.deepEqual([ofAda.used.bytes, ofBob.used.bytes, ofBob.used.entries], [4, 3_500_000, 2]);
	t.is(ofAda.lastSignInAt, first.lastSignInAt, 'also after the session has ended');

	const time = '\\d{4}-\\d\\d-\\d\\dT\\S+Z';
	const piped = (await run(['user', 'list', ...flags])).stdout;
	t.regex(piped, new RegExp(`^ada\tenabled\t${time}\t\t${time}\t4\t2097152\t${time}\n`));
	t.regex(piped, new RegExp(`\nbob\tenabled\t${time}\t\t-\t3500000\tno limit\t${time}$`));
	const shown = (await run(['user', 'list', ...flags], '', { columns: 120 })).stdout.split('\n');
	t.regex(shown[0] ?? '', /^NAME {2}STATE {4}CREATED +LAST SIGN-IN +USED +QUOTA +MEASURED$/);
	t.regex(
		shown[2] ?? '',
		/^bob {3}enabled {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}- +3\.3 MB {2}no limit {2}\d{4}-\d\d-\d\d \d\d:\d\d$/,
	);

	await app.stop();
	const disk = path.join(await dataFolder(t), 'disk');
	t.is((await run(['root', 'add', 'big', disk, ...flags])).code, 0);
	t.is((await run(['user', 'add', 'aaron', '--root', 'big', ...flags], 'correct horse\n')).code, 0);
	await rename(disk, `${disk}.away`);
	await writeFile(path.join(app.filesDir, 'users/ada/more.txt'), 'more');
	const partly = await run(['user', 'list', '--usage', ...flags]);
	t.is(partly.code, 1);
	t.regex(partly.stderr, /^The home of aaron was not measured: /);
	t.regex(partly.stdout, /^aaron\t.*\t-\t2097152\t-\nada\t.*\t8\t/);
});

test('an account, its quota and the audit log are tables on a terminal, with sizes for people', async (t) => {
	const app = await testApp(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'a'.repeat(2048))]);
	await ada.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1d' });
	await new Client(app).upload('/api/upload/public', [file('v.txt', 'v'.repeat(3072))]);
	await app.services.audit.close();
	const shown = async (...words: string[]) => (await run([...words, ...flags], '', { columns: 200 })).stdout;
	t.is(
		await shown('user', 'quota', 'ada'),
		'QUOTA    USED    LIMIT     SET BY\nbytes    2.0 KB  no limit  default\nentries  2       no limit  default',
	);
	const account = await shown('user', 'show', 'ada');
	t.regex(account, /^ACCOUNT +ada\nname +ada\n/);
	t.regex(account, /\nlast sign-in +\d{4}-\d\d-\d\d \d\d:\d\d\n/);
	t.regex(account, /\n\nQUOTA +USED +LIMIT +SET BY\nbytes +2\.0 KB/);
	t.regex(account, /\n\nSESSION +BEGAN +LAST USED +ADDRESS/);
	t.regex(account, /\n\nLINK +STATE +EXPIRES +DOWNLOADS +PATH\n[\da-f-]{36} +good/);
	const log = (await shown('audit')).split('\n');
	t.regex(log[0] ?? '', /^TIME +USER +ADDRESS +ACTION +OUTCOME +WHAT$/);
	const at = log[0]?.indexOf('ACTION') ?? 0;
	for (const line of log.slice(1)) t.regex(line.slice(at), /^[a-z]/);
	t.true(
		log.some((line) => line.endsWith('private:/a.txt  2.0 KB')),
		log.join('\n'),
	);
	t.regex((await run(['audit', ...flags])).stdout, /\tprivate:\/a\.txt {2}2048 B$/m);
	t.regex(await shown('public', 'list'), /^UPLOADED +SIZE +PATH\n\S+ \S+ +3\.0 KB {2}v\.txt$/);
	t.regex((await run(['public', 'list', ...flags])).stdout, /Z\t3072\tv\.txt$/);
	t.regex(await shown('root', 'list'), /^NAME +DEFAULT +STATE +FREE .*\nlocal +default +ok +[\d.]+ [KMGT]B /);
	t.regex((await run(['root', 'list', ...flags])).stdout, /^local\tdefault\tok\t\d{6,}\t/);
});

test('shells complete commands, their options and choices', async (t) => {
	const [bash, zsh, fish] = await Promise.all(
		['bash', 'zsh', 'fish'].map(async (shell) => (await run(['completion', shell])).stdout),
	);
	t.regex(zsh ?? '', /^#compdef stowage\n/);
	for (const script of [zsh, fish]) t.regex(script ?? '', /\/user\/sessions\/revoke/);
	const script = path.join((await testApp(t)).dataDir, 'completion.bash');
	await writeFile(script, bash ?? '');
	const complete = async (...words: string[]) => {
		const line = `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stowage; echo "\${COMPREPLY[*]}"`;
		const { stdout } = await promisify(execFile)('bash', ['-c', line, script, 'stowage', ...words]);
		return stdout.trim();
	};
	t.is(await complete('user', 'sess'), 'sessions');
	t.is(await complete('user', 'sessions', ''), 'list revoke --help');
	t.is(await complete('--data-dir', '/x', 'user', 'remove', '--k'), '--keep-files');
	t.is(await complete('user', 'mo'), 'move-root');
	t.is(await complete('root', 're'), 'relocate rename remove');
	t.is(await complete('completion', 'f'), 'fish');
	t.is((await run(['completion', 'csh'])).code, 1);
});

test('the help of a command shows examples and exit codes', async (t) => {
	const help = (await run(['user', 'rename', '--help'])).stdout;
	t.regex(help, /Examples:\n {2}\$ stowage user rename ada lovelace\n\nExit codes: 0 done/);
});

test('the help of a command lists its own options, and the settings only when asked', async (t) => {
	const flagsIn = (help: string) => [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag);
	for (const words of [['upload', 'list'], ['serve']]) {
		const short = (await run([...words, '--help'])).stdout;
		t.regex(short, /--settings +with --help: list the settings too/);
		const all = (await run([...words, '--help', '--settings'])).stdout;
		t.is((await run([...words, '--settings', '--help'])).stdout, all);
		t.true(flagsIn(all).length > flagsIn(short).length + 40);
		t.true(flagsIn(all).includes('--database-url'));
		t.regex(all, /Exit codes: /);
		// A wide flag of a setting does not indent the others.
		t.true(/^ {2}--config <file>( +)/m.exec(short)?.[1]?.length !== /^ {2}--config <file>( +)/m.exec(all)?.[1]?.length);
	}
	const list = (await run(['upload', 'list', '--help'])).stdout;
	t.deepEqual(flagsIn(list), [
		...['--config', '--settings', '--user', '--visitors', '--root', '--older-than', '--json', '--help'],
	]);
	t.regex((await run(['upload', 'list', '--datadir', '/x'])).stderr, /Did you mean --data-dir\?/);
});

test('a user who is removed with all files while a disk with some of their trash is away: it says that this is still there', async (t) => {
	const app = await testApp(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const far = path.join(await dataFolder(t), 'far');
	t.is((await run(['root', 'add', 'far', far, ...flags])).code, 0);
	const roots: { name: string; rootId: string }[] = JSON.parse(
		(await run(['root', 'list', '--json', ...flags])).stdout,
	);
	await new Client(app).register('ada');
	const { trash, users } = app.services.database;
	await trash.addMissing([
		{
			...{ id: 'a'.repeat(32), kind: 'item', type: 'file', state: 'kept', deletedAt: 1, deletedBy: 'ada' },
			...{ ownerId: (await users.find('ada'))?.id ?? '', ownerName: 'ada', path: parsePath('a.txt') },
			...{ rootId: roots.find(({ name }) => name === 'far')?.rootId ?? '', size: { bytes: 1, entries: 1 } },
		},
	]);
	await rename(far, `${far}-away`);
	const removed = await run(['user', 'remove', 'ada', '--delete-files', ...flags]);
	t.is(removed.code, 0, removed.stderr);
	t.regex(
		removed.stdout,
		/^Removed ada\. Of the trash 1 item could not be removed yet, .*away: that follows by itself\.$/,
	);
	await new Client(app).register('bob');
	t.is((await run(['user', 'remove', 'bob', '--delete-files', ...flags])).stdout, 'Removed bob with all files.');

	const again = ['user', 'remove', 'ada', '--delete-files', ...flags];
	t.regex((await run(again)).stdout, /^There is no user ada any more: removed\. Of the trash 1 item could not be /);
	await rename(`${far}-away`, far);
	t.is((await run(again)).stdout, 'There is no user ada any more: removed with all files.');
	t.like(await run(again), { code: 1, stdout: '', stderr: 'There is no user ada.' });
});

test('a command that removes a home ends once all of its files are gone from the disk', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	for (let folder = 0; folder < 10; folder++) {
		await mkdir(path.join(home, `${folder}`));
		for (let n = 0; n < 200; n++) await writeFile(path.join(home, `${folder}`, `${n}`), '');
	}
	const removed = await run(['user', 'remove', 'ada', '--delete-files', '--data-dir', app.dataDir]);
	t.is(removed.stdout, 'Removed ada with all files.', removed.stderr);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/trash-in-progress')), []);
});
