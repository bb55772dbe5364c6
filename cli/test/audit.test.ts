import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { Client, file, testApp } from '../../packages/core/test/testApp.js';
import { administrator } from '../src/commandLine/administrator.js';
import { dataFolder, program, run, stowage } from './program.js';

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
	t.regex(all.at(-1)?.[0] ?? '', /^administrator \(.+, uid \d+\)$/);
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

test('what is given to accounts by their names is a line for each of them', async (t) => {
	const app = await testApp(t);
	const { accounts, audit, trashBin } = app.services;
	const ada = await new Client(app).register('ada');
	for (const name of ['a', 'b']) {
		await ada.upload('/api/upload', [file(name, name)]);
		await ada.call('DELETE', '/api/deleteItem', { type: 'private', filePath: name });
	}
	await trashBin.close();
	await accounts.remove('ada', { kind: 'keep' });
	const { id } = await accounts.create('ada', 'correct horse', { adoptsHome: true });
	await audit.close();
	const flags = ['--data-dir', app.dataDir];
	const recovered = await run(['trash', 'recover', '--by-name', ...flags, '--log-level', 'error']);
	t.is(recovered.code, 0, recovered.stderr);
	const { stdout } = await run(['audit', ...flags, '--json', '--action', 'recoverTrash', '--user', id]);
	const line = { action: 'recoverTrash', account: 'ada', accountId: id, detail: 'by name', entries: 2 };
	t.like(JSON.parse(stdout), line);
});

test('audit tells an upload that replaced a file from one that added it', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const parts = [{ name: 'onConflict', value: 'replace' }, file('a.txt', 'A')];
	for (let n = 0; n < 2; n++) await ada.upload('/api/upload', parts);
	await app.services.audit.close();
	const { stdout } = await run(['audit', '--data-dir', app.dataDir, '--action', 'upload']);
	t.deepEqual(
		stdout.split('\n').map((line) => line.split('\t').at(-1)),
		['private:/a.txt  1 B', 'private:/a.txt  (replaced)  1 B'],
	);
});

test('audit shows no name of a file or an account as that of another owner, of another item or of somebody without an account', async (t) => {
	const dataDir = await dataFolder(t);
	const lines = [
		{ user: 'mal', action: 'delete', area: 'private', path: 'taxes of bob' },
		{ user: 'mal', action: 'delete', area: 'shared', path: 'taxes', owner: 'bob' },
		{ user: 'mal', action: 'move', area: 'private', path: 'a  -> public:/b of bob', to: 'c, private:/d' },
		// Blanks and letters that look like others, and what is not seen.
		{ user: 'mal', action: 'delete', area: 'private', path: 'taxes\u00A0of\u00A0bob' },
		{ user: 'mal', action: 'delete', area: 'private', path: 'taxes \u043Ef bob' },
		{ user: 'mal', action: 'delete', area: 'private', path: 'taxes\u3164of\u2800b\u200Dob' },
		{ user: 'mal', job: '2', action: 'jobEnd', kind: 'copy', title: 'Copy x  -> public:/y of bob to z' },
		{ user: 'visitor', action: 'delete', area: 'private', path: 'a' },
		{ user: 'Administrator', job: '1', action: 'jobEnd', kind: 'copy' },
		{ user: null, action: 'openShare', share: '7', owner: 'ada' },
		{ user: 'mal', action: 'purgeTrash', trash: '8' },
		// What a client sent in place of an id or a name.
		{ user: 'mal', action: 'deleteShare', share: '7  private:/taxes of bob  -> public:/a' },
		{ user: 'mal', action: 'revokeLink', link: '7  private:/taxes of bob' },
		{ user: 'mal', action: 'login', account: 'bob  root big' },
	].map((line) => JSON.stringify({ time: '2031-02-03T04:05:06.000Z', outcome: 'ok', ...line }));
	await mkdir(path.join(dataDir, 'audit'), { recursive: true });
	await writeFile(path.join(dataDir, 'audit', '2031-02-03.jsonl'), lines.map((line) => `${line}\n`).join(''));
	const { stdout } = await run(['audit', '--data-dir', dataDir]);
	t.deepEqual(
		stdout.split('\n').map((line) => [line.split('\t')[1], line.split('\t')[5]]),
		[
			['mal', 'private:"/taxes of bob"'],
			['mal', 'shared:/taxes of bob'],
			['mal', 'private:"/a  -> public:/b of bob"  -> private:"/c, private:/d"'],
			['mal', 'private:"/taxes\u00A0of\u00A0bob"'],
			['mal', 'private:"/taxes \u043Ef bob"'],
			['mal', 'private:"/taxes\u3164of\u2800b\u200Dob"'],
			['mal (job)', 'copy: "Copy x  -> public:/y of bob to z"'],
			['account visitor', 'private:/a'],
			['account Administrator (job)', 'copy'],
			['visitor', 'of ada  share 7'],
			['mal', 'trash 8'],
			['mal', 'share "7  private:/taxes of bob  -> public:/a"'],
			['mal', 'link "7  private:/taxes of bob"'],
			['mal', '"bob  root big"'],
		],
	);
});

test('a line of the audit log with parts that are of no kind of Stowage’s is skipped, and ends no command', async (t) => {
	const dataDir = await dataFolder(t);
	const line = { time: '2031-02-03T04:05:06.000Z', action: 'upload', outcome: 'ok', user: 'ada', path: 'a' };
	const odd = [
		...[
			{ paths: 5 },
			{ paths: [{}] },
			{ path: 5 },
			{ path: { a: 1 } },
			{ owner: { toString: 1 } },
			{ user: { toString: 1 } },
		],
		...[
			{ to: null },
			{ requests: '3' },
			{ requests: 3, first: 'x', last: 'y' },
			{ first: { toString: 1 } },
			{ title: 1, kind: 'copy' },
		],
	];
	await mkdir(path.join(dataDir, 'audit'), { recursive: true });
	const lines = [...odd.map((parts) => ({ ...line, ...parts })), { ...line, ofNewer: { a: 1 } }].map((each) =>
		JSON.stringify(each),
	);
	await writeFile(path.join(dataDir, 'audit', '2031-02-03.jsonl'), lines.map((each) => `${each}\n`).join(''));
	for (const words of [[], ['--path', 'a'], ['--user', 'ada'], ['--json']]) {
		const { code, stdout, stderr } = await run(['audit', '--data-dir', dataDir, ...words]);
		t.is(code, 0, stderr);
		t.is(stdout.trim().split('\n').length, 1, stdout);
	}
});

test('audit refuses an invalid option with a sentence, and prints nothing before the first record', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	await app.services.audit.close();
	const flags = ['--data-dir', app.dataDir];
	for (const [words, sentence] of [
		[['--since', 'soon'], /^--since: must be a time, not soon/],
		[['--until', '2031-02-30'], /^--until: must be a time, not 2031-02-30/],
		[['--until', '2031-02-03T24:00'], /^--until: must be a time/],
		[['--since', '2031-02-03T04:05+99:00'], /^--since: must be a time/],
		[['--since', '99999999999999999999d'], /^--since: must be a time/],
		[
			['--since', '2031-02-03T05:00+01:00', '--until', '2031-02-03T04:00Z', '--utc'],
			/^--since \(2031-02-03T04:00:00.000Z\) must be before --until \(2031-02-03T04:00:00.000Z\)/,
		],
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

test('audit shows what it has read where a file ends it that Stowage did not write', async (t) => {
	const dataDir = await dataFolder(t);
	const at = (name: string) => path.join(dataDir, 'audit', name);
	await mkdir(path.join(dataDir, 'audit'));
	const line = { time: '2031-02-03T04:05:06.000Z', action: 'upload', outcome: 'ok', user: 'ada' };
	await writeFile(at('2031-02-03.jsonl'), `${JSON.stringify(line)}\n`);
	await writeFile(at('2031-02-04.jsonl'), '');
	await truncate(at('2031-02-04.jsonl'), 20 * 1024 ** 3);
	for (const words of [[], ['--limit', '5']]) {
		const { code, stdout, stderr } = await run(['audit', '--data-dir', dataDir, ...words]);
		t.is(code, 1);
		t.regex(stdout, /^\S+\tada\t-\tupload/);
		t.regex(
			stderr,
			/^The audit log has more than 64\.0 MB in lines longer than any of Stowage’s, .*2031-02-04\.jsonl\. Move/,
		);
		t.notRegex(stderr, /\n\s+at /);
	}
});

test('audit goes on past what lies in place of a file, and doctor says where that is', async (t) => {
	const dataDir = await dataFolder(t);
	const at = (name: string) => path.join(dataDir, 'audit', name);
	await mkdir(path.join(dataDir, 'audit'), { mode: 0o700 });
	const line = { time: '2031-02-03T04:05:06.000Z', action: 'upload', outcome: 'ok', user: 'ada' };
	await writeFile(at('2031-02-04.jsonl'), `${JSON.stringify(line)}\n`);
	await writeFile(path.join(dataDir, 'elsewhere'), `${JSON.stringify(line)}\n`);
	await symlink(path.join(dataDir, 'elsewhere'), at('2031-02-03.jsonl'));
	await mkdir(at('2031-02-04.security.jsonl'));
	const { code, stdout, stderr } = await run(['audit', '--data-dir', dataDir]);
	t.is(code, 1);
	t.is(stdout.split('\n').length, 1);
	t.regex(stdout, /\tada\t-\tupload/);
	t.regex(stderr, /2031-02-03\.jsonl can't be used: a link lies there in place of a file/);
	t.regex(stderr, /2031-02-04\.security\.jsonl can't be used: a folder lies there/);
	const doctor = await run(['doctor', '--data-dir', dataDir, '--json']);
	const findings = JSON.parse(doctor.stdout) as { what: string; state: string; message: string }[];
	t.like(
		findings.filter(({ what }) => what === 'audit log'),
		[{ state: 'error', message: `${at('2031-02-03.jsonl')} is no file, so what was recorded there is not shown` }],
	);
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

test('audit --follow says at once what lies in place of a file', async (t) => {
	const dataDir = await dataFolder(t);
	await mkdir(path.join(dataDir, 'audit', '2031-02-03.jsonl'), { recursive: true, mode: 0o700 });
	const args = [program, 'audit', '--data-dir', dataDir, '--follow'];
	const following = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'pipe'] });
	t.teardown(async () => void following.kill());
	const lines = createInterface({ input: following.stderr })[Symbol.asyncIterator]();
	t.regex((await lines.next()).value ?? '', /2031-02-03\.jsonl can't be used: a folder lies there/);
	const exited = once(following, 'exit');
	following.kill('SIGINT');
	t.deepEqual(await exited, [0, null]);
});

test('audit --follow prints new records until SIGINT', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await app.services.audit.close();
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

/** What audit prints in a time zone, with a line for each of these times. */
async function printed(t: ExecutionContext, zone: string, times: readonly string[], words: readonly string[]) {
	const dataDir = await dataFolder(t);
	await mkdir(path.join(dataDir, 'audit'));
	for (const time of times) {
		const line = JSON.stringify({ time, action: 'upload', outcome: 'ok', user: 'ada' });
		await appendFile(path.join(dataDir, 'audit', `${time.slice(0, 10)}.jsonl`), `${line}\n`);
	}
	const { stdout, stderr } = await stowage(['audit', '--data-dir', dataDir, ...words], { env: { TZ: zone } });
	return stderr === '' ? stdout.split('\n').map((line) => line.split('\t')[0]) : [stderr];
}

const zones = test.macro(
	async (t, zone: string, times: readonly string[], words: readonly string[], expected: readonly string[]) => {
		t.deepEqual(await printed(t, zone, times, words), expected);
	},
);

const night = [
	'2030-10-26T21:59:59.000Z',
	'2030-10-26T22:00:00.000Z',
	'2030-10-27T00:30:00.000Z',
	'2030-10-27T01:30:00.000Z',
];

test(
	'audit prints and reads local times with their offsets, where clocks are put back the first and the second 02:30 differ',
	zones,
	'Europe/Berlin',
	night,
	['--since', '2030-10-27', '--until', '2030-10-27 02:31'],
	['2030-10-27T00:00:00.000+02:00', '2030-10-27T02:30:00.000+02:00', '2030-10-27T02:30:00.000+01:00'],
);

test(
	'audit reads a time with an offset as that moment in every time zone',
	zones,
	'America/New_York',
	night,
	['--since', '2030-10-27T02:30:00+01:00'],
	['2030-10-26T21:30:00.000-04:00'],
);

test(
	'audit prints and reads UTC with --utc',
	zones,
	'Asia/Kathmandu',
	night,
	['--utc', '--since', '2030-10-27', '--until', '2030-10-27T01:00'],
	['2030-10-27T00:30:00.000Z'],
);

test(
	'audit prints offsets that are no whole hours',
	zones,
	'Asia/Kathmandu',
	night,
	['--since', '2030-10-27T06:15'],
	['2030-10-27T06:15:00.000+05:45', '2030-10-27T07:15:00.000+05:45'],
);

test(
	'audit takes a day whose first hour is skipped from its beginning',
	zones,
	'America/Santiago',
	['2030-09-08T03:59:59.000Z', '2030-09-08T04:00:00.000Z'],
	['--since', '2030-09-08'],
	['2030-09-08T01:00:00.000-03:00'],
);

test(
	'audit says that there is no such time where clocks are put forward',
	zones,
	'Europe/Berlin',
	[],
	['--since', '2031-03-30T02:30'],
	[
		'--since: clocks here (Europe/Berlin) are put forward, and skip 2031-03-30T02:30. Perhaps you mean 2031-03-30T03:30:00.000+02:00.',
	],
);

test('the administrator is who signed in to the machine, then who called sudo, then the user of the process', async (t) => {
	const folder = await dataFolder(t);
	const files = { loginUid: path.join(folder, 'loginuid'), users: path.join(folder, 'passwd') };
	await writeFile(files.users, 'root:x:0:0::/root:/bin/sh\neve:x:1001:1001::/home/eve:/bin/sh\n');
	const nameWith = async (loginUid: string | undefined, env: Record<string, string>) => {
		if (loginUid !== undefined) await writeFile(files.loginUid, loginUid);
		return administrator(env, files).systemUser;
	};
	const unset = '4294967295';
	t.is(await nameWith(undefined, { SUDO_USER: 'bob' }), 'bob');
	t.is(await nameWith(unset, { SUDO_USER: 'bob' }), 'bob');
	t.is(await nameWith(unset, {}), userInfo().username);
	t.is(await nameWith('1001\n', { SUDO_USER: 'bob' }), 'eve');
	t.is(await nameWith('1002', {}), '1002', 'a number without a name');
	t.is(administrator({}, files).uid, process.getuid?.());
});
